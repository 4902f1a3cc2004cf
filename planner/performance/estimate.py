"""Answers of every kind, with labels: speeds, times, memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from planner.domain.errors import InputError, NoAnswerError, nearest
from planner.domain.figures import Axes, Basis, Figure, Speed, SpeedKind
from planner.domain.probe import ProbeRecord
from planner.performance import calibration, load, probed, speculation
from planner.performance import memory as memories
from planner.performance.calibration import Correction
from planner.performance.classes import usable_memory_share
from planner.performance.prepared import Prepared, offloaded, prepare
from planner.performance.setup import Setup

Kind = Literal[
    "decode_per_request", "prefill", "aggregate_output", "aggregate_total", "ttft", "tpot",
    "weights", "kv", "memory_total", "kv_capacity", "fits",
]  # fmt: skip
KINDS: tuple[str, ...] = get_args(Kind)
ALIASES = {"decode": "decode_per_request", "aggregate": "aggregate_output"}
Z80 = 1.2816
"""A normal variable lies within ± this many standard deviations with 80 % probability."""
DEFAULT_PROMPT = 512


@dataclass(frozen=True, slots=True)
class Question:
    """The axes of a question, completed."""

    context_tokens: float
    prompt_tokens: float | None
    output_tokens: float | None
    concurrency: float
    cached_prefix_tokens: float
    request_rate: float | None


def kind_of(name: str) -> str:
    """Return the full name of a kind or alias; raises InputError naming the nearest."""
    kind = ALIASES.get(name, name)
    if kind not in KINDS:
        hint = nearest(name, [*KINDS, *ALIASES]) or f"Known: {', '.join(KINDS)}."
        raise InputError(f"Unknown kind {name!r}.", hint)
    return kind


def interval(value: float, log_sd: float) -> tuple[float, float]:
    """Return the 80 % interval of a value whose logarithm scatters with `log_sd`."""
    factor = math.exp(Z80 * log_sd)
    return value / factor, value * factor


def placed(setup: Setup) -> Setup:
    """Return the setup as the engine would load it: layers move to the host where the devices are too small.

    Raises NoAnswerError when the weights don't fit and the engine cannot offload.
    """
    if setup.hardware.kind == "cpu" or setup.hardware.memory_gb is None or setup.gpu_layers is not None:
        return setup
    prepared = prepare(setup)
    room = memories.room(prepared)
    if room.device_room >= 0:
        return setup
    label = setup.hardware.memory_gb * setup.count * 1024.0**3
    if prepared.device_weight_bytes <= label * usable_memory_share(setup.hardware) * 0.97:
        return setup
    if not setup.engine.cpu_offload or setup.hardware.unified_memory:
        need = prepared.weight_bytes / 1024**3
        raise NoAnswerError(
            f"{setup.model.id} in {setup.quant} needs {need:.0f} GiB for weights alone; {setup.count} × "
            f"{setup.hardware.id} have {setup.hardware.memory_gb * setup.count:.0f} GiB and {setup.engine.id} does not "
            "offload.",
            "Use more devices or fewer bits per weight.",
        )
    return offloaded(setup, room.available - room.overhead, prepared)


def estimate(
    setup: Setup,
    kind: str,
    *,
    context_tokens: float = 0,
    prompt_tokens: float | None = None,
    output_tokens: float | None = None,
    concurrency: float = 1,
    cached_prefix_tokens: float = 0,
    request_rate: float | None = None,
    probes: Sequence[ProbeRecord] = (),
) -> Figure | Speed | bool:
    """Return the figure of one kind: a Speed in tok/s, a Figure in s, GiB or tokens, or whether it fits.

    Raises NoAnswerError with the reason when it can't be estimated, InputError for an unknown kind or a bad axis.
    """
    name = kind_of(kind)
    if concurrency < 1 or context_tokens < 0 or (prompt_tokens or 0) < 0 or (output_tokens or 0) < 0:
        raise InputError("context, prompt and output must not be negative, concurrency must be 1 or more.")
    if name in ("weights", "kv", "memory_total", "kv_capacity", "fits"):
        return _memory(setup, name, context_tokens + (prompt_tokens or 0) + (output_tokens or 0), concurrency)
    prepared = prepare(placed(probed.with_bandwidth(setup, probes)))
    ask = Question(context_tokens, prompt_tokens, output_tokens, concurrency, cached_prefix_tokens, request_rate)
    if name == "prefill":
        return _prefill(prepared, ask, probes)
    if name == "ttft":
        return _ttft(prepared, ask, probes)
    return _decode(prepared, name, ask, probes)


def _memory(setup: Setup, name: str, context: float, concurrency: float) -> Figure | bool:
    if name == "weights":
        return memories.weights_figure(setup)
    if name == "kv":
        return memories.kv_figure(setup, context_tokens=context, concurrency=concurrency)
    whole = memories.memory(setup, context_tokens=context, concurrency=concurrency)
    if name == "fits":
        return whole.fits
    return whole.total if name == "memory_total" else whole.kv_capacity_tokens


def axes_of(setup: Setup, ask: Question, context: float | None = None) -> Axes:
    """Return a question's axes as they are shown beside the figure."""
    return Axes(
        context_tokens=round(ask.context_tokens if context is None else context),
        prompt_tokens=None if ask.prompt_tokens is None else round(ask.prompt_tokens),
        output_tokens=None if ask.output_tokens is None else round(ask.output_tokens),
        concurrency=max(round(ask.concurrency), 1), cached_prefix_tokens=round(ask.cached_prefix_tokens),
        model=setup.model.id, quant=setup.quant, kv_quant=setup.kv_quant, engine=setup.engine.id,
        engine_build=setup.engine_version, speculative=setup.speculative, hardware=setup.hardware.id,
        count=setup.count, parallel=setup.split,
    )  # fmt: skip


