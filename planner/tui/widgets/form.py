"""One line of a form: label, input, and beside it the unit, the default, or what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Select, Static

from planner.tui import safe
from planner.tui.fields import Field, FieldPath

_NUMERIC = frozenset("0123456789.,-+%_kKmMbBeE")


class FieldInput(Input):
    """An input whose arrows move between fields; a number's input leaves other letters to the screen's keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", show=False, tooltip="Go to the field above."),
        Binding("down,enter", "app.focus_next", show=False, tooltip="Go to the field below."),
        Binding("escape", "screen.leave_field", "Leave field", tooltip="Leave it: letters are keys again."),
    ]

    def __init__(self, value: str, placeholder: str, numeric: bool, completions: Sequence[str], help: str) -> None:
        suggester = SuggestFromList(completions, case_sensitive=False) if completions else None
        super().__init__(value, placeholder=placeholder, compact=True, suggester=suggester, select_on_focus=numeric)
        self._numeric = numeric
        self.help_text = help

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Take printable keys, of which a number's input takes only those that numbers have."""
        taken = character is not None and character.isprintable()
        return taken and (not self._numeric or character in _NUMERIC)

    async def _on_key(self, event: events.Key) -> None:
        if event.is_printable and not self.check_consume_key(event.key, event.character):
            event.prevent_default()  # bubbles to the bindings of the screen
            return
        await super()._on_key(event)


class FieldRow(Horizontal):
    """A field of the workload form."""

    class Edited(Message):
        """A person changed the value; `text` is what stands there now, empty = the default."""

        def __init__(self, field: Field, text: str) -> None:
            super().__init__()
            self.field, self.text = field, text

    def __init__(self, field: Field, value: str, completions: Sequence[str] = ()) -> None:
        wide = field.kind in ("text", "list")
        super().__init__(classes="field -wide" if wide else "field")
        self.field, self.problem = field, ""
        self._value, self._completions = value, tuple(completions)

    def compose(self) -> ComposeResult:
        """Yield label, control and hint."""
        yield Static(safe.content(self.field.label), classes="field-label")
        yield self._control()
        yield Static("", classes="field-hint")

    def _control(self) -> Select[str] | FieldInput:
        choices = self.field.choices or (("yes", "no") if self.field.kind == "flag" else ())
        if choices:
            # The default is an empty choice, so that a workload file holds only what somebody chose.
            prompt = safe.line(self.field.default) or "choose"
            value = self._value if self._value in choices else Select.NULL
            return Select([(name, name) for name in choices], prompt=prompt, value=value, compact=True)
        numeric = self.field.kind in ("number", "whole")
        return FieldInput(self._value, safe.line(self.field.default), numeric, self._completions, self._help())

    def _help(self) -> str:
        return f"{self.field.label} ({self.field.unit or self.field.kind}). {self.field.help}"

    def on_mount(self) -> None:
        """Show the unit."""
        self._hint()

    @property
    def text(self) -> str:
        """Return what stands in the control."""
        control = self.query_one("Select, FieldInput")
        if isinstance(control, Select):
            return "" if control.value is Select.NULL else str(control.value)
        assert isinstance(control, FieldInput)
        return control.value

    def set_text(self, text: str) -> None:
        """Put a value there without telling anybody, as undo does."""
        control = self.query_one("Select, FieldInput")
        with control.prevent(Input.Changed, Select.Changed):
            if isinstance(control, Select):
                control.value = text or Select.NULL
            elif isinstance(control, FieldInput) and control.value != text:
                control.value = text
        self._value = text
        self._hint()

    def complain(self, problem: str) -> None:
        """Show what is wrong beside the field, or the unit again when nothing is."""
        if problem != self.problem:
            self.problem = problem
            self.set_class(bool(problem), "-wrong")
            self._hint()

    def _hint(self) -> None:
        hint = self.query_one(".field-hint", Static)
        if self.problem:
            hint.update(safe.content(f"✗ {safe.line(self.problem)}", "$error"))
            return
        parts = [self.field.unit]
        if not self.text:
            parts.append("default" if self.field.default else "")
        hint.update(safe.content(" · ".join(part for part in parts if part), "$muted"))

    @on(Input.Changed)
    @on(Select.Changed)
    def _changed(self, event: Input.Changed | Select.Changed) -> None:
        event.stop()
        if self.text == self._value:
            return
        self._value = self.text
        self._hint()
        self.post_message(self.Edited(self.field, self.text))

    def copy_text(self) -> str:
        """Return label and value."""
        return f"{self.field.label}: {self.text or self.field.default} {self.field.unit}".strip()


def path_matches(problem: FieldPath, field: FieldPath) -> bool:
    """Say whether a complaint's place is this field or lies inside it (an item of a list)."""
    return problem[: len(field)] == field
