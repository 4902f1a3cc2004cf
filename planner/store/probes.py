"""Probe records in the database: the record as it came, and its figures and samples as rows for SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from planner.domain.figures import Figure, Speed
from planner.domain.probe import ProbeRecord
from planner.store.files import write_atomically

if TYPE_CHECKING:
    import duckdb


def read_probes(connection: duckdb.DuckDBPyConnection) -> tuple[tuple[ProbeRecord, ...], tuple[str, ...]]:
    """Return readable records, newest first, and the ids of those this version cannot read."""
    query = "SELECT id, record FROM probe ORDER BY started_at DESC, id DESC"
    records, broken = [], []
    for probe_id, text in connection.execute(query).fetchall():
        try:
            records.append(ProbeRecord.model_validate_json(text))
        except ValidationError:
            broken.append(str(probe_id))
    return tuple(records), tuple(broken)


def write_probe(connection: duckdb.DuckDBPyConnection, record: ProbeRecord) -> None:
    """Insert a record; one of the same id is replaced."""
    for table, key in (("probe", "id"), ("probe_figure", "probe_id"), ("probe_sample", "probe_id")):
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", [record.id])
    row = [
        record.id, record.kind, record.status, record.ended_by, record.started_at, record.finished_at,
        record.hardware, record.model.id, record.model.quant, record.engine.name, record.engine.build,
        record.tool_version, record.model_dump_json(by_alias=True),
    ]  # fmt: skip
    connection.execute(f"INSERT INTO probe VALUES ({', '.join('?' * len(row))})", row)
    for position, figure in enumerate(record.figures):
        values = [record.id, position, *_figure_row(figure)]
        connection.execute(f"INSERT INTO probe_figure VALUES ({', '.join('?' * len(values))})", values)
    if record.samples:
        bodies = [json.dumps(sample, default=str, allow_nan=False) for sample in map(_finite, record.samples)]
        columns = [[record.id] * len(bodies), list(range(len(bodies))), bodies]
        connection.execute("INSERT INTO probe_sample SELECT UNNEST(?), UNNEST(?), UNNEST(?)", columns)


def keep_aside(folder: Path, record: ProbeRecord) -> Path:
    """Write a record that the database would not take to a file of its own; returns the file."""
    name = "".join(char if char.isalnum() or char in "-_." else "-" for char in record.id)[:120]
    path = folder / f"{name.lstrip('.') or 'probe'}.json"
    write_atomically(path, record.model_dump_json(by_alias=True))
    return path


def kept_aside(folder: Path) -> list[tuple[Path, ProbeRecord]]:
    """Return the readable records that were kept aside, with their files."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append((path, ProbeRecord.model_validate_json(path.read_bytes())))
        except (OSError, ValueError):
            continue
    return found


def _figure_row(figure: Figure) -> list[Any]:
    if isinstance(figure, Speed):
        axes = figure.axes
        places: list[Any] = [
            axes.context_tokens, axes.prompt_tokens, axes.output_tokens, axes.concurrency,
            axes.cached_prefix_tokens, axes.model, axes.quant, axes.kv_quant, axes.engine, axes.hardware,
        ]  # fmt: skip
        kind: str | None = figure.kind
    else:
        places, kind = [None] * 10, None
    numbers = [figure.value, figure.low, figure.high, figure.unit, str(figure.basis)]
    return [kind, *numbers, *places, figure.reason, figure.source, figure.model_dump_json()]


def _finite(value: Any) -> Any:
    """Return JSON values with NaN and infinities as null, which JSON has no words for."""
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
