"""The one way from data to the screen: data is never markup and never moves the cursor."""

from __future__ import annotations

from typing import Literal

from rich.text import Text
from textual.content import Content

from planner.report.safe import clean

LONGEST = 300


def line(text: object, limit: int = LONGEST) -> str:
    """Return text on one line, without control and direction characters, cut at `limit` columns."""
    return clean(text, limit)


def lines(text: object, limit: int = 20_000) -> str:
    """Return text of several lines, each made harmless; spaces at the start and within a line stay."""
    return "\n".join(_indented(part) for part in str(text)[:limit].splitlines())


def _indented(text: str) -> str:
    parts = text.split(" ")
    return " ".join(clean(part) for part in parts)


def cell(text: object, style: str = "", justify: Literal["left", "right"] = "left") -> Text:
    """Return a table cell that is never parsed as markup; `style` is a rich style."""
    return Text(line(text), style=style, justify=justify, no_wrap=True, overflow="ellipsis", end="")


def content(text: object, style: str = "") -> Content:
    """Return text for a widget, never parsed as markup; `style` may name theme variables."""
    return Content.styled(lines(text), style) if style else Content(lines(text))
