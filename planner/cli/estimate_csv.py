"""A table of questions in, the same table with answers out."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from planner.cli.estimate_columns import NAMES
from planner.cli.estimate_query import Reader
from planner.domain.errors import EnvironmentFault, InputError, PlannerError, nearest
from planner.domain.figures import Basis, Figure
from planner.domain.library import Library
from planner.performance.estimate import estimate
from planner.report.safe import clean

ADDED = ("value", "low", "high", "unit", "basis", "reason")
FIELD_LIMIT = 100_000


def answered(path: str, library: Library) -> Iterator[str]:
    """Yield CSV lines: the head, then each row as it came with its answer behind it.

    A row that can't be answered has the reason in place of a value. Raises InputError for a file that can't be read
    or a header that isn't known, with the nearest known one.
    """
    rows = _rows(path)
    head = [name.strip() for name in next(rows, [])]
    _check(head, path)
    yield _line([*head, *ADDED])
    reader = Reader(library)
    for number, row in enumerate(rows, 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(head):
            raise InputError(f"{path}, row {number}: {len(row)} cells, but the head has {len(head)} columns.")
        whole = row + [""] * (len(head) - len(row))
        yield _line([*whole, *_answer(dict(zip(head, whole, strict=True)), reader)])


def _answer(cells: dict[str, str], reader: Reader) -> Sequence[object]:
    try:
        query = reader.read(cells)
        answer = estimate(query.setup, query.kind, **query.conditions, probes=reader.library.probes)
    except PlannerError as error:
        return ("", "", "", "", "", clean(error))
    if isinstance(answer, Figure):
        numbers = ["" if value is None else value for value in (answer.value, answer.low, answer.high)]
        return (*numbers, answer.unit, answer.basis.value, clean(answer.reason or ""))
    return ("true" if answer else "false", "", "", "", Basis.ESTIMATED.value, "")


def _check(head: list[str], path: str) -> None:
    if not any(head):
        raise InputError(f"{path} is empty.", f"The first line names the columns, such as {','.join(NAMES[:5])}.")
    for name in head:
        if name not in NAMES:
            hint = nearest(name, NAMES) or f"Known: {', '.join(NAMES)}."
            raise InputError(f"{path}: unknown column {name!r}.", hint)
        if head.count(name) > 1:
            raise InputError(f"{path}: the column {name!r} is there twice.")
    missing = [name for name in ("hardware", "model", "kind") if name not in head]
    if missing:
        raise InputError(f"{path}: the column {missing[0]!r} is missing.", "hardware, model and kind are needed.")


def _rows(path: str) -> Iterator[list[str]]:
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.reader(io.StringIO(_text(path)))
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from None


def _text(path: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).expanduser().read_bytes()
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.", "Save it as CSV in UTF-8.") from None
    except FileNotFoundError:
        raise InputError(f"There is no file {path!r}.") from None
    except IsADirectoryError:
        raise InputError(f"{path!r} is a folder.", "Name a CSV file.") from None
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror or error}.") from None


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()
