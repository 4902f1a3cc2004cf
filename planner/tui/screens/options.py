"""Options: every way to do the work, sortable and filterable, with the details of the selected one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import DataTable, Input, Static

from planner.domain.figures import Figure
from planner.domain.plan import PATHS, Option, Path, Plan, Slot
from planner.report.format import DASH, MARKS, Currency, Footnotes, currency_of
from planner.report.tables import OPTION_COLUMNS, PATH_NAMES
from planner.report.tables import Column as ReportColumn
from planner.tui import fmt, safe
from planner.tui.actions import bindings_for
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.option import OptionScreen
from planner.tui.widgets.option_detail import detail
from planner.tui.widgets.search import SearchInput
from planner.tui.widgets.table import ROW_LIMIT, Column, KeyTable, Row

COLUMNS: tuple[Column, ...] = (
    Column("path", "Path", 8),
    Column("name", "Option", 0),
    Column("feasible", "Does it?", 12),
    Column("usd_per_month_all_in", "All-in/mo", 9, 0, "right"),
    Column("usd_upfront", "Up front", 9, 2, "right"),
    Column("usd_per_mtok", "per Mtok", 8, 1, "right"),
    Column("decode", "tok/s", 7, 0, "right"),
    Column("ttft", "TTFT", 7, 3, "right"),
    Column("busy", "Busy", 5, 4, "right"),
    Column("usd_per_month", "Running/mo", 10, 5, "right"),
    Column("p_wins", "P(best)", 7, 6, "right"),
)
_REPORT: dict[str, ReportColumn[Option]] = {column.id: column for column in OPTION_COLUMNS}
_UNKNOWN_LAST = (1, 0.0, "")


class OptionsScreen(PlanScreen):
    """The table of options and the details of the one under the cursor."""

    PLACE = "options"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("options")]
    HELP = (
        "All options the planner kept, best first. s sorts by the next column, S turns the order around, / filters by"
        " words (name, path, model, device, reason), p shows one path, f hides what is ruled out, Enter opens details."
    )

    def __init__(self) -> None:
        super().__init__()
        self.sort_column: str | None = None
        self.descending = False
        self.only_path: Path | None = None
        self.only_feasible = False
        self.words = ""

    def body(self) -> Iterator[Widget]:
        """Yield the line of filters, the table and the details."""
        yield Static("", id="options-state")
        yield SearchInput("filter by words, Enter or Esc closes", id="options-filter")
        with Vertical(id="options-body"):
            yield KeyTable(COLUMNS, id="options-table", least_flex=22)
            with VerticalScroll(id="options-detail", can_focus=False):
                yield Static("", id="options-detail-text")

    def on_mount(self) -> None:
        """Start in the table."""
        self.query_one(KeyTable).focus()

    def show(self, plan: Plan) -> None:
        """Show another plan."""
        self._fill()

    def options(self) -> list[Option]:
        """Return the options that pass the filters, in the shown order."""
        plan = self.planner.plan
        if plan is None:
            return []
        found = [option for option in plan.options if self._passes(option)]
        if self.sort_column is not None:
            column = self.sort_column
            known = [option for option in found if sort_key(column, option) != _UNKNOWN_LAST]
            unknown = [option for option in found if sort_key(column, option) == _UNKNOWN_LAST]
            known.sort(key=lambda option: sort_key(column, option), reverse=self.descending)
            found = known + unknown
        return found

    def _passes(self, option: Option) -> bool:
        if self.only_path is not None and option.path != self.only_path:
            return False
        if self.only_feasible and option.feasible == "no":
            return False
        return all(word in _haystack(option) for word in self.words.casefold().split())

    def _fill(self) -> None:
        plan = self.planner.plan
        if plan is None:
            return
        found, currency = self.options(), currency_of(plan)
        table = self.query_one(KeyTable)
        arrow = "▼" if self.descending else "▲"
        table.titles({c.key: f"{c.title} {arrow}" if c.key == self.sort_column else c.title for c in COLUMNS})
        table.fill([Row(option.id, self._cells(option, plan, currency)) for option in found[:ROW_LIMIT]])
        self.query_one("#options-state", Static).update(safe.content(self._state(len(found), plan), "$muted"))
        self._show_detail()

    def _state(self, count: int, plan: Plan) -> str:
        shown = min(count, ROW_LIMIT)
        parts = [f"{shown} of {len(plan.options)} options shown", f"{plan.considered:,} combinations considered"]
        if self.only_path:
            parts.append(f"path {PATH_NAMES[self.only_path]}")
        if self.only_feasible:
            parts.append("without those ruled out")
        if self.words:
            parts.append(f"with “{self.words}”")
        return " · ".join(parts)

    def _cells(self, option: Option, plan: Plan, currency: Currency) -> tuple[Text, ...]:
        quiet = self._rich("muted") if option.feasible == "no" else ""
        recommended = option.id == plan.verdict.recommended_option
        out = []
        for column in COLUMNS:
            style = quiet
            if column.key == "path":
                style = quiet or self._rich(f"path-{option.path}")
            elif column.key == "feasible":
                style = self._rich(fmt.FEASIBLE_STYLE[option.feasible].lstrip("$"))
            elif column.key == "name" and recommended:
                style = "bold"
            out.append(safe.cell(cell_text(column.key, option, currency), style, column.align))
        return tuple(out)

    def _rich(self, variable: str) -> str:
        return self.app.theme_variables.get(variable, "")

    def selected(self) -> Option | None:
        """Return the option under the cursor."""
        key, plan = self.query_one(KeyTable).selected, self.planner.plan
        return plan.option(key) if plan is not None and key is not None else None

    @on(DataTable.RowHighlighted)
    def _show_detail(self) -> None:
        pane, plan, option = self.query_one("#options-detail"), self.planner.plan, self.selected()
        if not pane.display or plan is None:
            return
        text = detail(plan, option, self.app.size.width - 4) if option else safe.content("No option passes the filter.")
        self.query_one("#options-detail-text", Static).update(text)
        pane.scroll_home(animate=False)

    @on(DataTable.RowSelected)
    def _open(self) -> None:
        plan, option = self.planner.plan, self.selected()
        if plan is not None and option is not None:
            self.app.push_screen(OptionScreen(plan, option))

    def action_filter(self) -> None:
        """Open the filter line."""
        self.query_one(SearchInput).open()

    @on(Input.Changed, "#options-filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.words = event.value
        self._fill()

    @on(SearchInput.Closed)
    def _filter_closed(self) -> None:
        self.query_one(KeyTable).focus()

    def action_next_path(self) -> None:
        """Show the next path only, then all again."""
        order: list[Path | None] = [None, *PATHS]
        self.only_path = order[(order.index(self.only_path) + 1) % len(order)]
        self._fill()

    def action_toggle_feasible(self) -> None:
        """Hide or show what is ruled out."""
        self.only_feasible = not self.only_feasible
        self._fill()

    def action_sort(self) -> None:
        """Sort by the next column; after the last one comes the planner's own order."""
        order: list[str | None] = [None, *(column.key for column in COLUMNS)]
        self.sort_column = order[(order.index(self.sort_column) + 1) % len(order)]
        self._fill()

    def action_reverse(self) -> None:
        """Turn the order around."""
        self.descending = not self.descending
        self._fill()