def correction(
    prepared: Prepared, kind: str, ask: Question, predicted: float, probes: Sequence[ProbeRecord]
) -> Correction:
    """Return what measurements on this device say about a predicted single-stream speed.

    The same model, quantisation and engine at a probed depth: the measured value. Other depths or other models: the
    geometric mean of measured/predicted. No record of this device: the model as it is.
    """
    setup = prepared.setup
    found = prepared.prefill_found if kind == "prefill" else prepared.decode_found
    here = [r for r in probes if r.hardware == setup.hardware.id and calibration.usable(r)] if probes else []
    plain = Correction(1.0, found.log_sd, Basis.ESTIMATED, found.source, found.as_of)
    if not here or setup.count != 1:
        return plain
    points = calibration.points(here, kind, setup.model.id, setup.quant, setup.engine.id)
    axis = (ask.prompt_tokens or DEFAULT_PROMPT) if kind == "prefill" else ask.context_tokens
    if points and predicted > 0:
        hit = calibration.at_depth(points, axis)
        if hit is not None:
            measured, near = hit
            sd = calibration.own_log_sd(near.speed, Z80)
            source, as_of = f"probe {near.record.id}", near.record.finished_at
            return Correction(measured / predicted, sd, Basis.MEASURED, source, as_of)
        ratios = [point.speed.number / _single(prepared, kind, point.depth) for point in points]
        factor, sd = calibration.pooled(ratios)
        record = points[0].record
        sd = min(max(sd, 0.07), found.log_sd)
        text = f"{found.source}; scaled ×{factor:.2f} by probe {record.id} at other depths"
        return Correction(factor, sd, Basis.CALIBRATED, text, record.finished_at)
    return _other_models(prepared, kind, here, plain)


def _single(prepared: Prepared, kind: str, depth: float) -> float:
    if kind == "prefill":
        return depth / prepared.prompt_s(depth)
    return 1.0 / prepared.step_s(depth, 1.0)


def _other_models(prepared: Prepared, kind: str, here: Sequence[ProbeRecord], plain: Correction) -> Correction:
    """Scale by what the probes' own models showed, predicted from the facts stored with each record."""
    ratios = []
    used = []
    for record in here:
        predicted = probed.ratios(record, prepared.setup, kind)
        ratios += predicted
        used += [record] if predicted else []
    if not ratios:
        return plain
    factor, sd = calibration.pooled(ratios)
    sd = min(math.hypot(sd, calibration.MODEL_TRANSFER_SD), plain.log_sd)
    text = f"{plain.source}; scaled ×{factor:.2f} by probe {', '.join(record.id for record in used)} of another model"
    return Correction(factor, sd, Basis.CALIBRATED, text, used[0].finished_at)


def _work(prepared: Prepared, ask: Question) -> load.Work | None:
    if ask.prompt_tokens is None and ask.output_tokens is None:
        return None
    return load.work(
        prepared, prompt_tokens=ask.prompt_tokens or 0, cached_tokens=ask.cached_prefix_tokens,
        output_tokens=ask.output_tokens or 1, context_tokens=ask.context_tokens,
    )  # fmt: skip


def _limit(prepared: Prepared, ask: Question) -> float:
    tokens = ask.context_tokens + (ask.prompt_tokens or 0) + (ask.output_tokens or 0)
    room = memories.max_sequences(prepared, max(tokens, 1.0))
    return max(min(room, float(prepared.setup.engine.max_batch)), 1.0)


