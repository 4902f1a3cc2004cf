"""What all main screens share: the top line, the footer, the floor for tiny terminals, and `show(plan)`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Static

from planner.domain.plan import Plan
from planner.tui import safe
from planner.tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

FLOOR = (60, 16)
"""Fewest columns and rows in which the screens make sense."""


class PlanScreen(Screen[None]):
    """A main screen: it receives the plan by `show` and never changes it."""

    PLACE: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.shown: Plan | None = None

    @property
    def planner(self) -> PlannerApp:
        """Return the app, with its own type."""
        return cast("PlannerApp", self.app)

    def compose(self) -> ComposeResult:
        """Yield the frame around the body."""
        yield TopBar(self.PLACE)
        yield from self.body()
        yield Static("", id="floor")
        yield Footer(compact=True, show_command_palette=False)

    @abstractmethod
    def body(self) -> Iterator[Widget]:
        """Yield the screen's own widgets."""

    @abstractmethod
    def show(self, plan: Plan) -> None:
        """Show another plan."""

    def refresh_state(self) -> None:
        """Show what does not depend on the plan, such as a running job; overridden where needed."""

    def copy_text(self) -> str:
        """Return the focused thing as plain text, or an empty string."""
        focused = self.focused
        copier = getattr(focused, "copy_text", None)
        return str(copier()) if copier else ""

    def sync(self) -> None:
        """Bring the screen up to date with the app; cheap when nothing changed."""
        if not self.is_mounted or not self.query(TopBar):
            return
        app = self.planner
        self.query_one(TopBar).show(app.workload_name, app.busy)
        self.set_class(bool(app.busy), "-stale")
        if app.plan is not None and app.plan is not self.shown:
            self.shown = app.plan
            with app.batch_update():
                self.show(app.plan)
        self.refresh_state()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        self.sync()

    def on_resize(self) -> None:
        """Say what is missing when the terminal is too small."""
        size, (columns, rows) = self.app.size, FLOOR
        small = size.width < columns or size.height < rows
        self.set_class(small, "-tiny")
        if small:
            self.query_one("#floor", Static).update(
                safe.content(
                    f"The planner needs {columns} × {rows} characters; this terminal has {size.width} × {size.height}."
                    " Make it larger, or run `planner plan` for the answer as text."
                )
            )
