"""Small dialogs: read a text, ask for a line, choose from a list, confirm, fill in a few fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from planner.domain.errors import PlannerError
from planner.tui import safe

_CLOSE = Binding("escape", "close", "Close", tooltip="Close this dialog.")


class TextDialog(ModalScreen[None]):
    """A text to read, scroll and copy."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _CLOSE,
        Binding("q,enter,f1", "close", "Close", show=False, tooltip="Close this dialog."),
        Binding("y", "copy", "Copy", tooltip="Copy the text."),
        Binding("j,down", "down", "Down", show=False, tooltip="Scroll down."),
        Binding("k,up", "up", "Up", show=False, tooltip="Scroll up."),
    ]

    def __init__(self, title: str, text: str, kind: str = "") -> None:
        super().__init__(classes=kind)
        self._title, self.text = safe.line(title), safe.lines(text)

    def compose(self) -> ComposeResult:
        """Yield the title, the text and the keys."""
        with Vertical(classes="dialog wide") as box:
            box.border_subtitle = "↑↓ scroll · y copy · Esc close"
            yield Label(safe.content(self._title), classes="dialog-title")
            with VerticalScroll(id="text"):
                yield Static(safe.content(self.text))

    def action_close(self) -> None:
        """Close the dialog."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Copy title and text."""
        self.app.copy_to_clipboard(f"{self._title}\n{self.text}")
        self.notify("Copied.", timeout=2)

    def action_down(self) -> None:
        """Scroll down."""
        self.query_one("#text", VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self.query_one("#text", VerticalScroll).scroll_up(animate=False)


def error_dialog(error: PlannerError) -> TextDialog:
    """Return a dialog that shows an error: its title, the sentence and the way out."""
    return TextDialog(f"✗ {error.title}", f"{error.message}\n\n{error.hint}".strip(), "-error")


@dataclass(frozen=True)
class Blank:
    """One line to fill in: key, label, first value, what it means, and a check that returns a complaint or ''."""

    key: str
    label: str
    value: str = ""
    hint: str = ""
    check: Callable[[str], str] = lambda text: ""
    choices: tuple[str, ...] = ()
    """Known values, offered as completions."""


class Ask(ModalScreen[dict[str, str] | None]):
    """A few lines to fill in; Enter accepts when every check passes, Escape leaves everything as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _CLOSE,
        Binding("down", "next", show=False, tooltip="Go to the next line."),
        Binding("up", "previous", show=False, tooltip="Go to the previous line."),
    ]

    def __init__(self, title: str, blanks: Sequence[Blank], accept: str = "OK", text: str = "") -> None:
        super().__init__()
        self._title, self._blanks, self._accept, self._text = title, tuple(blanks), accept, text

    def compose(self) -> ComposeResult:
        """Yield the title, the lines and two buttons."""
        with Vertical(classes="dialog") as box:
            box.border_subtitle = "Tab next · Enter accept · Esc cancel"
            yield Label(safe.content(self._title), classes="dialog-title")
            if self._text:
                yield Static(safe.content(self._text), classes="dialog-text")
            for blank in self._blanks:
                yield Label(safe.content(blank.label), classes="blank-label")
                suggester = SuggestFromList(blank.choices, case_sensitive=False) if blank.choices else None
                yield Input(blank.value, placeholder=blank.hint, id=blank.key, suggester=suggester, compact=True)
            yield Static("", id="complaint")
            with Horizontal(classes="dialog-buttons"):
                yield Button(self._accept, id="accept", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def values(self) -> dict[str, str]:
        """Return what was typed, by key."""
        return {blank.key: self.query_one(f"#{blank.key}", Input).value.strip() for blank in self._blanks}

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def accept(self) -> None:
        """Close with the values, or say what is wrong."""
        values = self.values()
        for blank in self._blanks:
            complaint = blank.check(values[blank.key])
            if complaint:
                self.query_one("#complaint", Static).update(safe.content(f"✗ {complaint}", "$error"))
                self.query_one(f"#{blank.key}", Input).focus()
                return
        self.dismiss(values)

    @on(Button.Pressed, "#cancel")
    def action_close(self) -> None:
        """Close without a change."""
        self.dismiss(None)

    def action_next(self) -> None:
        """Go to the next line."""
        self.focus_next()

    def action_previous(self) -> None:
        """Go to the previous line."""
        self.focus_previous()


class Choose(ModalScreen[str | None]):
    """A list to choose one entry from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _CLOSE,
        Binding("j", "down", show=False, tooltip="Move down."),
        Binding("k", "up", show=False, tooltip="Move up."),
    ]

    def __init__(self, title: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title, self._choices = title, tuple(choices)

    def compose(self) -> ComposeResult:
        """Yield the title and the list."""
        with Vertical(classes="dialog") as box:
            box.border_subtitle = "↑↓ move · Enter choose · Esc cancel"
            yield Label(safe.content(self._title), classes="dialog-title")
            yield OptionList(*(Option(safe.content(text), id=key) for key, text in self._choices), compact=True)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Close with the chosen entry."""
        self.dismiss(event.option.id)

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def action_down(self) -> None:
        """Move down."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """Move up."""
        self.query_one(OptionList).action_cursor_up()


class Confirm(ModalScreen[bool]):
    """A question with consequences; only an explicit yes goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _CLOSE,
        Binding("y", "accept", tooltip="Yes."),
        Binding("n", "close", show=False, tooltip="No."),
    ]

    def __init__(self, title: str, text: str, accept: str = "Yes") -> None:
        super().__init__()
        self._title, self._text, self._accept = title, text, accept

    def compose(self) -> ComposeResult:
        """Yield the question and two buttons; "No" has the focus."""
        with Vertical(classes="dialog"):
            yield Label(safe.content(self._title), classes="dialog-title")
            yield Static(safe.content(self._text), classes="dialog-text")
            with Horizontal(classes="dialog-buttons"):
                yield Button("No", id="no", compact=True)
                yield Button(safe.content(f"{self._accept} (y)"), id="yes", variant="primary", compact=True)

    @on(Button.Pressed, "#yes")
    def action_accept(self) -> None:
        """Go on."""
        self.dismiss(True)

    @on(Button.Pressed, "#no")
    def action_close(self) -> None:
        """Do nothing."""
        self.dismiss(False)
