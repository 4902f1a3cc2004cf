"""The words of one option: what serves what, whether it fits, how fast, what it costs month by month."""

from __future__ import annotations

from textual.content import Content

from planner.domain.figures import Figure
from planner.domain.plan import CashFlow, MemoryFigures, Option, Plan, Slot
from planner.report.format import Currency, currency_of, short
from planner.report.tables import PATH_NAMES, slot_place
from planner.tui import fmt, safe

_LABEL = 18


def detail(plan: Plan, option: Option, width: int) -> Content:
    """Return everything about an option for a panel of this width."""
    currency = currency_of(plan)
    parts: list[Content] = [
        Content.assemble(
            (safe.line(option.name), f"bold {fmt.PATH_STYLE[option.path]}"),
            (f"   {PATH_NAMES[option.path]}   ", "$muted"),
            (fmt.FEASIBLE[option.feasible], fmt.FEASIBLE_STYLE[option.feasible]),
        )
    ]
    mark = {"no": "✗", "unverified": "?", "yes": "!"}[option.feasible]
    parts += [safe.content(f"{mark} {safe.line(reason)}") for reason in option.reasons]
    for slot in option.slots:
        parts += ["", *_slot(slot, width)]  # type: ignore[list-item]
    parts += [_heading("Money"), *_money(option, currency)]
    if option.batch:
        parts += [_heading("Night batches"), *_batches(option, currency)]
    if option.cash_flow is not None:
        parts += [_heading("Cash flow"), *_cash(option.cash_flow, currency, width)]
    return Content("\n").join(part if isinstance(part, Content) else Content(part) for part in parts)


def _heading(text: str) -> Content:
    return Content.styled(f"\n{text}", "bold $primary")


def _row(label: str, value: str) -> Content:
    return Content.assemble((f"  {label:<{_LABEL}}", "$muted"), value)


def _figure(label: str, figure: Figure, currency: Currency | None = None) -> Content:
    style = "" if figure.known else "$muted"
    source = f"  {safe.line(figure.source, 60)}" if figure.known and figure.source not in ("none", "") else ""
    return Content.assemble(
        (f"  {label:<{_LABEL}}", "$muted"), (safe.line(fmt.full(figure, currency)), style), (source, "$muted")
    )


def _slot(slot: Slot, width: int) -> list[Content]:
    weights = "same weights" if slot.same_weights else "other weights: another quality of answer"
    title = f"{slot.share:.0%} {safe.line(slot.mix, 40)}: {safe.line(slot.model, 60)}"
    lines = [
        Content.assemble((title, "bold"), (f"   {weights}", "$muted")),
        _row("served by", safe.line(slot_place(slot))),
        _figure("decode/request", slot.decode_tok_s_per_request),
        *([_row("  under", _axes(slot))] if slot.decode_tok_s_per_request.known else []),
        _figure("prefill", slot.prefill_tok_s),
        _figure("TTFT p95", slot.ttft_s),
        _figure("whole task", slot.task_s),
        _figure("requests at once", slot.max_concurrency),
        _utilisation(slot.utilisation),
    ]
    return lines + ([memory_bar(slot.memory_gib, min(width - _LABEL - 4, 50))] if slot.memory_gib else [])


def _utilisation(figure: Figure) -> Content:
    if figure.value is None:
        return _figure("utilisation", figure)
    return _row("utilisation", f"{bar(figure.value, 20)} {fmt.percent(figure)}  {fmt.basis(figure.basis)}")


def _axes(slot: Slot) -> str:
    axes = slot.decode_tok_s_per_request.axes
    parts = [f"context {fmt.tokens(axes.context_tokens)}", f"{axes.concurrency} at once", f"KV {axes.kv_quant}"]
    if axes.engine_build:
        parts.append(f"build {axes.engine_build}")
    if axes.cached_prefix_tokens:
        parts.append(f"{fmt.tokens(axes.cached_prefix_tokens)} cached")
    return safe.line(", ".join(parts))


def bar(share: float, width: int) -> str:
    """Return a bar of blocks for a share from 0 to 1, with a visible end."""
    full = round(min(max(share, 0), 1) * width)
    return "█" * full + "░" * (width - full)


