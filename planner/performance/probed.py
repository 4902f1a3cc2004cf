"""Probe records as predictions to compare with: the probed model's shape from the facts stored beside the figures."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.domain.errors import PlannerError
from planner.domain.hardware import Hardware
from planner.domain.model import ModelSpec
from planner.domain.probe import ProbeRecord
from planner.domain.quant import parse_quant
from planner.domain.units import BYTES_PER_GIB
from planner.performance.calibration import engine_name, speeds_of, steady, usable
from planner.performance.prepared import prepare
from planner.performance.setup import Setup

STAND_IN_GB_S = 50.0
"""Bandwidth that a machine of unknown bandwidth is computed with before a probe's ratio corrects it."""
_WITH_BANDWIDTH: dict[int, tuple[Hardware, Hardware]] = {}
_MODELS: dict[str, ModelSpec | None] = {}


def with_bandwidth(setup: Setup, probes: Sequence[ProbeRecord]) -> Setup:
    """Return the setup with a stand-in bandwidth where it is unknown but a probe will correct the result."""
    hardware = setup.hardware
    if hardware.memory_bandwidth_gb_s or not any(r.hardware == hardware.id and usable(r) for r in probes):
        return setup
    known = _WITH_BANDWIDTH.get(id(hardware))
    if known is None:
        changed = hardware.model_copy(update={"memory_bandwidth_gb_s": STAND_IN_GB_S})
        known = _WITH_BANDWIDTH[id(hardware)] = (hardware, changed)
    return replace(setup, hardware=known[1])


def model_of(record: ProbeRecord) -> ModelSpec | None:
    """Return the probed model's shape from its file's facts, or None when they say too little."""
    if record.id not in _MODELS:
        _MODELS[record.id] = _model(record.model.facts, record)
    return _MODELS[record.id]


def _model(facts: Mapping[str, Any], record: ProbeRecord) -> ModelSpec | None:
    layers, hidden, kv_heads = facts.get("layers"), facts.get("hidden_size"), facts.get("kv_heads")
    if not layers or not hidden or not kv_heads or not facts.get("params"):
        return None
    experts = facts.get("num_experts") or None
    sliding, linear = facts.get("sliding_layers") or 0, facts.get("linear_layers") or 0
    active = facts.get("active_params") or facts["params"]
    with contextlib.suppress(ValueError, TypeError):
        return ModelSpec(
            id=record.model.id, params_total_b=facts["params"] / 1e9, params_active_b=active / 1e9, layers=layers,
            hidden_size=hidden, intermediate_size=facts.get("intermediate_size"),
            moe_intermediate_size=facts.get("moe_intermediate_size"), attention_heads=facts.get("attention_heads"),
            kv_heads=kv_heads, head_dim=facts.get("head_dim"), vocab_size=facts.get("vocab_size"),
            full_layers=layers - sliding - linear, sliding_layers=sliding, linear_layers=linear,
            sliding_window=facts.get("sliding_window"), kv_lora_rank=facts.get("kv_lora_rank"),
            qk_rope_head_dim=facts.get("qk_rope_head_dim"), num_experts=experts,
            experts_per_token=facts.get("experts_per_token"), shared_experts=facts.get("shared_experts"),
            dense_layers=facts.get("dense_layers") or 0, tied_embeddings=bool(facts.get("tied_embeddings")),
            source=f"probe {record.id}", as_of=record.finished_at[:10],
        )  # fmt: skip
    return None


def ratios(record: ProbeRecord, setup: Setup, kind: str) -> list[float]:
    """Return measured/predicted speed for every figure of one kind in a record of the same engine and device."""
    model = model_of(record)
    speeds = [speed for speed in speeds_of(record, kind) if steady(record, speed)]
    if model is None or not speeds or engine_name(record.engine.name) != engine_name(setup.engine.id):
        return []
    try:
        quant = parse_quant(str(record.model.quant or record.model.facts.get("quant") or "")).name
        size = record.model.facts.get("tensor_bytes")
        probe_setup = Setup(
            setup.hardware, model, setup.engine, quant, file_gib=size / BYTES_PER_GIB if size else None
        )
        prepared = prepare(probe_setup)
    except PlannerError:
        return []
    found = []
    for speed in speeds:
        axes = speed.axes
        if kind == "prefill":
            tokens = float(axes.prompt_tokens or 0)
            if tokens:
                found.append(speed.number * prepared.prompt_s(tokens, axes.context_tokens) / tokens)
        else:
            found.append(speed.number * prepared.step_s(axes.context_tokens, 1.0))
    return found
