"""What F1 says: the focused thing first, then the keys of the screen, then those that work everywhere."""

from __future__ import annotations

from textual.widget import Widget

from planner.tui.actions import ACTIONS, PLACES, TABLE, Action, key_name
from planner.tui.safe import lines


def help_text(place: str, focused: Widget | None) -> str:
    """Return the help for a place and the widget that has the focus there."""
    blocks = [_about(focused)]
    here = next((item for item in PLACES if item.id == place), None)
    if here is not None:
        blocks.append(f"{here.title}: {here.purpose}")
        blocks.append(_keys("Keys on this screen", place))
    blocks.append(_keys("In tables", TABLE))
    blocks.append(_keys("Everywhere", ""))
    blocks.append("Letters go into a text field while you type in it; Escape leaves the field first.")
    return "\n\n".join(block for block in blocks if block)


def _about(focused: Widget | None) -> str:
    """Return the help of the focused widget, else of what contains it."""
    nodes = focused.ancestors_with_self if focused else ()
    texts = [str(text) for node in nodes if (text := getattr(node, "help_text", "") or node.HELP)]
    return lines(texts[0]) if texts else ""


def _keys(title: str, place: str) -> str:
    rows = [_line(action) for action in ACTIONS if action.place == place]
    return "\n".join([title, *rows])


def _line(action: Action) -> str:
    return f"  {key_name(action):<10} {action.label:<10} {action.tooltip}"
