"""A filter line that opens over a table and closes again."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class SearchInput(Input):
    """Hidden until opened; Enter keeps the words, Escape clears them, both give the focus back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", "Clear", tooltip="Clear the words and close the line."),
        Binding("down", "keep", show=False, tooltip="Go to the table."),
    ]
    HELP = "Type words; only rows that contain all of them stay. Enter keeps the filter, Escape clears it."

    class Closed(Message):
        """The line gave the focus back."""

    def __init__(self, hint: str, id: str) -> None:
        super().__init__(placeholder=hint, id=id, compact=True, classes="search")
        self.display = False

    def open(self) -> None:
        """Show the line and type into it."""
        self.display = True
        self.focus()

    def action_clear(self) -> None:
        """Clear and close."""
        self.value = ""
        self.action_keep()

    @on(Input.Submitted)
    def action_keep(self) -> None:
        """Close, keeping the words."""
        self.display = bool(self.value)
        self.post_message(self.Closed())
