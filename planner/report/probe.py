"""Probe records as text: one in full, many as a table."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.figures import Figure, Speed
from planner.domain.probe import Measure, ProbeRecord
from planner.report.format import DASH, number, short
from planner.report.layout import INDENT, grid_lines, labelled, wrap
from planner.report.safe import clean

KIND_WORDS = {
    "prefill": "prefill",
    "decode_per_request": "decode per request",
    "aggregate_output": "aggregate output",
    "aggregate_total": "aggregate in + out",
}


def render(record: ProbeRecord, width: int = 80, warnings: bool = True) -> str:
    """Return what was measured, on what, how it ended; ends with a line break.

    `warnings` can be left out where a person has just read them as they came.
    """
    figures = sorted(record.figures, key=_order)
    lines = [f"probe {clean(record.id)}: {record.status}"]
    lines += labelled("when", f"{record.started_at} to {record.finished_at}", width)
    lines += labelled("ended by", record.ended_by.replace("_", " "), width)
    lines += labelled("hardware", record.hardware, width)
    lines += labelled("model", _model(record), width)
    lines += labelled("engine", f"{record.engine.name} {record.engine.build or ''}", width)
    if figures:
        head = ["Figure", "Conditions", "Value", "low–high", "Unit"]
        rows = [_row(figure) for figure in figures]
        lines += ["", *(INDENT + line for line in grid_lines(head, rows, "<<>><", width - len(INDENT)))]
    notes = [f"{_name(figure)}: {figure.reason}" for figure in figures if figure.value is None]
    for text in (*notes, *record.errors, *(_warnings(record) if warnings else ())):
        lines += wrap(text, width, f"{INDENT}- ")
    return "\n".join(lines) + "\n"


def listing(records: Sequence[ProbeRecord], width: int = 80) -> str:
    """Return one line per record, newest first as given."""
    if not records:
        return "No probe has run yet: `planner probe device --model FILE.gguf` measures this machine.\n"
    head = ["Id", "Status", "Hardware", "Model", "Engine", "Decode tok/s"]
    rows = [
        [
            clean(record.id), record.status, clean(record.hardware, 20), clean(record.model.id, 28),
            clean(f"{record.engine.name} {record.engine.build or ''}", 24), _decode(record),
        ]
        for record in records
    ]  # fmt: skip
    return "\n".join(_keep_first(head, rows, width)) + "\n"


def _keep_first(head: list[str], rows: list[list[str]], width: int) -> list[str]:
    """Return the table without its engine column where the ids would otherwise be cut."""
    needed = sum(max(len(row[index]) for row in [head, *rows]) + 2 for index in range(len(head)))
    if needed > width + 2:
        head, rows = head[:4] + head[5:], [row[:4] + row[5:] for row in rows]
    return grid_lines(head, rows, "=" + "<" * (len(head) - 2) + ">", width)


def _model(record: ProbeRecord) -> str:
    model = record.model
    parts = [model.id, model.quant or "", f"({model.weights} weights)"]
    return " ".join(part for part in parts if part)


def _row(figure: Figure) -> list[str]:
    value = DASH if figure.value is None else number(figure.value)
    bounds = "" if figure.low is None or figure.high is None else f"{short(figure.low)}–{short(figure.high)}"
    return [_name(figure), _conditions(figure), value, bounds, figure.unit]


def _order(figure: Figure) -> tuple[bool, str, int, int]:
    axes = figure.axes if isinstance(figure, Speed | Measure) else None
    place = (axes.concurrency, axes.prompt_tokens or axes.context_tokens) if axes else (0, 0)
    return (not isinstance(figure, Speed), _name(figure), *place)


def _name(figure: Figure) -> str:
    if isinstance(figure, Speed):
        return KIND_WORDS[figure.kind]
    return figure.kind.replace("_", " ") if isinstance(figure, Measure) else clean(figure.source, 24)


def _conditions(figure: Figure) -> str:
    axes = figure.axes if isinstance(figure, Speed | Measure) else None
    if axes is None:
        threads = figure.threads if isinstance(figure, Measure) else None
        return f"{threads} thread{'s' if threads > 1 else ''}" if threads else ""
    # What tells one row from the next comes first, for a narrow table cuts the end.
    parts = [f"{axes.concurrency} at once"] if axes.concurrency > 1 else []
    parts += [f"prompt {axes.prompt_tokens:,}"] if axes.prompt_tokens else []
    parts += [f"context {axes.context_tokens:,}"] if axes.context_tokens or not axes.prompt_tokens else []
    parts += [f"{axes.cached_prefix_tokens:,} cached"] if axes.cached_prefix_tokens else []
    return ", ".join(parts)


def _decode(record: ProbeRecord) -> str:
    speeds = [f for f in record.figures if isinstance(f, Speed) and f.kind == "decode_per_request" and f.known]
    speeds = [f for f in speeds if f.axes.concurrency == 1] or speeds
    first = min(speeds, key=lambda speed: (speed.axes.context_tokens, speed.axes.concurrency), default=None)
    return number(first.number) if first else DASH


def _warnings(record: ProbeRecord) -> list[str]:
    found = record.settings.get("warnings", [])
    return [str(item.get("message", "")) for item in found if isinstance(item, dict)] if isinstance(found, list) else []
