"""Measurements of this machine replace and correct the model's speeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.domain.figures import Basis, Speed
from planner.domain.probe import ProbeRecord
from planner.domain.quant import fold

SAME_DEPTH = 0.10
"""A depth within ten percent (and 64 tokens) of a probed one counts as probed."""
FLOOR_LOG_SD = 0.05
"""Runs of one machine on one day differ by about this much."""
MODEL_TRANSFER_SD = 0.12
"""Scatter that remains when one model's ratio is carried to another model."""


SINGLE_LOG_SD = 0.25
"""Assumed scatter of a speed that was measured once and so has no interval of its own."""


@dataclass(frozen=True, slots=True)
class Point:
    """A measured speed of the same model, quantisation and engine."""

    depth: float
    speed: Speed
    record: ProbeRecord


@dataclass(frozen=True, slots=True)
class Correction:
    """Measured over predicted, as a factor on speed, and what it rests on."""

    factor: float
    log_sd: float
    basis: Basis
    source: str
    as_of: str | None


def usable(record: ProbeRecord) -> bool:
    """Say whether a record's speeds may be used: finished or broken off, but not failed."""
    return record.status in ("complete", "partial") and record.kind in ("device", "shape")


def speeds_of(record: ProbeRecord, kind: str) -> list[Speed]:
    """Return a record's known single-stream speeds of one kind."""
    return [
        figure
        for figure in record.figures
        if isinstance(figure, Speed) and figure.kind == kind and figure.value and figure.axes.concurrency == 1
    ]


def steady(record: ProbeRecord, speed: Speed) -> bool:
    """Say whether a speed may stand for the device: not a single sample, not taken while others used the machine."""
    for row in record.settings.get("metrics") or ():
        same = row.get("kind") == speed.kind and row.get("context_tokens") == speed.axes.context_tokens
        if same and row.get("prompt_tokens") == speed.axes.prompt_tokens:
            return not (row.get("busy_machine") or row.get("single"))
    return True


def own_log_sd(speed: Speed, z: float) -> float:
    """Return a measured speed's scatter from its own interval of ±z standard deviations."""
    if speed.low is None or speed.high is None or speed.low <= 0:
        return SINGLE_LOG_SD
    return max(math.log(speed.high / speed.low) / (2 * z), 0.01)


def same_run(record: ProbeRecord, model: str, quant: str, engine: str) -> bool:
    """Say whether a record is about this model, quantisation and engine."""
    return (
        fold(record.model.id) == fold(model)
        and (record.model.quant is None or fold(record.model.quant) == fold(quant))
        and engine_name(record.engine.name) == engine_name(engine)
    )


def engine_name(name: str) -> str:
    """Return an engine's name without the binding that ran it."""
    folded = fold(name).replace(".", "").replace("-", "")
    return "llamacpp" if folded.startswith("llamacpp") else folded


def points(records: Sequence[ProbeRecord], kind: str, model: str, quant: str, engine: str) -> list[Point]:
    """Return measured points of one kind by depth; newest record first where a depth occurs twice."""
    found: dict[float, Point] = {}
    runs = [record for record in records if usable(record) and same_run(record, model, quant, engine)]
    sound = any(steady(record, speed) for record in runs for speed in speeds_of(record, kind))
    for record in runs:
        for speed in speeds_of(record, kind):
            # A disturbed speed only counts where there is no sound one.
            if not sound or steady(record, speed):
                depth = float(speed.axes.context_tokens if kind != "prefill" else speed.axes.prompt_tokens or 0)
                found.setdefault(depth, Point(depth, speed, record))
    return sorted(found.values(), key=lambda point: point.depth)


def at_depth(found: Sequence[Point], depth: float) -> tuple[float, Point] | None:
    """Return (measured speed, nearest point) at a probed depth or between two probed ones, else None.

    Between points the time per token is interpolated linearly: attention's share grows linearly with depth.
    """
    near = min(found, key=lambda point: abs(point.depth - depth), default=None)
    if near is None:
        return None
    if abs(near.depth - depth) <= max(SAME_DEPTH * near.depth, 64.0):
        return near.speed.number, near
    below = [point for point in found if point.depth < depth]
    above = [point for point in found if point.depth > depth]
    if not below or not above:
        return None
    first, second = below[-1], above[0]
    share = (depth - first.depth) / (second.depth - first.depth)
    seconds = (1 - share) / first.speed.number + share / second.speed.number
    return 1.0 / seconds, near


def pooled(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the geometric mean of measured/predicted ratios and their scatter as a log sd."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = sum(logs) / len(logs)
    if len(logs) < 2:
        return math.exp(mean), FLOOR_LOG_SD
    spread = math.sqrt(sum((value - mean) ** 2 for value in logs) / (len(logs) - 1))
    return math.exp(mean), max(spread, FLOOR_LOG_SD)
