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
        out.append(Advice(id="measure-use", text="The use is stated, not measured: run a month of it on "
                          f"{_where(workload)} and plan again with the measured use before buying."))  # fmt: skip
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


def _growth(workload: Workload, options: Sequence[Option]) -> list[str]:
    """Return what growth does to the ranking: all-in costs are at today's volume, present values are not."""
    growth, months = workload.demand.monthly_growth, workload.money.horizon_months
    drawn = [option for option in options if option.p_wins.known and option.usd_npv.known]
    if not growth or not drawn:
        return []
    now = min(drawn, key=lambda option: option.usd_per_month_all_in.number)
    later = min(drawn, key=lambda option: option.usd_npv.number)
    text = f"All-in costs are at today's volume. With {growth:+.1%} a month over {months} months the present value is"
    if now.id == later.id:
        return [f"{text} lowest for the same option: {now.name} (${now.usd_npv.number:,.0f})."]
    against = f"${later.usd_npv.number:,.0f} against ${now.usd_npv.number:,.0f} for {now.name}"
    return [f"{text} lowest for {later.name}: {against}."]


def _narrow(workload: Workload, options: Sequence[Option]) -> list[str]:
    """Return which of the best options may miss a target inside their own interval."""
    out = []
    for option in options:
        for slot in option.slots if option.p_wins.known else ():
            decode, first = slot.decode_tok_s_per_request, slot.ttft_s
            slow = workload.target_decode_tok_s and decode.known and decode.range[0] < workload.target_decode_tok_s
            late = workload.target_ttft_s and first.known and first.range[2] > workload.target_ttft_s
            if slow or late:
                what = " and ".join(["decode"] * bool(slow) + ["first token"] * bool(late))
                out.append(f"{option.name}: {what} of {slot.model} may miss the target: its interval reaches past it.")
    return out


def _where(workload: Workload) -> str:
    return "an API" if workload.constraints.data_may_leave else "a machine you have or can borrow"


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
    for line in (*_growth(workload, shown), *_narrow(workload, shown)):
        out[line] = None
    kind = workload.money.tariff_kind
    if kind == "business" and workload.money.tariff_usd_per_kwh is None:
        out["Electricity is priced at a large-industry tariff without taxes; a small office pays more: "
            "set money.tariff_usd_per_kwh."] = None  # fmt: skip
    return tuple(out)


def _stand_in(options: Sequence[Option], chosen: Option | None) -> list[Advice]:
    if chosen is None or not chosen.usd_per_month_all_in.known:
        return []
    if not same_weights(chosen):
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
