"""The line at the top: where one is, what is open, and whether the figures are fresh."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from planner.tui import safe
from planner.tui.actions import PLACES


class PlaceTab(Static):
    """The name and number of one screen; a click goes there."""

    class Chosen(Message):
        """A screen's name was clicked."""

        def __init__(self, place: str) -> None:
            super().__init__()
            self.place = place

    def __init__(self, place: str, label: str, current: bool) -> None:
        super().__init__(safe.content(label), classes="-current" if current else "")
        self._place = place

    def on_click(self, event: events.Click) -> None:
        """Go to the screen."""
        event.stop()
        self.post_message(self.Chosen(self._place))


class TopBar(Horizontal):
    """Names of the screens on the left, the open workload and its state on the right."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place
        self.state = ""

    def compose(self) -> ComposeResult:
        """Yield one tab per screen and the state."""
        for number, place in enumerate(PLACES, start=1):
            yield PlaceTab(place.id, f"{number} {place.title}", place.id == self._place)
        yield Static("", id="state")

    def show(self, name: str, state: str) -> None:
        """Show the workload's name and what the program is doing."""
        self.state = state
        style = "bold $warning" if state else "$muted"
        narrow = self.app.size.width < 100
        room = 26 if narrow else 60
        state = state.partition(":")[0] if narrow else state
        parts = [part for part in (safe.line(name, room - len(state) - 3), state) if part]
        self.query_one("#state", Static).update(safe.content(" · ".join(parts), style))
