"""Probe records for tests."""

from __future__ import annotations

from typing import Any

from planner.domain.probe import ProbeRecord


def record(probe_id: str = "device-1", started: str = "2026-12-01T10:00:00Z", **changes: Any) -> ProbeRecord:
    axes = {"model": "m-7b", "quant": "q4_k_m", "engine": "llama.cpp", "hardware": "local", "context_tokens": 512}
    speed = {
        "value": 12.5, "low": 12.0, "high": 13.0, "unit": "tok/s", "basis": "measured", "source": "probe",
        "as_of": "2026-12-01", "kind": "decode_per_request", "axes": axes,
    }  # fmt: skip
    bandwidth = {"value": 38.0, "unit": "GB/s", "basis": "measured", "source": "probe", "as_of": "2026-12-01"}
    values: dict[str, Any] = {
        "schema": "planner.probe/1", "id": probe_id, "kind": "device", "started_at": started,
        "finished_at": "2026-12-01T10:01:00Z", "status": "complete", "ended_by": "precision", "tool_version": "0.1.0",
        "environment": {"cpu": "X"}, "hardware": "local", "model": {"id": "m-7b", "quant": "q4_k_m"},
        "engine": {"name": "llama.cpp", "build": "b1"}, "figures": [speed, bandwidth],
        "samples": [{"phase": "decode", "ms": 80.0}, {"phase": "decode", "ms": float("nan")}],
    }  # fmt: skip
    return ProbeRecord.model_validate({**values, **changes})
