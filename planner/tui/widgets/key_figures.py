"""The answer in a few lines, beside the form."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from planner.domain.plan import PATHS, Option, Plan
from planner.report.format import DASH, MARKS, Currency, currency_of
from planner.report.tables import PATH_NAMES
from planner.tui import fmt, safe


class KeyFigures(Static):
    """Verdict, demand, and the best option of each path in one line."""

    def show(self, plan: Plan, busy: str, wide: bool) -> None:
        """Show a plan; `busy` says why it may be old."""
        self.update(_wide(plan, busy) if wide else _narrow(plan, busy))


def _state(busy: str) -> Content:
    return Content.styled(f"◌ {safe.line(busy)}", "bold $warning") if busy else Content.styled("✓ up to date", "$yes")


def _wide(plan: Plan, busy: str) -> Content:
    currency = currency_of(plan)
    lines = [_state(busy), Content(""), safe.content(plan.verdict.text, "bold"), Content("")]
    for path in PATHS:
        lines += [_path(plan, path, currency), Content("")]
    demand = plan.demand
    pairs = (
        ("requests/month", demand.requests_per_month),
        ("input tokens", demand.tokens_per_month.input),
        ("output tokens", demand.tokens_per_month.output),
    )
    for title, figure in pairs:
        value = DASH if figure.value is None else fmt.tokens(figure.value)
        lines.append(Content.assemble((f"{title:<16}", "$muted"), value))
    return Content("\n").join(lines)


def _path(plan: Plan, path: str, currency: Currency) -> Content:
    option = fmt.standing_for(plan, path)  # type: ignore[arg-type]
    head = (f"{PATH_NAMES[path]:<8}", f"bold $path-{path}")
    if option is None:
        return Content.assemble(head, (DASH, "$muted"))
    mark = fmt.FEASIBLE[option.feasible][0]
    return Content.assemble(
        head, (f"{mark} ", fmt.FEASIBLE_STYLE[option.feasible]),
        f"{fmt.money(option.usd_per_month_all_in, currency)}/mo  {_speed(option)}",
    )  # fmt: skip


def _speed(option: Option) -> str:
    slot = fmt.slowest(option)
    if slot is None:
        return ""
    speed = slot.decode_tok_s_per_request
    return f"{fmt.plain(speed)} tok/s {MARKS[speed.basis]}"


def _narrow(plan: Plan, busy: str) -> Content:
    currency = currency_of(plan)
    parts: list[Content] = []
    for path in PATHS:
        option = fmt.standing_for(plan, path)
        amount = DASH
        if option is not None:
            amount = f"{fmt.FEASIBLE[option.feasible][0]}{fmt.money(option.usd_per_month_all_in, currency)}"
        parts += [Content.styled(f"{PATH_NAMES[path]} ", f"$path-{path}"), Content(f"{amount}  ")]
    verdict = safe.content(plan.verdict.text, "bold")
    if busy:
        verdict = Content.assemble(_state(busy), "  ", verdict)
    return Content("\n").join([Content.assemble(("all-in/mo: ", "$muted"), *parts), verdict])
