"""Enumeration of all options: by the token, on rented and owned machines, and mixed."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Iterable, Sequence

from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.plan import Feasible, Path
from planner.domain.prices import CloudOffer
from planner.domain.workload import Workload
from planner.finance.cashflow import upfront_usd
from planner.finance.costs import Component, Terms
from planner.finance.levels import cost_levels
from planner.planning import candidates
from planner.planning.demand import MonthDemand, PartDemand
from planner.planning.drafts import Draft, by_cost
from planner.planning.machine_costs import Priced, can_price, machine_name, owned, rented, unpriced_reason
from planner.planning.machine_ways import MachineWay, NoWay, machine_way
from planner.planning.token_ways import TokenWay, token_ways

WAYS_COMBINED = 4
"""The cheapest ways of each part that are combined with each other, so that the number of options stays readable."""
NO_DATA_OUT = "the data may not leave: constraints.data_may_leave is false"
LOCAL = "local"
"""The id of this machine, as the workspace adds it."""
NO_RENT = "renting is ruled out: constraints.rented_allowed is false"
Pricer = Callable[[MachineWay], Priced]


class Drafting:
    """Enumerates the options of one workload; holds what all of them share."""

    def __init__(
        self, workload: Workload, library: Library, month: MonthDemand, terms: Terms, today: datetime.date
    ) -> None:
        self.workload, self.library, self.month, self.terms, self.today = workload, library, month, terms, today
        self.considered = 0
        self._ways: dict[tuple[str, int, tuple[str, ...]], MachineWay | NoWay] = {}
        self._offered = {(offer.hardware, offer.count) for offer in library.clouds}
        self.tokens = [token_ways(workload, library, part, today) for part in month.parts]

    def all(self) -> list[Draft]:
        """Return every option worth showing, infeasible ones with the reason."""
        drafts = [*self._by_token(), *self._rented(), *self._owned()]
        return [*drafts, *self._mixed(drafts)]

    # --- by the token

    def _by_token(self) -> Iterable[Draft]:
        for path in ("api", "managed"):
            per_part = [[way for way in ways if way.path == path] for ways in self.tokens]
            if not all(per_part):
                continue
            yield from self._token_combinations(path, per_part)

    def _token_combinations(self, path: Path, per_part: list[list[TokenWay]]) -> Iterable[Draft]:
        seen: set[str] = set()
        same = [[way for way in ways if way.same_weights] for ways in per_part]
        best = [ways[:WAYS_COMBINED] for ways in same]
        providers = {way.price.provider for ways in per_part for way in ways}
        one_provider = [
            [next((way for way in ways if way.price.provider == provider), None) for ways in per_part]
            for provider in sorted(providers)
        ]
        combos: list[Sequence[TokenWay | None]] = [*itertools.product(*best)] if all(best) else []
        combos += [tuple(ways[0] for ways in per_part), *(tuple(combo) for combo in one_provider)]
        if any(not way.same_weights for ways in per_part for way in ways):
            combos.append(tuple(next((w for w in ways if not w.same_weights), None) for ways in per_part))
        for combo in combos:
            ways = tuple(way for way in combo if way is not None)
            if len(ways) != len(per_part):
                continue
            draft = self._token_draft(path, ways)
            if draft.id not in seen:
                seen.add(draft.id)
                yield draft

    def _token_draft(self, path: Path, ways: tuple[TokenWay, ...]) -> Draft:
        self.considered += 1
        keys = list(dict.fromkeys(way.price.key for way in ways))
        unpriced = next((way.unpriced for way in ways if way.unpriced), None)
        allowed = self.workload.constraints.data_may_leave
        reasons: list[str] = [] if allowed else [NO_DATA_OUT]
        too_long = [way.too_long for way in ways if way.too_long]
        reasons += [*too_long, *(note for way in ways for note in way.notes)]
        return self._finish(
            Draft(
                path, f"{path}:{'+'.join(keys)}", " + ".join(keys), tokens=ways, unpriced=unpriced,
                components=tuple(way.component for way in ways),
                feasible="unverified" if allowed and not too_long else "no",
                reasons=tuple(dict.fromkeys(reasons)), same_weights=all(way.same_weights for way in ways),
            )
        )  # fmt: skip

    # --- machines

    def way(self, hardware: Hardware, count: int, parts: Sequence[PartDemand]) -> MachineWay | NoWay:
        """Return how one machine type serves some parts, worked out once."""
        key = (hardware.id, count, tuple(part.part.name for part in parts))
        if key not in self._ways:
            self.considered += 1
            if not self._worth_working_out(hardware, count):
                self._ways[key] = NoWay(hardware, count, unpriced_reason(hardware, count))
                return self._ways[key]
            self._ways[key] = machine_way(self.workload, self.library, self.month, parts, hardware, count)
        return self._ways[key]

    def _worth_working_out(self, hardware: Hardware, count: int) -> bool:
        """Say whether a machine's speed matters: it can be bought or rented, was named, or is this very machine."""
        named = bool(self.workload.constraints.hardware) or hardware.id == LOCAL
        offered = (hardware.id, count) in self._offered
        return named or offered or can_price(self.workload, self.library, hardware, count)

    def _owned(self) -> Iterable[Draft]:
        singles: list[list[Draft]] = [[] for _ in self.month.parts]
        for hardware, count in self._machines():
            yield self._machine_draft("owned", self.way(hardware, count, self.month.parts), self._own)
            for index, part in enumerate(self.month.parts):
                if len(self.month.parts) > 1:
                    single = self._machine_draft("owned", self.way(hardware, count, (part,)), self._own)
                    singles[index].append(single)
        yield from self._separate("owned", singles)

    def _machines(self) -> Iterable[tuple[Hardware, int]]:
        for hardware in candidates.devices(self.workload, self.library):
            for count in candidates.owned_counts(hardware, self.workload.constraints.max_devices):
                yield hardware, count

    def _rented(self) -> Iterable[Draft]:
        singles: list[list[Draft]] = [[] for _ in self.month.parts]
        batch_only = self.month.tasks_per_month == 0
        for offer in candidates.offers(self.workload, self.library, batch_only):
            hardware = self.library.hardware[offer.hardware or ""]
            price = self._renter(offer)
            label = f"{offer.provider} {offer.instance} ({offer.price_type})"
            yield self._machine_draft("rented", self.way(hardware, offer.count, self.month.parts), price, label)
            for index, part in enumerate(self.month.parts):
                if len(self.month.parts) > 1:
                    way = self.way(hardware, offer.count, (part,))
                    singles[index].append(self._machine_draft("rented", way, price, label))
        yield from self._separate("rented", singles)

    def _renter(self, offer: CloudOffer) -> Pricer:
        today = self.today.isoformat()
        return lambda way: rented(self.workload, self.library, offer, way.work, people=True, today=today)

    def _own(self, way: MachineWay) -> Priced:
        today = self.today.isoformat()
        return owned(self.workload, self.library, way.hardware, way.count, way.work, people=True, today=today)

    def _machine_draft(
        self, path: Path, way: MachineWay | NoWay, price: Pricer, label: str = ""
    ) -> Draft:
        machine = machine_name(way.hardware, way.count)
        name = f"{label}: {machine}" if label else machine
        base_id = f"{path}:{label.replace(' ', '-') + '/' if label else ''}{way.count}x{way.hardware.id}"
        if isinstance(way, NoWay):
            return Draft(path, base_id, name, feasible="no", unpriced=way.reason)
        priced: Priced = price(way)
        reasons = [*way.reasons, *priced.notes]
        if path == "rented" and not self._may_rent():
            reasons.insert(0, NO_DATA_OUT if self.workload.constraints.rented_allowed else NO_RENT)
        feasible: Feasible = "yes" if way.feasible and (path != "rented" or self._may_rent()) else "no"
        components = (priced.component,) if priced.component else ()
        draft = Draft(
            path, f"{base_id}/{way.placements[0].setup.engine.id}", name, machines=(way,), components=components,
            kwh_per_month=priced.kwh_per_month, feasible=feasible, reasons=tuple(reasons),
            unpriced=None if priced.component else priced.reason,
        )  # fmt: skip
        return self._within_budget(self._finish(draft))

    def _separate(self, path: Path, singles: list[list[Draft]]) -> Iterable[Draft]:
        """Yield the cheapest machines for each part apart."""
        if len(singles) < 2:
            return
        usable = [[d for d in drafts if d.feasible == "yes" and not d.unpriced] for drafts in singles]
        good = [sorted(drafts, key=by_cost) for drafts in usable]
        for combo in itertools.islice(itertools.product(*(drafts[:2] for drafts in good)), WAYS_COMBINED):
            yield self._joined(path, combo)

    def _joined(self, path: Path, parts: Sequence[Draft]) -> Draft:
        components = [component for draft in parts for component in draft.components]
        once: list[Component] = []
        people_paid = False
        for component in components:
            if component.monthly_fixed and people_paid:
                once.append(dataclasses.replace(component, monthly_fixed=()))
            else:
                once.append(component)
            people_paid = people_paid or bool(component.monthly_fixed)
        kwh = [draft.kwh_per_month for draft in parts if draft.kwh_per_month]
        total = None
        for part in kwh:
            total = part if total is None else total + part
        feasible: Feasible = "unverified" if any(d.feasible == "unverified" for d in parts) else "yes"
        if any(draft.feasible == "no" for draft in parts):
            feasible = "no"
        draft = Draft(
            path, f"{path}:" + "+".join(draft.id.partition(":")[2] for draft in parts),
            " + ".join(draft.name for draft in parts), tokens=tuple(w for d in parts for w in d.tokens),
            machines=tuple(w for d in parts for w in d.machines), components=tuple(once), kwh_per_month=total,
            feasible=feasible, reasons=tuple(dict.fromkeys(r for d in parts for r in d.reasons)),
            same_weights=all(draft.same_weights for draft in parts),
        )  # fmt: skip
        return self._within_budget(self._finish(draft))

    # --- mixed

    def _mixed(self, drafts: Sequence[Draft]) -> Iterable[Draft]:
        """Yield options that run some parts on a machine and buy the others by the token."""
        parts = self.month.parts
        if len(parts) < 2 or not self.workload.constraints.data_may_leave:
            return
        for index, part in enumerate(parts):
            others = [ways for place, ways in enumerate(self.tokens) if place != index]
            bought = [next((way for way in ways if way.buyable), None) for ways in others]
            ways = tuple(way for way in bought if way is not None)
            if len(ways) != len(others):
                continue
            rest = self._token_draft("api", ways)
            own = [draft for draft in self._single_owned(part) if draft.feasible == "yes" and not draft.unpriced]
            for machine in sorted(own, key=by_cost)[:WAYS_COMBINED]:
                yield self._joined("mixed", (machine, rest))

    def _single_owned(self, part: PartDemand) -> Iterable[Draft]:
        for hardware, count in self._machines():
            yield self._machine_draft("owned", self.way(hardware, count, (part,)), self._own)

    # --- shared

    def _finish(self, draft: Draft) -> Draft:
        if draft.unpriced or not draft.components:
            return draft
        return draft.but(levels=cost_levels(draft.components, self.terms))

    def _within_budget(self, draft: Draft) -> Draft:
        budget = self.workload.constraints.budget_usd
        if budget is None or draft.unpriced or not draft.components:
            return draft
        upfront = upfront_usd(draft.components, self.terms).mid
        if upfront <= budget:
            return draft
        reason = f"costs {upfront:,.0f} USD up front, the budget is {budget:,.0f} USD"
        return draft.but(feasible="no", reasons=(reason, *draft.reasons))

    def _may_rent(self) -> bool:
        constraints = self.workload.constraints
        return constraints.rented_allowed and constraints.data_may_leave
