"""Answer: the verdict, the paths side by side, and when buying pays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from planner.domain.plan import Plan
from planner.report.format import currency_of
from planner.report.tables import PATH_NAMES
from planner.tui import answer_texts, fmt, safe
from planner.tui.actions import bindings_for
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.dialogs import TextDialog
from planner.tui.screens.option import OptionScreen
from planner.tui.widgets.chart import Chart
from planner.tui.widgets.paths import PathTable


class AnswerScreen(PlanScreen):
    """The first screen: everything that fits on one page of an answer."""

    PLACE = "answer"
    # Focus that scrolls while the page still grows leaves the scrollbar off its place.
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("answer")]
    HELP = (
        "The verdict and the best option of each path, side by side. Left and right choose a path, d or Enter opens"
        " its details, w lists warnings and what would change the answer. The chart adds up all money paid since the"
        " start; letters mark the paths, ╳ marks where one overtakes another."
    )

    def body(self) -> Iterator[Widget]:
        """Yield verdict, paths, chart and notes."""
        with VerticalScroll(id="answer", can_focus=False):
            yield Static("Reading profiles and computing the first answer…", id="verdict")
            yield PathTable(id="paths")
            yield Chart("months", "paid so far", id="chart")
            yield Static("", id="notes")

    def on_mount(self) -> None:
        """Start with the paths."""
        self.query_one(PathTable).focus(scroll_visible=False)

    def show(self, plan: Plan) -> None:
        """Show another plan."""
        path = plan.verdict.path
        style = f"bold {fmt.PATH_STYLE[path]}" if path else "bold"
        self.query_one("#verdict", Static).update(safe.content(plan.verdict.text, style))
        self.query_one(PathTable).show(plan)
        chart = self.query_one(Chart)
        chart.show(answer_texts.series(plan), answer_texts.crossings(plan), currency_of(plan))
        self.query_one("#notes", Static).update(answer_texts.notes(plan))

    def refresh_state(self) -> None:
        """Say why there is nothing to see yet."""
        app = self.planner
        if app.plan is None and app.library is not None:
            self.query_one("#verdict", Static).update(safe.content(f"{app.busy.capitalize()}"))

    @on(PathTable.Opened)
    def action_open_option(self) -> None:
        """Open the option of the selected path."""
        plan, path = self.planner.plan, self.query_one(PathTable).path
        option = fmt.standing_for(plan, path) if plan else None
        if plan is None or option is None:
            self.planner.tell(f"No option of the path {PATH_NAMES[path]} was found.", "warning")
        else:
            self.app.push_screen(OptionScreen(plan, option))

    def action_more(self) -> None:
        """Show warnings, advice and break-even points in full."""
        if self.planner.plan is not None:
            self.app.push_screen(TextDialog("Behind the answer", answer_texts.behind(self.planner.plan)))

    def copy_text(self) -> str:
        """Return the verdict and the selected path's figures."""
        plan = self.planner.plan
        return "" if plan is None else f"{plan.verdict.text}\n{self.query_one(PathTable).copy_text()}"
