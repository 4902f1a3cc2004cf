"""Line charts in braille: the only module that knows how a chart is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from planner.report.format import Currency
from planner.tui import fmt

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell by (row, column), Unicode 16 chapter 21.1."""
_GUTTER = 7
_MARK_EVERY = 12


@dataclass(frozen=True)
class Series:
    """One line: a letter that marks it without colour, its name, a style variable and its points."""

    letter: str
    name: str
    style: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Crossing:
    """A point worth a cross, such as where buying overtakes the API."""

    x: float
    y: float
    label: str


@dataclass
class Canvas:
    """A grid of cells, each with braille dots or one character, and the style of what was drawn last."""

    width: int
    height: int
    bits: dict[tuple[int, int], int] = field(default_factory=dict)
    chars: dict[tuple[int, int], str] = field(default_factory=dict)
    styles: dict[tuple[int, int], str] = field(default_factory=dict)

    def dot(self, x: int, y: int, style: str) -> None:
        """Set one braille dot; x in 0..2·width, y in 0..4·height from the top."""
        cell = (x // 2, y // 4)
        if 0 <= cell[0] < self.width and 0 <= cell[1] < self.height:
            self.bits[cell] = self.bits.get(cell, 0) | _DOTS[y % 4][x % 2]
            self.styles[cell] = style

    def line(self, start: tuple[int, int], end: tuple[int, int], style: str) -> None:
        """Draw a straight line of dots between two dot positions."""
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            share = step / steps
            x = round(start[0] + (end[0] - start[0]) * share)
            self.dot(x, round(start[1] + (end[1] - start[1]) * share), style)

    def text(self, column: int, row: int, word: str, style: str) -> None:
        """Write characters over the dots, cut at the edges."""
        for offset, char in enumerate(word):
            cell = (column + offset, row)
            if 0 <= cell[0] < self.width and 0 <= row < self.height:
                self.chars[cell] = char
                self.styles[cell] = style

    def row(self, row: int) -> Content:
        """Return one line of the canvas."""
        parts: list[tuple[str, str]] = []
        for column in range(self.width):
            cell = (column, row)
            char = self.chars.get(cell) or (chr(0x2800 + self.bits[cell]) if cell in self.bits else " ")
            parts.append((char, self.styles.get(cell, "")))
        return Content.assemble(*parts)


def nice_ceiling(value: float) -> float:
    """Return the next round number (1, 2, 2.5 or 5 times a power of ten) at or above a positive value."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** math.floor(math.log10(value))
    return next(step * scale for step in (1, 2, 2.5, 5, 10) if step * scale >= value * (1 - 1e-9))


def draw(
    series: Sequence[Series], crossings: Sequence[Crossing], width: int, height: int, x_label: str, y_label: str,
    currency: Currency,
) -> Content:
    """Return the chart as text: y axis with money, plot, x axis, legend; `height` lines in all.

    Lines carry their letter at intervals, so that they can be told apart without colour.
    """
    plot_w, plot_h = width - _GUTTER - 1, height - 3
    shown = [line for line in series if line.x]
    if plot_w < 10 or plot_h < 2 or not shown:
        return Content("Nothing to draw." if not shown else "Too small for a chart.")
    low, top = 0.0, nice_ceiling(max(max(line.y) for line in shown) * currency.rate) / currency.rate
    x_max = max(max(line.x) for line in shown) or 1.0
    canvas = Canvas(plot_w, plot_h)

    def place(x: float, y: float) -> tuple[int, int]:
        share = (y - low) / (top - low)
        return round(x / x_max * (plot_w * 2 - 1)), round((1 - share) * (plot_h * 4 - 1))

    for line in shown:
        points = [place(x, y) for x, y in zip(line.x, line.y, strict=True)]
        for start, end in pairwise(points):
            canvas.line(start, end, line.style)
    for index, line in enumerate(shown):
        _letters(canvas, [place(x, y) for x, y in zip(line.x, line.y, strict=True)], line, index)
    for crossing in crossings:
        column, row = (part // size for part, size in zip(place(crossing.x, crossing.y), (2, 4), strict=True))
        canvas.text(column, row, "╳", "bold $foreground")
        left = column - len(crossing.label) - 1
        canvas.text(left if left > 0 else column + 2, max(row - 1, 0), crossing.label, "bold $foreground")
    plot = _plot_lines(canvas, top, y_label, currency)
    return Content("\n").join([*plot, *_x_axis(plot_w, x_max, x_label), _legend(shown)])


def _letters(canvas: Canvas, points: list[tuple[int, int]], line: Series, index: int) -> None:
    first = 3 + index * 3
    for column in range(first, canvas.width, _MARK_EVERY + 3):
        y = _height_at(points, column * 2)
        if y is not None:
            canvas.text(column, y // 4, line.letter, f"bold {line.style}")


def _height_at(points: list[tuple[int, int]], x: int) -> int | None:
    for start, end in pairwise(points):
        if start[0] <= x <= end[0] and end[0] > start[0]:
            return round(start[1] + (end[1] - start[1]) * (x - start[0]) / (end[0] - start[0]))
    return None


def _plot_lines(canvas: Canvas, top: float, y_label: str, currency: Currency) -> list[Content]:
    last = canvas.height - 1
    ticks = {round(last * part): top * (1 - part) for part in ((0, 0.25, 0.5, 0.75, 1) if last >= 8 else (0, 0.5, 1))}
    lines = []
    for row in range(canvas.height):
        label = fmt.axis_money(ticks[row], currency) if row in ticks else ""
        edge = "┤" if label else "│"
        lines.append(Content.assemble((f"{label:>{_GUTTER}}", "$muted"), (edge, "$muted"), canvas.row(row)))
    lines[0] = _with_label(lines[0], y_label)
    return lines


def _with_label(line: Content, label: str) -> Content:
    """Write the y label into the first line where nothing is drawn."""
    plain = line.plain
    start = _GUTTER + 2
    if plain[start : start + len(label)].strip():
        start = next(
            (at for at in range(start, len(plain) - len(label)) if not plain[at - 1 : at + len(label) + 1].strip()), 0
        )
    if not start:
        return line
    return line[:start] + Content.styled(label, "$muted") + line[start + len(label) :]


def _x_axis(width: int, x_max: float, label: str) -> list[Content]:
    rule, words = ["─"] * width, [" "] * width
    for quarter in range(5):
        column = round(quarter / 4 * (width - 1))
        rule[column] = "┴"
        tick = f"{x_max * quarter / 4:g}"
        start = min(max(column - len(tick) // 2, 0), width - len(tick))
        words[start : start + len(tick)] = tick
    text = "".join(words)
    at = width // 8 - len(label) // 2
    if at > 1 and not text[at - 1 : at + len(label) + 1].strip():
        text = text[:at] + label + text[at + len(label) :]
    pad = " " * _GUTTER
    return [Content.styled(f"{pad}└{''.join(rule)}", "$muted"), Content.styled(f"{pad} {text}", "$muted")]


def _legend(series: Sequence[Series]) -> Content:
    parts: list[tuple[str, str]] = [(" " * (_GUTTER + 1), "")]
    for line in series:
        parts += [(line.letter, f"bold {line.style}"), (f" {line.name}   ", line.style)]
    return Content.assemble(*parts)


class Chart(Widget):
    """A chart that fills its space and redraws itself when resized."""

    DEFAULT_CSS = "Chart { height: 10; }"

    def __init__(self, x_label: str, y_label: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self._x_label, self._y_label = x_label, y_label
        self.series: tuple[Series, ...] = ()
        self.crossings: tuple[Crossing, ...] = ()
        self.currency = Currency()

    def show(self, series: Sequence[Series], crossings: Sequence[Crossing], currency: Currency) -> None:
        """Draw these lines and crosses from now on."""
        self.currency = currency
        self.series, self.crossings = tuple(series), tuple(crossings)
        self.refresh()

    def render(self) -> Content:
        """Return the chart for the present size."""
        size: Size = self.content_size
        return draw(
            self.series, self.crossings, size.width, size.height, self._x_label, self._y_label, self.currency
        )
