"""A plan as Markdown: the answer first, then the tables, for a page or a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.domain.plan import PATHS, Option, Plan
from planner.report.format import Currency, Footnotes, currency_of, legend, spread
from planner.report.overtaking import break_even_texts
from planner.report.safe import markdown_text
from planner.report.sections import View
from planner.report.tables import BATCH_COLUMNS, OPTION_COLUMNS, PATH_NAMES, SLOT_COLUMNS, pick


def render(plan: Plan) -> str:
    """Return the plan as Markdown, ending with a line break."""
    currency, notes = currency_of(plan), Footnotes()
    workload = plan.workload
    title = workload.title or workload.name
    parts = [f"# {markdown_text(title)}"]
    if workload.question:
        parts.append(markdown_text(workload.question))
    parts.append(f"**{markdown_text(plan.verdict.text)}**")
    parts.append(f"As of {plan.as_of}, money in {currency.code}. {markdown_text(currency.note)}".rstrip())
    parts.append("## Best option of each path\n\n" + _options(plan, currency, notes))
    parts.append("## Speed\n\n" + _slots(plan, currency, notes))
    parts += _batch(plan, currency, notes) + _break_even(plan, currency, notes)
    parts += _bullets("What to do", (advice.text for advice in plan.advice))
    parts += _bullets("Warnings", plan.warnings)
    parts += _notes(notes)
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], aligns: str) -> str:
    """Return a Markdown table; `aligns` holds `<` or `>` per column."""
    rule = ["---:" if align == ">" else "---" for align in aligns]
    lines = [head, rule, *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _best(plan: Plan) -> list[Option]:
    return [option for option in (plan.best(path) for path in PATHS) if option is not None]


def _options(plan: Plan, currency: Currency, notes: Footnotes) -> str:
    columns = pick(
        OPTION_COLUMNS,
        "path", "name", "usd_per_month_all_in", "usd_upfront", "usd_per_mtok", "usd_per_task", "feasible",
    )  # fmt: skip
    rows = []
    for option in _best(plan):
        cells = [markdown_text(column.show(option, currency, notes)) for column in columns]
        bounds = spread(option.usd_per_month_all_in, currency.rate)
        cells[2] += f" ({bounds})" if bounds else ""
        rows.append(cells)
    return table([column.title for column in columns], rows, "".join(column.align for column in columns))


def _slots(plan: Plan, currency: Currency, notes: Footnotes) -> str:
    columns = pick(
        SLOT_COLUMNS,
        "mix", "share", "model", "place", "decode_tok_s_per_request", "ttft_s", "task_s", "utilisation",
    )  # fmt: skip
    rows = []
    for option in _best(plan):
        for slot in option.slots:
            cells = [markdown_text(column.show(slot, currency, notes)) for column in columns]
            bounds = spread(slot.decode_tok_s_per_request)
            cells[4] += f" ({bounds})" if bounds else ""
            rows.append([PATH_NAMES[option.path], *cells])
    head = ["Path", *(column.title for column in columns)]
    return table(head, rows, "<" + "".join(column.align for column in columns))


def _batch(plan: Plan, currency: Currency, notes: Footnotes) -> list[str]:
    rows = []
    for option in _best(plan):
        for result in option.batch:
            cells = (markdown_text(column.show(result, currency, notes)) for column in BATCH_COLUMNS)
            rows.append([PATH_NAMES[option.path], *cells])
    head = ["Path", *(column.title for column in BATCH_COLUMNS)]
    aligns = "<" + "".join(column.align for column in BATCH_COLUMNS)
    return ["## Batch jobs\n\n" + table(head, rows, aligns)] if rows else []


def _break_even(plan: Plan, currency: Currency, notes: Footnotes) -> list[str]:
    if not plan.break_even:
        return []
    pairs = break_even_texts(View(plan, currency, notes, 80))
    lines = [f"- **{markdown_text(label)}**: {markdown_text(text)}" for label, text in pairs]
    return ["## When one overtakes the other\n\n" + "\n".join(lines)] if lines else []


def _bullets(title: str, texts: Iterable[str]) -> list[str]:
    lines = [f"- {markdown_text(text)}" for text in texts]
    return [f"## {title}\n\n" + "\n".join(lines)] if lines else []


def _notes(notes: Footnotes) -> list[str]:
    lines = [f"- {markdown_text(line)}" for line in notes.lines()]
    if notes.marks:
        lines.append(f"- Marks: {markdown_text(legend(notes.marks))}.")
    return ["## Notes\n\n" + "\n".join(lines)] if lines else []
