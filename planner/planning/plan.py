"""The one evaluation: a workload and a library in, a frozen plan out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from planner.domain.figures import Basis, Figure
from planner.domain.library import Library
from planner.domain.plan import Option, Plan
from planner.domain.workload import Workload
from planner.finance.cashflow import total_cases
from planner.finance.costs import Terms
from planner.planning import compare
from planner.planning.advice import advice, warnings
from planner.planning.demand import month_demand, summary
from planner.planning.drafting import LOCAL, Drafting
from planner.planning.drafts import Draft, by_cost
from planner.planning.explain import explanations
from planner.planning.machine_costs import residual
from planner.planning.verdict import verdict
from planner.planning.writing import Writing
from planner.planning.written import option

MOST_PER_PATH = 12
"""Options of one path that are written out, feasible ones first."""
RULED_OUT_PER_PATH = 12
"""Infeasible and unpriced options of a path that are listed with their reason."""


def plan(workload: Workload, library: Library, today: datetime.date) -> Plan:
    """Return the whole answer to a workload.

    Raises InputError for an unknown id in the workload, with the nearest known one.
    """
    month = month_demand(workload)
    terms = _terms(workload, library, today)
    drafting = Drafting(workload, library, month, terms, today)
    drafts = drafting.all()
    own = frozenset((LOCAL, *(device.id for device in workload.profiles.hardware)))
    reference = _reference(drafts)
    flow = total_cases(reference.components, terms) if reference else None
    writing = Writing(workload, library, month, terms, today, flow, reference.id if reference else None)
    written = [(draft, option(writing, draft)) for draft in _worth_showing(drafts, own)]
    best = compare.best_drafts(written)
    options = _ordered(_with_chances(written, compare.chances(best, terms), today))
    points = compare.break_evens(best, workload, month, terms)
    answer = verdict(options, points, month.tokens_per_month)
    return Plan(
        as_of=today.isoformat(), currency=workload.money.currency, fx=workload.money.fx, workload=workload,
        demand=summary(month, workload.as_of or today.isoformat()), options=tuple(options), break_even=points,
        curves_by_month=compare.curves_by_month(best, terms),
        curves_by_volume=compare.curves_by_volume(best, month, terms),
        advice=advice(workload, month, options, answer, library),
        verdict=answer, warnings=warnings(workload, options, library, today),
        explanations=explanations(writing, best, options, answer), considered=drafting.considered,
    )  # fmt: skip


def _terms(workload: Workload, library: Library, today: datetime.date) -> Terms:
    money = workload.money
    worth = residual(workload, library, today.isoformat())
    typed = money.residual_fraction is not None
    return Terms(
        horizon_months=money.horizon_months, discount_rate_per_year=money.discount_rate_per_year,
        monthly_growth=workload.demand.monthly_growth, life_months=money.life_months,
        residual_fraction=worth.range, residual_at_month=None if typed else 36, cost_scope=money.cost_scope,
        api_price_change_per_year=money.api_price_change_per_year,
    )  # fmt: skip


def _reference(drafts: Sequence[Draft]) -> Draft | None:
    usable = [draft for draft in drafts if draft.components and not draft.unpriced and draft.feasible != "no"]
    tokens = [draft for draft in usable if draft.path in ("api", "managed")]
    same = [draft for draft in tokens if draft.same_weights] or tokens
    return min(same, key=by_cost, default=None)


def _worth_showing(drafts: Sequence[Draft], own: frozenset[str]) -> list[Draft]:
    """Return the cheapest options of each path and, of those ruled out, one a machine or provider with its reason."""
    out: list[Draft] = []
    for path in ("api", "managed", "rented", "owned", "mixed"):
        mine = [draft for draft in drafts if draft.path == path]
        good = sorted((d for d in mine if d.feasible != "no" and not d.unpriced), key=by_cost)
        other_weights = [draft for draft in good if not draft.same_weights]
        same = [draft for draft in good if draft.same_weights]
        chosen = same[: MOST_PER_PATH - 2] + other_weights[:2]
        bad = sorted((d for d in mine if d.feasible == "no" or d.unpriced), key=lambda d: (d.cost, d.id))
        out += chosen + _one_each(bad)[:RULED_OUT_PER_PATH]
    shown = {draft.id for draft in out}
    # What the person described, and this very machine, is answered whatever else is cheaper.
    return out + [d for d in drafts if d.id not in shown and any(m.hardware.id in own for m in d.machines)]


def _one_each(drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each device, so that the list of what does not do stays varied."""
    seen: dict[str, Draft] = {}
    for draft in drafts:
        device = "+".join(machine.hardware.id for machine in draft.machines) or draft.name
        seen.setdefault(device, draft)
    return list(seen.values())


def _with_chances(
    written: Sequence[tuple[Draft, Option]], chances: dict[str, float], today: datetime.date
) -> list[Option]:
    source = "share of seeded draws over all ranges in which this is the cheapest of the paths' best options"
    out = []
    for draft, found in written:
        share = chances.get(draft.id)
        if share is not None:
            figure = Figure(
                value=share, low=share, high=share, unit="probability", basis=Basis.ASSUMED, source=source,
                as_of=today.isoformat(),
            )  # fmt: skip
            out.append(found.model_copy(update={"p_wins": figure}))
        else:
            out.append(found)
    return out


def _ordered(options: Sequence[Option]) -> list[Option]:
    rank = {"yes": 0, "unverified": 0, "no": 2}

    def key(found: Option) -> tuple[int, float, str]:
        place = rank[found.feasible] if found.priced else 1 + rank[found.feasible]
        cost = found.usd_per_month_all_in.value
        return (place, float("inf") if cost is None else cost, found.id)

    return sorted(options, key=key)
