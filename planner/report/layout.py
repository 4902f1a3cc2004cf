"""Lines of text: headings, wrapped paragraphs, hanging labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from planner.report.safe import clean, pad, width

# A number keeps its unit on its line.
_PARTS = re.compile(r"(?<!\d) | (?!(?:[MBT%hs]|GiB|USD)(?![\w/]))")
INDENT = "  "
GAP = "  "


def heading(title: str, aside: str, room: int) -> str:
    """Return a section title, with a remark at its right where there is room."""
    left = title.upper()
    blank = room - len(left) - len(aside)
    return f"{left}{' ' * blank}{aside}" if aside and blank >= 2 else left


def wrap(text: str, room: int, first: str = "", rest: str | None = None) -> list[str]:
    """Return cleaned text wrapped to `room` columns, with a prefix before the first and the other lines."""
    hanging = " " * width(first) if rest is None else rest
    lines, line, empty = [], first, True
    for word in _words(clean(text), room - max(width(first), width(hanging))):
        if not empty and width(line) + 1 + width(word) > room:
            lines.append(line)
            line, empty = hanging, True
        line, empty = line + ("" if empty else " ") + word, False
    return [*lines, line.rstrip()]


def _words(text: str, room: int) -> Iterator[str]:
    """Yield the words of a text, those wider than `room` in pieces; textwrap counts characters, not columns."""
    for word in _PARTS.split(text):
        piece = ""
        for char in word:
            if width(piece + char) > max(2, room):
                yield piece
                piece = ""
            piece += char
        yield piece


def labelled(label: str, text: str, room: int, label_width: int = 11) -> list[str]:
    """Return `label  text` with the text wrapped beside the label."""
    return wrap(text, room, INDENT + pad(label, label_width))


def bullets(texts: Iterable[str], room: int) -> list[str]:
    """Return one bullet per text."""
    return [line for text in texts for line in wrap(text, room, f"{INDENT}- ")]


def indented(lines: Iterable[str]) -> list[str]:
    """Return lines moved right by the indent of a section."""
    return [INDENT + line for line in lines]


def grid_lines(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    aligns: str,
    room: int,
    below: Sequence[str] = (),
    gap: str = GAP,
) -> list[str]:
    """Return a table as lines of at most `room` columns; `below` holds what stands under each row.

    `aligns` holds one character a column: `<` left, `>` right, `=` left and never cut. Columns take the width of
    their widest cell; when that is too much, the widest of the `<` ones are cut.
    """
    widths = [max(width(cell) for cell in column) for column in zip(titles, *rows, strict=True)]
    free = [index for index, align in enumerate(aligns) if align == "<"]
    while free and sum(widths) + len(gap) * (len(widths) - 1) > room:
        widest = max(free, key=lambda index: widths[index])
        if widths[widest] <= 4:
            break
        widths[widest] -= 1
    rule = "─" * min(room, sum(widths) + len(gap) * (len(widths) - 1))
    lines = [_row(titles, widths, aligns, gap), rule]
    for index, row in enumerate(rows):
        lines.append(_row(row, widths, aligns, gap))
        if below:
            lines += wrap(below[index], room, INDENT)
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], aligns: str, gap: str) -> str:
    return gap.join(pad(*cell) for cell in zip(cells, widths, aligns, strict=True)).rstrip()
