"""A table for at most 500 rows: fixed widths, columns dropped by priority, vi keys, copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.widgets import DataTable

from planner.tui.actions import TABLE, bindings_for

ROW_LIMIT = 500
"""Textual's table takes about 0.2 s for this many rows; more are filtered before."""


@dataclass(frozen=True)
class Column:
    """A column: `width` in characters (0 = takes what is left), and its rank when space runs out (0 stays)."""

    key: str
    title: str
    width: int
    rank: int = 0
    align: Literal["left", "right"] = "left"
    weight: int = 1
    """Share of what is left, among the flexible columns."""


@dataclass(frozen=True)
class Row:
    """A row with a stable key and one cell per column."""

    key: str
    cells: tuple[Text, ...]


class KeyTable(DataTable[Text]):
    """A DataTable that lays out its columns for its width and keeps the cursor on the same row."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for(TABLE)]
    HELP = "Arrows or j/k move, g/G go to the ends, Enter opens the row, y copies it."

    def __init__(self, columns: Sequence[Column], id: str | None = None, least_flex: int = 14) -> None:
        super().__init__(id=id, cursor_type="row", zebra_stripes=True)
        self.all_columns = tuple(columns)
        self.rows_shown: tuple[Row, ...] = ()
        self._least_flex = least_flex
        self._laid_out_for = -1

    def fill(self, rows: Sequence[Row]) -> None:
        """Show these rows; the cursor stays on the row with the same key, if it is still there."""
        self.rows_shown = tuple(rows[:ROW_LIMIT])
        self._lay_out()

    def titles(self, titles: dict[str, str]) -> None:
        """Change the titles of some columns, such as the mark of the sorted one."""
        self.all_columns = tuple(
            replace(c, title=titles.get(c.key, c.title)) for c in self.all_columns
        )

    @property
    def selected(self) -> str | None:
        """Return the key of the row under the cursor."""
        if not 0 <= self.cursor_row < len(self.rows_shown):
            return None
        return self.rows_shown[self.cursor_row].key

    def select(self, key: str) -> None:
        """Put the cursor on the row with this key, if there is one."""
        at = next((index for index, row in enumerate(self.rows_shown) if row.key == key), None)
        if at is not None:
            self.move_cursor(row=at, animate=False)

    def copy_text(self) -> str:
        """Return the row under the cursor as `title: value` lines."""
        if self.selected is None:
            return ""
        cells = self.rows_shown[self.cursor_row].cells
        return "\n".join(f"{c.title}: {cell.plain}" for c, cell in zip(self.all_columns, cells, strict=True))

    def on_resize(self, event: events.Resize) -> None:
        """Lay the columns out again for another width."""
        if event.size.width != self._laid_out_for:
            self._lay_out()

    def _visible(self) -> list[tuple[int, int]]:
        """Return (index, width) of the columns that fit; flexible ones share what is left by weight."""
        room, columns = self.size.width - 2, self.all_columns
        chosen = list(range(len(columns)))
        # Where there is room, names are worth more than one more column of numbers.
        least = max(self._least_flex, room * 2 // 7) if room > 100 else self._least_flex

        def used() -> int:
            return sum((columns[i].width or least) + 2 * self.cell_padding for i in chosen)

        while used() > room and any(columns[i].rank for i in chosen):
            chosen.remove(max(chosen, key=lambda i: (columns[i].rank, i)))
        weights = sum(columns[i].weight for i in chosen if not columns[i].width) or 1
        spare = max(room - used(), 0) + least * sum(1 for i in chosen if not columns[i].width)
        return [(i, columns[i].width or spare * columns[i].weight // weights) for i in chosen]

    def _lay_out(self) -> None:
        if not self.size.width:
            return
        self._laid_out_for = self.size.width
        selected, scroll = self.selected, self.scroll_y
        chosen = self._visible()
        self.clear(columns=True)
        for index, width in chosen:
            column = self.all_columns[index]
            self.add_column(Text(column.title, justify=column.align), width=width, key=column.key)
        for row in self.rows_shown:
            self.add_row(*(row.cells[index] for index, _ in chosen), key=row.key)
        if selected is not None:
            self.select(selected)
        self.scroll_to(y=scroll, animate=False)
