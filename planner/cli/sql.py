"""`planner sql`: questions of one's own over profiles, prices and probe records."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from planner.cli.output import data, say, width
from planner.domain.errors import ExitCode

ROWS_SHOWN = 1000
EXAMPLES = """\
planner sql "SELECT * FROM docs"
planner sql "SELECT id, memory_gb FROM v_hardware ORDER BY memory_bandwidth_gb_s DESC LIMIT 10"
planner sql "SELECT * FROM v_api_prices WHERE model LIKE 'gpt-oss%'" --csv > prices.csv"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "sql", help="query profiles, prices and probe records", examples=EXAMPLES,
        description="Runs one read-only query (DuckDB's SQL); `SELECT * FROM docs` lists the views.",
    )  # fmt: skip
    parser.add_argument("query", metavar="QUERY")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="as CSV")
    form.add_argument("--json", action="store_true", help="as a list of JSON objects")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the result."""
    from planner.report import csv, json
    from planner.workspace import Workspace

    columns, rows = Workspace().sql(arguments.query)
    if arguments.json:
        data(json.dumps([dict(zip(columns, map(_json, row), strict=True)) for row in rows]))
    elif arguments.csv:
        data(csv.table(columns, ([_plain(cell) for cell in row] for row in rows)))
    else:
        _print(columns, rows)
    return ExitCode.OK


def _print(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from planner.report.layout import grid_lines
    from planner.report.safe import clean

    shown = rows[:ROWS_SHOWN]
    cells = [["" if cell is None else clean(_plain(cell), 200) for cell in row] for row in shown]
    aligns = "".join(_align(shown, index) for index in range(len(columns)))
    lines = grid_lines([clean(name) for name in columns], cells, aligns, width())
    data("\n".join(lines) + "\n")
    if len(rows) > ROWS_SHOWN:
        say(f"note: {ROWS_SHOWN:,} of {len(rows):,} rows shown; --csv or --json give all.")


def _align(rows: Sequence[Sequence[Any]], index: int) -> str:
    cells = [row[index] for row in rows if row[index] is not None]
    numeric = all(isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) for cell in cells)
    return ">" if cells and numeric else "<"


def _plain(cell: Any) -> Any:
    return cell if isinstance(cell, int | float) else None if cell is None else str(cell)


def _json(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, dt.date | dt.time | dt.timedelta | bytes):
        return str(cell)
    if isinstance(cell, dict):
        return {str(key): _json(value) for key, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [_json(value) for value in cell]
    return cell if isinstance(cell, int | float | str | bool | None) else str(cell)
