"""The sections of the plan as text, each a list of lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.domain.plan import PATHS, Option, Plan, Slot
from planner.domain.workload import Batch, Workload
from planner.report.format import DASH, Currency, Footnotes, big, legend, number, percent, spread
from planner.report.layout import INDENT, bullets, grid_lines, heading, indented, labelled, wrap
from planner.report.safe import clean
from planner.report.tables import BATCH_COLUMNS, PATH_NAMES, SLOT_COLUMNS, pick, slot_place

RULED_OUT_SHOWN = 2
NAME_SHOWN = 60


@dataclass(frozen=True)
class View:
    """What every section needs: the plan, the currency, the footnotes collected so far, the width."""

    plan: Plan
    currency: Currency
    notes: Footnotes
    room: int

    def best(self) -> list[Option]:
        """Return the best option of each path that has one, in the order of the paths."""
        found = (self.plan.best(path) for path in PATHS)
        return [option for option in found if option is not None]


def title(view: View) -> list[str]:
    """Return the name of the workload, its question, the date and the currency."""
    plan, workload = view.plan, view.plan.workload
    about = workload.question or workload.title
    lines = wrap(f"{clean(workload.name, NAME_SHOWN)} · {about}" if about else workload.name, view.room)
    looked_at = f" · {plan.considered:,} combinations looked at" if plan.considered else ""
    lines.append(f"As of {plan.as_of} · {view.currency.code}{looked_at}")
    return lines + (wrap(view.currency.note, view.room) if view.currency.note else [])


def work(view: View) -> list[str]:
    """Return the demand: people, a month's tokens, the peak, targets, models and batch jobs."""
    plan, workload, room = view.plan, view.plan.workload, view.room
    tokens = plan.demand.tokens_per_month
    basis = workload.demand.basis.value
    lines = [heading("The work", f"demand is {basis}", room)]
    if workload.demand.users and workload.demand.requests_per_user_hour:
        lines += labelled("people", _people(workload), room)
    calls = plan.demand.model_calls_per_month
    requests = plan.demand.requests_per_month
    asked = [] if requests.value == 0 else [f"{_count(requests)} requests"]
    if calls.value != requests.value:
        asked.append(f"{_count(calls)} model calls")
    cached = f" ({_count(tokens.cached_input)} repeat and can be cached)" if tokens.cached_input.value else ""
    asked.append(f"{_count(tokens.input)} tokens in{cached}, {_count(tokens.output)} out")
    lines += labelled("a month", ", ".join(asked), room)
    peak = plan.demand.peak_requests_per_second
    if peak.value:
        lines += labelled("peak hour", f"{number(peak.value)} model calls a second", room)
    lines += labelled("targets", _targets(workload), room)
    lines += labelled("models", " · ".join(_part(part.share, part.model) for part in workload.mix), room)
    for job in workload.batch:
        lines += labelled("batch", _job(job), room)
    return lines


def _count(figure: object) -> str:
    value = getattr(figure, "value", None)
    return big(value) if value is not None else f"unknown ({getattr(figure, 'reason', '')})"


def _counted(count: float, noun: str) -> str:
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def _people(workload: Workload) -> str:
    demand = workload.demand
    growth = f", growing {percent(demand.monthly_growth)} a month" if demand.monthly_growth else ""
    return (
        f"{_counted(demand.users, 'user')} × {number(demand.hours_per_day)} h × "
        f"{_counted(demand.days_per_month, 'day')}, "
        f"{_counted(demand.requests_per_user_hour, 'request')} per user-hour, busiest hour "
        f"{number(demand.peak_factor)}× the average{growth}"
    )


def _targets(workload: Workload) -> str:
    decode, ttft = workload.target_decode_tok_s, workload.target_ttft_s
    parts = [f"at least {number(decode)} tok/s per request"] if decode else []
    parts += [f"first token within {number(ttft)} s"] if ttft else []
    return (", ".join(parts) or "nobody waits: cost first") + f" ({workload.use_case.replace('_', ' ')})"


