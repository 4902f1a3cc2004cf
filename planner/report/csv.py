"""A plan as CSV: one row per option, every figure with its low, high and basis; US dollars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from planner.domain.figures import Figure
from planner.domain.plan import Option, Plan
from planner.report.safe import csv_text
from planner.report.tables import BATCH_COLUMNS, OPTION_COLUMNS, SLOT_COLUMNS, Value

Cells = dict[str, object]


def render(plan: Plan) -> str:
    """Return the options as CSV text with a head line; slots and batch jobs are numbered column groups."""
    rows = [option_cells(option) for option in plan.options]
    head = list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))
    return table(head, ([row.get(name) for name in head] for row in rows))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return any table as CSV text; texts are made safe for spreadsheets, unknowns are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_text(name) for name in head])
    for row in rows:
        writer.writerow([plain(cell) for cell in row])
    return out.getvalue()


def plain(cell: object) -> object:
    """Return a cell as CSV holds it: numbers as they are, booleans as true and false, texts made safe."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell if isinstance(cell, int | float) else csv_text(cell)


def option_cells(option: Option) -> Cells:
    """Return the named cells of one option, its slots as `slot1_…` and its batch jobs as `batch1_…`."""
    cells: Cells = {"id": option.id}
    for column in OPTION_COLUMNS:
        cells.update(_cells(column.id, option.path if column.id == "path" else column.get(option)))
    cells["priced"] = option.priced
    cells["reasons"] = "; ".join(option.reasons)
    basis = option.basis
    cells.update(basis_speed=basis.speed.value, basis_money=basis.money.value)
    cells["basis_demand"] = basis.demand.value
    for index, slot in enumerate(option.slots, 1):
        for slot_column in SLOT_COLUMNS:
            cells.update(_cells(f"slot{index}_{slot_column.id}", slot_column.get(slot)))
    for index, result in enumerate(option.batch, 1):
        for batch_column in BATCH_COLUMNS:
            cells.update(_cells(f"batch{index}_{batch_column.id}", batch_column.get(result)))
    return cells


def _cells(name: str, value: Value) -> Iterator[tuple[str, object]]:
    if not isinstance(value, Figure):
        yield name, value
        return
    yield name, value.value
    yield f"{name}_low", value.low
    yield f"{name}_high", value.high
    yield f"{name}_basis", value.basis.value
    yield f"{name}_reason", value.reason
