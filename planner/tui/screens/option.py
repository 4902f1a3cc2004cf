"""One option in full: slots with memory and speed, reasons, money, cash flow."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from planner.domain.plan import Option, Plan
from planner.tui import safe
from planner.tui.widgets.option_detail import detail


class OptionScreen(ModalScreen[None]):
    """The details of one option, over the whole terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Back", tooltip="Go back."),
        Binding("y", "copy", "Copy", tooltip="Copy the details as text."),
        Binding("j,down", "down", "Down", show=False, tooltip="Scroll down."),
        Binding("k,up", "up", "Up", show=False, tooltip="Scroll up."),
        Binding("g,home", "top", "Top", show=False, tooltip="Go to the top."),
        Binding("G,end", "bottom", "Bottom", show=False, tooltip="Go to the end."),
    ]

    def __init__(self, plan: Plan, option: Option) -> None:
        super().__init__()
        self._plan, self.option = plan, option

    def compose(self) -> ComposeResult:
        """Yield the details and the keys."""
        with VerticalScroll(id="option-detail"):
            yield Static("", id="option-text")
        yield Static(safe.content("↑↓ scroll   y copy   Esc back"), classes="dialog-keys")

    def on_resize(self) -> None:
        """Draw for this width."""
        width = self.app.size.width - 4
        self.query_one("#option-text", Static).update(detail(self._plan, self.option, width))

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Copy the details."""
        self.app.copy_to_clipboard(detail(self._plan, self.option, 100).plain)
        self.notify("Copied.", timeout=2)

    def _scroll(self) -> VerticalScroll:
        return self.query_one("#option-detail", VerticalScroll)

    def action_down(self) -> None:
        """Scroll down."""
        self._scroll().scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self._scroll().scroll_up(animate=False)

    def action_top(self) -> None:
        """Scroll to the top."""
        self._scroll().scroll_home(animate=False)

    def action_bottom(self) -> None:
        """Scroll to the end."""
        self._scroll().scroll_end(animate=False)