def memory_bar(memory: MemoryFigures, width: int) -> Content:
    """Return a bar of weights, KV cache, overhead and what is left, with GiB in words."""
    named = (("W", "weights", memory.weights), ("K", "KV cache", memory.kv), ("o", "overhead", memory.overhead))
    if not memory.available.known or not all(figure.known for _, _, figure in named):
        return _row("memory", "not known")
    available = memory.available.number
    used = sum(figure.number for _, _, figure in named)
    scale = width / max(available, used, 1e-9)
    styles = ("$path-api", "$path-owned", "$muted")
    cells = [(letter * round(figure.number * scale), style) for (letter, _, figure), style in
             zip(named, styles, strict=True)]  # fmt: skip
    drawn = sum(len(text) for text, _ in cells)
    words = ", ".join(f"{letter} {name} {short(figure.number)}" for letter, name, figure in named)
    over = f"✗ {short(used - available)} too much" if used > available else f"{short(available - used)} left"
    return Content.assemble(
        (f"  {'memory':<{_LABEL}}", "$muted"), *cells, ("·" * max(width - drawn, 0), "$muted"),
        (f"\n  {'':<{_LABEL}}{words} GiB\n  {'':<{_LABEL}}{over} of {short(available)} GiB", ""),
    )  # fmt: skip


def _money(option: Option, currency: Currency) -> list[Content]:
    rows: tuple[tuple[str, Figure, bool], ...] = (
        ("up front", option.usd_upfront, True),
        ("running a month", option.usd_per_month, True),
        ("all-in a month", option.usd_per_month_all_in, True),
        ("per Mtok", option.usd_per_mtok.blended, True),
        ("  input", option.usd_per_mtok.input, True),
        ("  output", option.usd_per_mtok.output, True),
        ("per task", option.usd_per_task, True),
        ("present value", option.usd_npv, True),
        ("payback", option.payback_months, False),
    )
    return [_figure(label, figure, currency if is_money else None) for label, figure, is_money in rows]


def _batches(option: Option, currency: Currency) -> list[Content]:
    out = []
    for job in option.batch:
        in_time = {True: "✓ in time", False: "✗ too late", None: "? not known"}[job.meets_deadline]
        speed = f"{fmt.tokens(job.tokens_per_hour.value)} tokens/h, {fmt.plain(job.finish_hours)} h" \
            if job.tokens_per_hour.value is not None else fmt.full(job.tokens_per_hour)  # fmt: skip
        cost = fmt.money(job.usd, currency)
        out.append(_row(safe.line(job.name, _LABEL), f"{in_time}   {safe.line(speed)}   {cost} a run"))
    return out


def _cash(flow: CashFlow, currency: Currency, width: int) -> list[Content]:
    """Return the rows by month: month 0, then as many evenly spaced months as fit, and the sum of all."""
    room = max((width - 24 - 12) // 10, 2)
    months = [month for month in flow.months if month in (0, 1)]
    later = [month for month in flow.months if month > 1]
    step = max(-(-len(later) // max(room - len(months), 1)), 1)
    months += [month for month in later if (month - 1) % step == 0 or month == later[-1]]
    months = months[: room - 1] + months[-1:] if len(months) > room else months
    at = [flow.months.index(month) for month in months]
    head = "".join(f"{month:>10}" for month in months)
    out = [Content.styled(f"  {'month':<22}{head}{'all':>12}", "$muted")]
    labels, legend = _cash_labels([row.name for row in flow.rows])
    for label, row in zip(labels, flow.rows, strict=True):
        out.append(Content(_cash_line(label, row.values, at, currency)))
    out += [Content.styled(f"  {safe.line(text, max(width - 4, 20))}", "$muted") for text in legend]
    return [*out, Content.styled(_cash_line("total", flow.total, at, currency), "bold")]


def _cash_labels(names: list[str]) -> tuple[list[str], list[str]]:
    """Return short labels and what their letters mean: rows of several machines start with the machine's name."""
    machines = list(dict.fromkeys(name.rpartition(": ")[0] for name in names if ": " in name))
    if len(machines) < 2:
        return names, []
    letters = {machine: chr(ord("a") + place) for place, machine in enumerate(machines)}
    labels = []
    for name in names:
        machine, _, row = name.rpartition(": ")
        labels.append(f"{letters[machine]} {row}" if machine in letters else name)
    return labels, [f"{letter} = {machine}" for machine, letter in letters.items()]


def _cash_line(name: str, values: tuple[float, ...], at: list[int], currency: Currency) -> str:
    cells = "".join(f"{_amount(values[index], currency):>10}" for index in at)
    return f"  {safe.line(name, 22):<22}{cells}{_amount(sum(values), currency):>12}"


def _amount(value: float, currency: Currency) -> str:
    return f"{value * currency.rate:,.0f}" if value else "·"
