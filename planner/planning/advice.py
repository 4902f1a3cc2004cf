"""What to do next and what to beware of, drawn from the plan's own numbers."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from planner.domain.figures import Basis
from planner.domain.library import Library
from planner.domain.plan import Advice, Option, Verdict
from planner.domain.workload import Workload
from planner.planning.demand import MonthDemand
from planner.planning.token_ways import retirements_of
from planner.planning.verdict import same_weights, usd_a_month

STALE_DAYS = 90
LITTLE_USE = 300
"""Tasks a month below which speed and hardware hardly matter (about ten calls a day)."""


def advice(
    workload: Workload, month: MonthDemand, options: Sequence[Option], verdict: Verdict, library: Library
) -> tuple[Advice, ...]:
    """Return at most a handful of next steps, the weightiest first."""
    out: list[Advice] = []
    chosen = next((option for option in options if option.id == verdict.recommended_option), None)
    if month.basis is Basis.STATED and chosen is not None and chosen.path in ("owned", "mixed"):
        out.append(Advice(id="measure-use", text="The use is stated, not measured: keep it on an API for a month and "
                          "plan again with the measured use before buying."))  # fmt: skip
    if month.things_per_month < LITTLE_USE:
        out.append(Advice(id="little-use", text=f"With {month.things_per_month:,.0f} tasks a month speed and hardware "
                          "hardly matter: the simplest option that works is the right one."))  # fmt: skip
    out += _stand_in(options, chosen)
    out += _batch(workload, month)
    self_run = chosen is not None and chosen.path in ("owned", "mixed", "rented")
    if self_run and not workload.constraints.infrastructure_people:
        out.append(Advice(id="people", text="Nobody runs infrastructure here: machines need somebody's hours every "
                          "month, which the plan prices as an assumption."))  # fmt: skip
    if any(slot.engine for option in options for slot in option.slots) and not _own_probe(library):
        out.append(Advice(id="probe", text="Speeds of machines are estimates: run `planner probe device` on a machine "
                          "like the one you consider, and try a second engine before a second card."))  # fmt: skip
    return tuple(out)


def warnings(workload: Workload, options: Sequence[Option], library: Library, today: datetime.date) -> tuple[str, ...]:
    """Return what makes the plan less certain than it looks: old prices, retirements, unverified speeds."""
    out: dict[str, None] = {}
    shown = [option for option in options if option.feasible != "no"]
    for slot in (slot for option in shown if option.p_wins.known for slot in option.slots if slot.provider):
        for line in _retirement(slot.provider or "", workload, library, today):
            out[line] = None
    stale = sorted({option.usd_per_month_all_in.as_of or "" for option in shown if _is_stale(option, today)})
    if stale:
        out[f"The oldest price or default behind these options is of {stale[0]}: check it before deciding."] = None
    if any(option.feasible == "unverified" for option in shown):
        out["API and managed speeds are not verified, nobody publishes them: run `planner probe endpoint` from where "
            "your people sit."] = None  # fmt: skip
    if workload.money.country.casefold() not in library.tariffs:
        out[f"No tariff or grid carbon is known for country {workload.money.country!r}."] = None
    kind = workload.money.tariff_kind
    if kind == "business" and workload.money.tariff_usd_per_kwh is None:
        out["Electricity is priced at a large-industry tariff without taxes; a small office pays more: "
            "set money.tariff_usd_per_kwh."] = None  # fmt: skip
    return tuple(out)


def _stand_in(options: Sequence[Option], chosen: Option | None) -> list[Advice]:
    if chosen is None or not chosen.usd_per_month_all_in.known:
        return []
    others = [o for o in options if not same_weights(o) and o.feasible != "no" and o.usd_per_month_all_in.known]
    best = min(others, key=lambda option: option.usd_per_month_all_in.number, default=None)
    if best is None:
        return []
    ratio = best.usd_per_month_all_in.number / max(chosen.usd_per_month_all_in.number, 1e-9)
    how = f"{ratio:.1f} times as much as" if ratio >= 1 else f"{1 - ratio:.0%} less than"
    text = (
        f"Other weights, to be tested on your own tasks: {best.name} costs"
        f" {usd_a_month(best)} a month, {how} the recommendation."
    )
    return [Advice(id="stand-in", text=text)]


def _batch(workload: Workload, month: MonthDemand) -> list[Advice]:
    if not workload.batch or month.tasks_per_month:
        return []
    return [Advice(id="batch", text="Nobody waits: compare tokens per hour and cost, not speed per request.")]


def _own_probe(library: Library) -> bool:
    return any(record.kind in ("device", "shape") for record in library.probes)


def _retirement(provider_key: str, workload: Workload, library: Library, today: datetime.date) -> list[str]:
    provider, _, model = provider_key.partition("@")[0].partition("/")
    end = _add_months(today, workload.money.horizon_months).isoformat()
    rows = retirements_of(library, provider, model)
    return [
        f"{provider_key} is announced to end on {row.retirement_date} ({row.source.split(',')[0]})."
        for row in rows
        if row.retirement_date <= end
    ]


def _add_months(day: datetime.date, months: int) -> datetime.date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return datetime.date(year, month + 1, 1)


def _is_stale(option: Option, today: datetime.date) -> bool:
    text = option.usd_per_month_all_in.as_of or ""
    try:
        date = datetime.date.fromisoformat((text + "-01-01")[:10] if len(text) == 4 else (text + "-01")[:10])
    except ValueError:
        return bool(text)
    return (today - date).days > STALE_DAYS