def _decode(prepared: Prepared, kind: str, ask: Question, probes: Sequence[ProbeRecord]) -> Figure | Speed:
    setup = prepared.setup
    work = _work(prepared, ask)
    batch = ask.concurrency
    if ask.request_rate and work is not None:
        limit = _limit(prepared, ask)
        batch = max(work.batch_at(ask.request_rate, limit, limit), 1.0)
    context = ask.context_tokens if work is None else work.context_tokens
    gain, gain_sd = speculation.gain(setup, batch)
    single = gain / prepared.step_s(context, 1.0)
    fix = correction(prepared, "decode_per_request", replace(ask, context_tokens=context), single, probes)
    sd = math.hypot(fix.log_sd, gain_sd)
    basis = fix.basis if batch <= 1 and work is None else _at_most_calibrated(fix.basis)
    step = prepared.step_s(context, batch) / fix.factor / gain
    others = 0.0
    if work is not None and batch > 1:
        others = (batch - 1) * work.prompt_s / work.output_tokens if prepared.setup.engine.continuous_batching else 0.0
    tpot = step + others
    if kind == "tpot":
        low, high = interval(tpot, sd)
        return Figure(value=tpot, low=low, high=high, unit="s", basis=basis, source=fix.source, as_of=fix.as_of)
    value = 1.0 / tpot
    if kind != "decode_per_request":
        prompt_s = work.prompt_s if work is not None else 0.0
        output = work.output_tokens if work is not None else 1.0
        value = batch * output / (output * step + batch * prompt_s)
        if ask.request_rate and work is not None:
            value = min(value, ask.request_rate * output)
        if kind == "aggregate_total":
            if ask.prompt_tokens is None or ask.output_tokens is None:
                need = "Total tokens per second need prompt and output lengths."
                raise NoAnswerError(need, "Give --prompt and --output.")
            value *= (ask.prompt_tokens + output) / output
        sd = math.hypot(sd, 0.05)
    return _speed(prepared, kind, ask, value, sd, basis, fix)


def _at_most_calibrated(basis: Basis) -> Basis:
    return Basis.CALIBRATED if basis == Basis.MEASURED else basis


def _speed(
    prepared: Prepared, kind: str, ask: Question, value: float, sd: float, basis: Basis, fix: Correction
) -> Speed:
    low, high = interval(value, sd)
    speed_kind: SpeedKind = kind  # type: ignore[assignment]
    return Speed(
        value=value, low=low, high=high, kind=speed_kind, axes=axes_of(prepared.setup, ask), basis=basis,
        source=fix.source, as_of=fix.as_of,
    )  # fmt: skip


def _prefill(prepared: Prepared, ask: Question, probes: Sequence[ProbeRecord]) -> Speed:
    prompt = ask.prompt_tokens or DEFAULT_PROMPT
    new = max(prompt - ask.cached_prefix_tokens, 1.0)
    value = new / prepared.prompt_s(new, ask.context_tokens + ask.cached_prefix_tokens)
    fix = correction(prepared, "prefill", replace(ask, prompt_tokens=new), value, probes)
    basis = fix.basis if ask.context_tokens == 0 else _at_most_calibrated(fix.basis)
    return _speed(prepared, "prefill", replace(ask, prompt_tokens=prompt), value * fix.factor, fix.log_sd, basis, fix)


def _ttft(prepared: Prepared, ask: Question, probes: Sequence[ProbeRecord]) -> Figure:
    prompt = ask.prompt_tokens if ask.prompt_tokens is not None else DEFAULT_PROMPT
    full = replace(ask, prompt_tokens=prompt, output_tokens=ask.output_tokens or 256)
    work = _work(prepared, full)
    assert work is not None
    alone = replace(full, prompt_tokens=work.new_tokens)
    fix = correction(prepared, "prefill", alone, work.new_tokens / work.prompt_s, probes)
    fixed = replace(work, prompt_s=work.prompt_s / fix.factor)
    limit = _limit(prepared, full)
    batch = ask.concurrency
    if ask.request_rate:
        batch = fixed.batch_at(ask.request_rate, limit, limit)
        seconds = fixed.at(batch, limit).ttft_s
    else:
        seconds = fixed.closed_ttft_s(batch)
    sd = fix.log_sd if ask.concurrency <= 1 else math.hypot(fix.log_sd, 0.3)
    low, high = interval(seconds, sd)
    basis = _at_most_calibrated(fix.basis)
    return Figure(value=seconds, low=low, high=high, unit="s", basis=basis, source=fix.source, as_of=fix.as_of)
