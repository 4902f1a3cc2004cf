"""What the program as a whole can do, apart from computing: tell, go, copy, export, help, the palette."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from textual import on
from textual.app import App, SystemCommand
from textual.reactive import reactive
from textual.screen import Screen

from planner.domain.errors import PlannerError
from planner.domain.plan import Plan
from planner.tui import safe
from planner.tui.actions import ACTIONS, PLACES, TABLE, Action, key_name
from planner.tui.files import export_plan
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.dialogs import Ask, Blank, TextDialog, error_dialog
from planner.tui.screens.help import help_text
from planner.tui.widgets.top_bar import PlaceTab


class AppActions(App[int]):
    """The base of the app: everything here needs the plan at most."""

    plan: reactive[Plan | None] = reactive(None, init=False)
    past_notes: tuple[str, ...] = ()
    """What was told so far, oldest first."""

    @property
    def workload_name(self) -> str:
        """Return the name of the open workload."""
        return ""

    # ── telling people ───────────────────────────────────────────────────────────────────────────────────────

    def report(self, error: PlannerError) -> None:
        """Show an error as a dialog that can be copied, and keep it among the notes."""
        self._keep(f"{error.title}: {error}")
        self.push_screen(error_dialog(error))

    def tell(self, text: str, severity: str = "information") -> None:
        """Show a short notification and keep it among the notes."""
        self._keep(text)
        self.notify(safe.line(text), severity=severity, markup=False, timeout=5)  # type: ignore[arg-type]

    def _keep(self, text: str) -> None:
        self.past_notes = (*self.past_notes[-99:], safe.line(text, 2000))

    # ── actions ──────────────────────────────────────────────────────────────────────────────────────────────

    def action_go(self, place: str) -> None:
        """Show one of the main screens."""
        if isinstance(self.screen, PlanScreen):
            self.switch_mode(place)

    @on(PlaceTab.Chosen)
    def _tab_chosen(self, event: PlaceTab.Chosen) -> None:
        self.action_go(event.place)

    def action_toggle_theme(self) -> None:
        """Switch between dark and light."""
        self.theme = "planner-light" if self.current_theme.dark else "planner-dark"

    def action_help(self) -> None:
        """Explain the focused thing."""
        place = self.screen.PLACE if isinstance(self.screen, PlanScreen) else ""
        self.push_screen(TextDialog("Help", help_text(place, self.focused)))

    def action_notes(self) -> None:
        """Show past notifications and errors."""
        self.push_screen(TextDialog("Notes", "\n\n".join(reversed(self.past_notes)) or "Nothing so far."))

    def action_copy(self) -> None:
        """Copy the focused thing as text."""
        text = self.screen.copy_text() if isinstance(self.screen, PlanScreen) else ""
        if not text:
            self.tell("Nothing to copy here.", "warning")
            return
        self.copy_to_clipboard(text)
        self.tell("Copied. If your terminal does not allow it, press e to write a file.")

    def action_export(self) -> None:
        """Ask for a file and write the plan to it."""
        if self.plan is None:
            self.tell("There is no plan to export yet.", "warning")
            return
        hint = "a name ending in .md, .csv, .json or .txt"
        blank = Blank("path", "File", f"{self.workload_name}.md", hint)
        self.push_screen(Ask("Export the answer", [blank], "Write"), self._export)

    def _export(self, values: dict[str, str] | None) -> None:
        if values is None or self.plan is None:
            return
        try:
            path = export_plan(self.plan, values["path"])
        except PlannerError as error:
            self.report(error)
        else:
            self.tell(f"Written: {path}")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer every action of the registry in the palette, those of other screens by going there."""
        for action in ACTIONS:
            if action.place != TABLE and action.id != "app.palette":
                help_text = f"{action.tooltip}  ({key_name(action)})"
                yield SystemCommand(_title(action), help_text, partial(self.perform, action))
        yield SystemCommand("Screenshot", "Save this screen as an SVG picture.", self.deliver_screenshot)

    async def perform(self, action: Action) -> None:
        """Run an action of the registry, on its own screen."""
        if action.place and action.place != self.current_mode:
            await self.switch_mode(action.place)
        await self.run_action(action.call, self.screen if action.place else self)


def _title(action: Action) -> str:
    where = next((place.title for place in PLACES if place.id == action.place), action.group)
    return f"{where}: {action.label}"