def _part(share: float, model: str) -> str:
    return f"{percent(share)} {clean(model, 60)}"


def _job(job: Batch) -> str:
    return (
        f"{clean(job.name, 60)}: {job.documents:,} documents of {job.input_tokens:,} + "
        f"{job.output_tokens:,} tokens within {number(job.deadline_hours)} h, "
        f"{number(job.runs_per_month)} times a month"
    )


def money(view: View) -> list[str]:
    """Return what the best option of each path costs, with the path named where it has none."""
    terms = view.plan.workload.money
    lines = [heading("What each path costs", "the best option of each path", view.room)]
    best = view.best()
    drawn = any(option.p_wins.known for option in best)
    if best:
        rows = [_money_row(view, option, drawn) for option in best]
        chance = ["Wins"] if drawn else []
        titles = ["Path", "All-in a month", "low–high", "Up front", "per Mtok", *chance, "Feasible"]
        names = [clean(option.name, NAME_SHOWN * 2) for option in best]
        lines += indented(grid_lines(titles, rows, "<" + ">" * (len(titles) - 2) + "<", view.room - len(INDENT), names))
    lines += _paths_without(view)
    remark = f"All-in: up-front money spread over {terms.horizon_months} months, resale taken off."
    if drawn:
        remark += " Wins: how often it is the cheapest when every assumption is drawn from its range."
    if terms.cost_scope == "marginal":
        remark += " The hardware counts as already bought."
    return lines + wrap(remark, view.room, INDENT, INDENT)


def _money_row(view: View, option: Option, drawn: bool) -> list[str]:
    month = option.usd_per_month_all_in
    figures = (month, option.usd_upfront, option.usd_per_mtok.blended)
    first, upfront, mtok = (view.notes.money(figure, view.currency) for figure in figures)
    # Rests on the assumptions by definition, and the remark says so: the mark would only take room.
    wins = [percent(option.p_wins.value) if option.p_wins.value is not None else DASH] if drawn else []
    bounds = spread(month, view.currency.rate)
    return [PATH_NAMES[option.path], first, bounds, upfront, mtok, *wins, option.feasible]


