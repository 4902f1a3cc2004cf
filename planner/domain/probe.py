"""Records of measurements made on this machine or against an endpoint."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from planner.domain.base import Frozen
from planner.domain.figures import Axes, Figure, Speed

ProbeKind = Literal["device", "shape", "endpoint", "machine"]


MeasureKind = Literal[
    "ttft",
    "tpot",
    "memory_total",
    "load_time",
    "memory_read_bandwidth",
    "memory_copy_bandwidth",
]


class Measure(Figure):
    """A measured figure that is no speed in tokens: a time, a memory size or a bandwidth, and its conditions."""

    kind: MeasureKind
    axes: Axes | None = None
    threads: int | None = None
    """Threads that shared the work of a bandwidth measurement."""


class ProbeModel(Frozen):
    """What was run: identity by content, not by file name."""

    id: str
    hash: str | None = None
    file: str | None = None
    weights: Literal["real", "synthetic"] = "real"
    quant: str | None = None
    facts: dict[str, Any] = {}


class ProbeEngine(Frozen):
    """Engine and build that ran it."""

    name: str
    build: str | None = None
    flags: dict[str, Any] = {}


class ProbeRecord(Frozen):
    """One finished or broken-off probe, with every raw sample."""

    schema_: Literal["planner.probe/1"] = Field(default="planner.probe/1", alias="schema")
    id: str
    kind: ProbeKind
    started_at: str
    finished_at: str
    status: Literal["complete", "partial", "failed", "cancelled"]
    ended_by: Literal["precision", "time_cap", "user", "error", "budget"]
    tool_version: str
    environment: dict[str, Any]
    hardware: str
    """`local` for this machine, the base URL's host for an endpoint."""
    model: ProbeModel
    engine: ProbeEngine
    settings: dict[str, Any] = {}
    figures: tuple[Speed | Measure | Figure, ...] = ()
    samples: tuple[dict[str, Any], ...] = ()
    errors: tuple[str, ...] = ()
