"""The four paths and the mixed one side by side: one column a path, one row a figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable

from planner.domain.plan import PATHS, Option, Path, Plan
from planner.report.format import DASH, Currency, currency_of
from planner.report.tables import PATH_NAMES
from planner.tui import fmt, safe
from planner.tui.actions import TABLE, bindings_for

_LABEL_WIDTH = 11


@dataclass(frozen=True)
class Line:
    """One row of the comparison."""

    title: str
    get: Callable[[Option, Currency], str]


def _decode(option: Option, _: Currency) -> str:
    slot = fmt.slowest(option)
    return f"{fmt.plain(slot.decode_tok_s_per_request)} tok/s" if slot else DASH


def _decode_basis(option: Option, _: Currency) -> str:
    slot = fmt.slowest(option)
    return fmt.basis(slot.decode_tok_s_per_request.basis) if slot else "not known"


def _ttft(option: Option, _: Currency) -> str:
    slot = fmt.slowest_start(option)
    return fmt.seconds(slot.ttft_s) if slot else DASH


LINES: tuple[Line, ...] = (
    Line("does it?", lambda option, _: fmt.FEASIBLE[option.feasible]),
    Line("all-in/mo", lambda option, currency: fmt.money(option.usd_per_month_all_in, currency)),
    Line("running/mo", lambda option, currency: fmt.money(option.usd_per_month, currency)),
    Line("up front", lambda option, currency: fmt.money(option.usd_upfront, currency)),
    Line("per Mtok", lambda option, currency: fmt.money(option.usd_per_mtok.blended, currency)),
    Line("decode", _decode),
    Line("  basis", _decode_basis),
    Line("TTFT p95", _ttft),
)
"""All-in = up-front money spread over the horizon; decode = the slowest part of the mix, per request."""
_SHORT_LINES = tuple(line for line in LINES if line.title != "running/mo")


class PathTable(DataTable[Text]):
    """A column cursor moves over the paths; Enter opens the option."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for(TABLE),
        Binding("l", "cursor_right", "Right", show=False, tooltip="Move to the next path."),
    ]
    HELP = (
        "All-in a month spreads up-front money over the horizon. Decode is the slowest part of the mix, for one"
        " request at the peak hour. Marks: ✓ possible, ✗ ruled out, ? speed not verified."
    )

    class Opened(Message):
        """Enter was pressed on a path."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="column", zebra_stripes=False, cell_padding=0)
        self._tall = 0
        self._plan: Plan | None = None
        self._laid_out_for = -1

    @property
    def path(self) -> Path:
        """Return the path under the cursor."""
        return PATHS[min(max(self.cursor_column - 1, 0), len(PATHS) - 1)]

    def show(self, plan: Plan) -> None:
        """Show the best option of each path; the cursor starts on the recommended one."""
        first = self._plan is None
        self._plan = plan
        self._lay_out()
        if first and plan.verdict.path in PATHS:
            self.move_cursor(column=PATHS.index(plan.verdict.path) + 1, animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out again for another width."""
        if event.size.width != self._laid_out_for:
            self._lay_out()

    def action_cursor_left(self) -> None:
        """Move left, but not onto the column of labels."""
        if self.cursor_column > 1:
            super().action_cursor_left()

    def _page(self) -> Widget:
        return self.parent if isinstance(self.parent, Widget) else self

    def action_cursor_down(self) -> None:
        """Scroll the page: the columns have nothing below."""
        self._page().scroll_relative(y=2, animate=False)

    def action_cursor_up(self) -> None:
        """Scroll the page up."""
        self._page().scroll_relative(y=-2, animate=False)

    def action_page_down(self) -> None:
        """Scroll the page by its height."""
        self._page().scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        """Scroll the page up by its height."""
        self._page().scroll_page_up(animate=False)

    def action_scroll_top(self) -> None:
        """Scroll to the top of the page."""
        self._page().scroll_home(animate=False)

    def action_scroll_bottom(self) -> None:
        """Scroll to the end of the page."""
        self._page().scroll_end(animate=False)

    def action_select_cursor(self) -> None:
        """Open the option under the cursor."""
        self.post_message(self.Opened())

    def copy_text(self) -> str:
        """Return the figures of the path under the cursor as lines."""
        option = fmt.standing_for(self._plan, self.path) if self._plan else None
        if option is None or self._plan is None:
            return ""
        currency = currency_of(self._plan)
        lines = [f"{PATH_NAMES[self.path]}: {safe.line(option.name)}"]
        return "\n".join([*lines, *(f"{line.title.strip()}: {line.get(option, currency)}" for line in LINES)])

    def _lay_out(self) -> None:
        plan = self._plan
        if plan is None or not self.size.width:
            return
        self._laid_out_for = self.size.width
        column = self.cursor_column
        width = min((self.size.width - _LABEL_WIDTH) // len(PATHS), 26)
        options = [fmt.standing_for(plan, path) for path in PATHS]
        self.clear(columns=True)
        self.add_column("", width=_LABEL_WIDTH)
        for path in PATHS:
            self.add_column(Text(f" {fmt.PATH_LETTER[path]} {PATH_NAMES[path]}"), width=width, key=path)
        self._add_names(plan, options, width)
        currency = currency_of(plan)
        for line in LINES if self.app.size.height >= 30 else _SHORT_LINES:
            cells = [self._cell(line, option, currency) for option in options]
            self.add_row(safe.cell(line.title, self._rich("muted")), *cells)
        self.move_cursor(column=max(column, 1), animate=False)
        self.styles.height = self.row_count + self._tall + 1

    def _add_names(self, plan: Plan, options: list[Option | None], width: int) -> None:
        """Write the options' names over as many lines as they need, at most three."""
        names = [Text(safe.line(option.name) if option else "no option", justify="left") for option in options]
        tall = max(len(safe_wrap(name.plain, width - 2)) for name in names)
        self._tall = min(tall, 2 if self.app.size.height < 30 else 3) - 1
        for name, option in zip(names, options, strict=True):
            recommended = option is not None and option.id == plan.verdict.recommended_option
            name.stylize("bold" if recommended else self._rich("muted"))
        cells = [_cut(name, width - 2, self._tall + 1) for name in names]
        self.add_row(safe.cell("best option", self._rich("muted")), *cells, height=self._tall + 1)

    def _cell(self, line: Line, option: Option | None, currency: Currency) -> Text:
        if option is None:
            return _spaced(DASH)
        style = ""
        if line.title == "does it?":
            style = self._rich(fmt.FEASIBLE_STYLE[option.feasible].lstrip("$"))
        elif option.feasible == "no":
            style = self._rich("muted")
        return _spaced(line.get(option, currency), style)

    def _rich(self, variable: str) -> str:
        return self.app.theme_variables.get(variable, "")


def _spaced(text: str, style: str = "") -> Text:
    """Return a cell with one space before it: columns of 13 then hold the longest word at 80 columns."""
    return Text(f" {safe.line(text)}", style=style, no_wrap=True, overflow="ellipsis", end="")


def safe_wrap(text: str, width: int) -> list[str]:
    """Return a text cut into lines of at most `width` characters, at spaces where possible."""
    lines: list[str] = []
    current = ""
    for whole in text.split():
        word = whole
        joined = f"{current} {word}".strip()
        if len(joined) <= width:
            current = joined
            continue
        if current:
            lines.append(current)
        while len(word) > width:
            lines.append(word[:width])
            word = word[width:]
        current = word
    return [*lines, current] if current or not lines else lines


def _cut(name: Text, width: int, lines: int) -> Text:
    wrapped = safe_wrap(name.plain, width)
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: width - 1] + "…"]
    return Text("\n".join(f" {part}" for part in wrapped), style=name.spans[0].style if name.spans else "")