def _paths_without(view: View) -> list[str]:
    """Return the paths that have no option, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for path in PATHS:
        if view.plan.best(path) is None:
            reasons.setdefault(_why_none(view.plan, path), []).append(PATH_NAMES[path])
    texts = (f"{', '.join(paths)}: none. {reason}" for reason, paths in reasons.items())
    return [line for text in texts for line in wrap(text, view.room, INDENT, INDENT * 2)]


def _why_none(plan: Plan, path: str) -> str:
    options = [option for option in plan.options if option.path == path]
    if not options and path == "mixed" and len(plan.workload.mix) == 1:
        return "There is one model only, so nothing to split."
    if not options:
        return "Nothing on offer for these models under these constraints."
    return "; ".join(options[0].reasons[:1]) or ("Not priced." if not options[0].priced else "")


def speed(view: View) -> list[str]:
    """Return how fast each part of the mix is on the best option of each path, and for which parts nobody knows."""
    lines = [heading("How fast it feels", "one request in the peak hour", view.room)]
    titles = ["Path", "Model", "On", "tok/s per request", "TTFT s", "Task s"]
    rows: list[list[str]] = []
    unknown: dict[str, list[str]] = {}
    for option in view.best():
        known = [slot for slot in option.slots if _says_something(slot)]
        for index, slot in enumerate(known):
            rows.append([PATH_NAMES[option.path] if index == 0 else "", *_speed_row(view, slot)])
        for slot in option.slots:
            if slot not in known:
                part = f" ({clean(slot.model, NAME_SHOWN)})" if known else ""
                reason = slot.decode_tok_s_per_request.reason or "unknown"
                unknown.setdefault(reason, []).append(PATH_NAMES[option.path] + part)
    if rows:
        lines += indented(grid_lines(titles, rows, "<<<<>>", view.room - len(INDENT), gap=" "))
    for reason, parts in unknown.items():
        lines += wrap(f"Unknown for {', '.join(dict.fromkeys(parts))}: {reason}", view.room, INDENT, INDENT * 2)
    return lines


def _says_something(slot: Slot) -> bool:
    return any(figure.known for figure in (slot.decode_tok_s_per_request, slot.ttft_s, slot.task_s))


def _speed_row(view: View, slot: Slot) -> list[str]:
    decode, ttft, task = pick(SLOT_COLUMNS, "decode_tok_s_per_request", "ttft_s", "task_s")
    bounds = spread(slot.decode_tok_s_per_request)
    shown = decode.show(slot, view.currency, view.notes)
    other = "" if slot.same_weights else " (other weights)"
    return [
        clean(slot.model, 24) + other,
        clean(_place(slot), 60),
        f"{shown} {bounds}" if bounds else shown,
        ttft.show(slot, view.currency, view.notes),
        task.show(slot, view.currency, view.notes),
    ]


def _place(slot: Slot) -> str:
    """Return devices and quantisation, or who sells the tokens; engine and model stand elsewhere in the text."""
    return slot_place(slot, with_engine=False) if slot.hardware else (slot.provider or slot.served_by).split("/")[0]


def batch(view: View) -> list[str]:
    """Return what each batch job takes on the best option of each path."""
    rows = []
    for option in view.best():
        for result in option.batch:
            cells = [column.show(result, view.currency, view.notes) for column in BATCH_COLUMNS]
            cells[3] = cells[3] or "unknown"
            rows.append([PATH_NAMES[option.path], *cells])
    if not rows:
        return []
    titles = ["Path", *(column.title for column in BATCH_COLUMNS)]
    lines = [heading("Batch jobs", "", view.room)]
    return lines + indented(grid_lines(titles, rows, "<<>><>", view.room - len(INDENT)))


def ruled_out(view: View) -> list[str]:
    """Return some options that don't do it or have no price, each with the reason, and how many more."""
    out = [option for option in view.plan.options if option.feasible == "no" or not option.priced]
    if not out:
        return []
    total = f"{len(out)} option{'s' if len(out) > 1 else ''}, all reasons in --csv"
    lines = [heading("Ruled out", total, view.room)]
    for option in _varied(out)[:RULED_OUT_SHOWN]:
        reason = option.reasons[0] if option.reasons else "not priced"
        reason = reason.removeprefix(f"{option.name}: ")
        lines += wrap(f"{clean(option.name, 40)}: {clean(reason, 110)}", view.room, f"{INDENT}- ")
    return lines


def _varied(options: Iterable[Option]) -> list[Option]:
    """Put the first option of each path and reason first, so that the shown few tell different things."""
    seen: set[tuple[str, ...]] = set()
    first: list[Option] = []
    again: list[Option] = []
    for option in options:
        key = (option.path, *(reason.split(",")[0][:24] for reason in option.reasons[:1]))
        (again if key in seen else first).append(option)
        seen.add(key)
    return first + again


def notes(view: View) -> list[str]:
    """Return the footnotes and the legend of the marks that were used."""
    lines: list[str] = []
    for line in view.notes.lines():
        mark, reason = line.split(" ", 1)
        lines += wrap(reason, view.room, f"{INDENT}{mark} ")
    if view.notes.marks:
        lines += wrap("Marks: " + legend(view.notes.marks), view.room, INDENT, INDENT)
        lines += wrap("low–high: 80 % interval. Mtok: a million tokens, in and out.", view.room, INDENT)
    return lines


def advice(view: View) -> list[str]:
    """Return what to do."""
    if not view.plan.advice:
        return []
    return [heading("What to do", "", view.room), *bullets((a.text for a in view.plan.advice), view.room)]


def warnings(view: View) -> list[str]:
    """Return what to beware of."""
    if not view.plan.warnings:
        return []
    return [heading("Warnings", "", view.room), *bullets(view.plan.warnings, view.room)]


def verdict(view: View) -> list[str]:
    """Return the answer."""
    return [heading("Verdict", "", view.room), *wrap(view.plan.verdict.text, view.room, INDENT, INDENT)]
