"""Words and lines of the Answer screen, made from a plan."""

from __future__ import annotations

from itertools import pairwise

from textual.content import Content

from planner.domain.plan import BreakEven, BreakEvenPoint, Curve, Plan
from planner.report.format import currency_of
from planner.report.tables import PATH_NAMES
from planner.tui import fmt, safe
from planner.tui.widgets.chart import Crossing, Series


def series(plan: Plan) -> tuple[Series, ...]:
    """Return the cumulative cost of the best option of each path, as lines of the chart."""
    out = []
    for curve in plan.curves_by_month:
        option = plan.option(curve.option)
        if option is not None and curve.x:
            letter, style = fmt.PATH_LETTER[option.path], fmt.PATH_STYLE[option.path]
            out.append(Series(letter, PATH_NAMES[option.path], style, curve.x, curve.y))
    return tuple(out)


def crossings(plan: Plan) -> tuple[Crossing, ...]:
    """Return the months in which one drawn option overtakes another, as the plan found them."""
    drawn = {curve.option: curve for curve in plan.curves_by_month}
    out = []
    for pair in plan.break_even:
        month = pair.month.value.value if pair.month.status == "reached" and pair.month.value else None
        # A lead from the first day on is no crossing that anybody could see.
        if month is not None and month >= 1 and pair.from_ in drawn and pair.to in drawn:
            height = _height(drawn[pair.to], month)
            if height is not None:
                out.append(Crossing(month, height, f"month {month:.0f}"))
    return tuple(out)


def _height(curve: Curve, x: float) -> float | None:
    points = list(zip(curve.x, curve.y, strict=True))
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1:
            return y0 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return None


def notes(plan: Plan) -> Content:
    """Return what would change the answer, then warnings and advice, one line each, after a line that counts them."""
    counted = ((len(plan.warnings), "! {} warnings"), (len(plan.advice), "{} advice"))
    summary = " · ".join(words.format(count) for count, words in counted if count) or "no warnings"
    parts = [Content.assemble((summary, "$warning"), (f" · as of {plan.as_of} · w shows all", "$muted"))]
    changes = what_changes(plan, reasons=False)
    if changes:
        parts.append(Content.styled("What would change the answer", "bold $primary"))
        parts += [safe.content(f"  {text}") for text in changes]
    if plan.warnings:
        parts.append(Content.styled(f"Warnings ({len(plan.warnings)})", "bold $warning"))
        parts += [safe.content(f"! {safe.line(text)}") for text in plan.warnings]
    if plan.advice:
        parts.append(Content.styled("Advice", "bold $primary"))
        parts += [safe.content(f"  {safe.line(item.text)}") for item in plan.advice]
    parts.append(safe.content("Prices age and estimates err: the details (d) show each figure's range.", "$muted"))
    return Content("\n").join(parts)


def what_changes(plan: Plan, reasons: bool = True) -> list[str]:
    """Return the break-even points as sentences, those of the verdict first; `reasons` says why there is none."""
    out = []
    flips = plan.verdict.flips_at
    if flips.value is not None:
        out.append(f"The answer changes at {fmt.tokens(flips.value)} tokens a month.")
    recommended = plan.verdict.recommended_option
    pairs = sorted(plan.break_even, key=lambda pair: recommended not in (pair.from_, pair.to))
    for pair in pairs:
        out.append(f"{_pair(plan, pair)}: {_point(pair.month, reasons)}; {_volume(pair.tokens_per_month, reasons)}.")
    return out


def _pair(plan: Plan, pair: BreakEven) -> str:
    names = []
    for option_id in (pair.from_, pair.to):
        option = plan.option(option_id)
        names.append(PATH_NAMES[option.path] if option else safe.line(option_id, 30))
    return " → ".join(names)


def _point(point: BreakEvenPoint, reasons: bool) -> str:
    if point.status == "reached" and point.value is not None and point.value.value is not None:
        return f"month {point.value.value:.0f}"
    words = "not within the horizon" if point.status == "not_reached" else "in no month"
    return words + (f" ({safe.line(point.reason, 200)})" if reasons and point.reason else "")


def _volume(point: BreakEvenPoint, reasons: bool) -> str:
    if point.crossings:
        return "crosses at " + ", ".join(fmt.tokens(crossing.value) for crossing in point.crossings) + " tokens a month"
    return "at no volume" + (f" ({safe.line(point.reason, 200)})" if reasons and point.reason else "")


def behind(plan: Plan) -> str:
    """Return the whole background of the answer as plain text."""
    currency = currency_of(plan)
    blocks = [
        ("What would change the answer", what_changes(plan)),
        ("Warnings", [f"! {safe.line(text, 2000)}" for text in plan.warnings]),
        ("Advice", [safe.line(item.text, 2000) for item in plan.advice]),
        ("Work", _work(plan)),
        ("Currency", [currency.note] if currency.note else []),
        ("Made", [f"On {plan.as_of}, from {plan.considered:,} combinations."]),
    ]
    return "\n\n".join("\n".join([title, *(f"  {line}" for line in body)]) for title, body in blocks if body)


def _work(plan: Plan) -> list[str]:
    demand = plan.demand
    rows = (
        ("requests a month", demand.requests_per_month),
        ("model calls a month", demand.model_calls_per_month),
        ("input tokens a month", demand.tokens_per_month.input),
        ("of which may be cached", demand.tokens_per_month.cached_input),
        ("output tokens a month", demand.tokens_per_month.output),
        ("model calls a second at the peak", demand.peak_requests_per_second),
    )
    return [f"{title}: {fmt.full(figure)}" for title, figure in rows]