def cell_text(key: str, option: Option, currency: Currency) -> str:
    """Return one cell of the table as text."""
    if key == "feasible":
        return fmt.FEASIBLE[option.feasible]
    if key in _BY_SLOT:
        slot = _BY_SLOT[key](option)
        return _SLOT_TEXT[key](slot) if slot else DASH
    value = _REPORT[key].get(option)
    if not isinstance(value, Figure):
        return _REPORT[key].show(option, currency, Footnotes())
    return fmt.percent(value) if key == "p_wins" else fmt.money(value, currency)


def _speed(slot: Slot) -> str:
    return f"{fmt.plain(slot.decode_tok_s_per_request)} {MARKS[slot.decode_tok_s_per_request.basis]}"


_BY_SLOT = {"decode": fmt.slowest, "ttft": fmt.slowest_start, "busy": fmt.busiest}
_SLOT_TEXT: dict[str, Callable[[Slot], str]] = {
    "decode": _speed,
    "ttft": lambda slot: fmt.seconds(slot.ttft_s),
    "busy": lambda slot: fmt.percent(slot.utilisation),
}


def sort_key(key: str, option: Option) -> tuple[int, float, str]:
    """Return what a column sorts by: numbers by size, words by letter, unknowns last."""
    if key in _REPORT:
        return _REPORT[key].sort_key(option)
    slot = _BY_SLOT[key](option)
    if slot is None:
        return _UNKNOWN_LAST
    figure = {"decode": slot.decode_tok_s_per_request, "ttft": slot.ttft_s, "busy": slot.utilisation}[key]
    return (0, figure.number, "")


def _haystack(option: Option) -> str:
    words = [option.name, PATH_NAMES[option.path], option.feasible, *option.reasons]
    for slot in option.slots:
        words += [slot.mix, slot.model, slot.hardware or "", slot.engine or "", slot.quant or "", slot.provider or ""]
    return " ".join(words).casefold()
