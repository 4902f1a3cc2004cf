"""Foreign text made harmless: data is never markup, a control sequence or a formula."""

from __future__ import annotations

import re
import unicodedata

# CSI sequences, then OSC/DCS/APC/PM strings up to their terminator, then two-character escapes;
# then the same with 8-bit C1 introducers (ECMA-48, sections 5.4, 5.6 and 8.3).
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
)
_SPACES = re.compile(r"\s+")
# Characters that reorder their neighbours on screen (Unicode UAX #9), so that a name could fake a number.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
ELLIPSIS = "…"


def clean(text: object, limit: int | None = None) -> str:
    """Return text on one line without escapes, control or reordering characters, cut to `limit` characters.

    A lone surrogate, which no terminal or file takes, becomes the replacement character.
    """
    bare = _ESCAPES.sub("", str(text))
    # Before dropping control characters, so that a line break parts words; after it, because gaps may have closed.
    line = "".join(_shown(char) for char in _SPACES.sub(" ", bare))
    shown = _SPACES.sub(" ", line).strip()
    return shorten(shown, limit) if limit is not None else shown


def _shown(char: str) -> str:
    if char in _REORDERING:
        return ""
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    return "" if category in {"Cc", "Cf", "Co", "Cn"} else char


def shorten(text: str, limit: int) -> str:
    """Return text no wider than `limit` columns, with an ellipsis where something was cut."""
    if width(text) <= limit:
        return text
    out = ""
    for char in text:
        if width(out + char) > max(0, limit - 1):
            break
        out += char
    return (out.rstrip() + ELLIPSIS) if limit > 0 else ""


def width(text: str) -> int:
    """Return how many terminal columns a text takes: wide characters two, combining marks none."""
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def pad(text: str, columns: int, align: str = "<") -> str:
    """Return text cut or filled to exactly `columns` terminal columns, `<` left or `>` right."""
    cut = shorten(text, columns)
    blanks = " " * (columns - width(cut))
    return blanks + cut if align == ">" else cut + blanks


def csv_text(text: object) -> str:
    """Return text that no spreadsheet takes for a formula: a leading = + - @ gets an apostrophe before it."""
    value = str(text)
    stripped = clean(value)
    dangerous = value.startswith(_FORMULA_STARTS) or stripped.startswith(_FORMULA_STARTS)
    return f"'{stripped}" if dangerous else stripped


def markdown_text(text: object) -> str:
    """Return text that Markdown shows literally, in a table cell too."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", clean(text))
