"""How many people a machine serves within targets, and how much it gets done when nobody waits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from planner.domain.figures import Axes, Basis, Figure, Speed, SpeedKind, unknown, unknown_speed
from planner.domain.probe import ProbeRecord
from planner.performance import load, memory, probed
from planner.performance.calibration import Correction
from planner.performance.estimate import Question, correction, interval
from planner.performance.prepared import Prepared, prepare
from planner.performance.setup import Setup

PLANNED_LOAD = 0.9
"""Highest share of the saturated rate that is planned with when only memory limits the batch."""
SEARCH_STEPS = 12
IDLE = 1e-3
"""A mean batch this small means one call at a time."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Calls of one model in the busiest hour."""

    calls_per_second: float
    prompt_tokens: float
    cached_prefix_tokens: float = 0.0
    output_tokens: float = 300.0
    context_tokens: float | None = None
    """Tokens to keep room for per sequence, such as the longest call; None = prompt and output."""


class Quick(NamedTuple):
    """`serve` as bare numbers, for screening thousands of setups."""

    feasible: bool
    reason: str
    load: float
    """Machines' worth of work; inf when one call already misses the targets."""
    capacity_per_s: float
    """Calls per second of one machine within the targets."""
    batch: float
    """Mean sequences in flight on each machine at the traffic asked for."""
    slots: float
    """Sequences that memory and engine allow."""
    target_batch: float
    """Sequences in flight at which the targets still hold."""
    decode_tok_s: float
    prefill_tok_s: float
    ttft_p95_s: float


@dataclass(frozen=True)
class Served:
    """One setup under one traffic, with labels."""

    feasible: bool
    reason: str
    machines: int
    load: float
    utilisation: Figure
    concurrency_at_peak: float
    max_concurrency: Figure
    decode: Speed
    prefill: Speed
    ttft_p95: Figure
    max_context_tokens: int | None
    """Longest sequence that fits alone beside the weights; None when the device's memory is not stated."""


@dataclass(frozen=True)
class BatchRate:
    """Throughput when nobody waits."""

    documents_per_hour: Figure
    tokens_per_hour: Figure
    """Input and output tokens together."""
    concurrency: int
    aggregate: Speed
    """Output tokens per second of all documents together."""


def _room_for(prepared: Prepared, tokens: float) -> float:
    """Return slots for sequences of so many tokens: memory, the engine's limit, one without batching."""
    slots = memory.max_sequences(prepared, tokens)
    if not prepared.setup.engine.continuous_batching:
        return min(slots, 1.0)
    return min(slots, float(prepared.setup.engine.max_batch))


def _scaled(work: load.Work, decode_factor: float, prefill_factor: float) -> load.Work:
    """Return the work with a measured device's corrections on speed applied."""
    if decode_factor == 1.0 and prefill_factor == 1.0:
        return work
    shape = replace(work.shape, scale=work.shape.scale / decode_factor)
    return replace(work, shape=shape, prompt_s=work.prompt_s / prefill_factor)


def _search(work: load.Work, slots: float, decode: float | None, ttft: float | None) -> float:
    """Return the largest mean batch within the targets, 0 when not even one call alone meets them."""
    longest = 1.0 / decode if decode else math.inf
    latest = ttft or math.inf

    def good(batch: float) -> bool:
        state = work.at(batch, slots)
        return state.tpot_s <= longest and state.ttft_p95_s <= latest

    if not good(IDLE):
        return 0.0
    top = slots * PLANNED_LOAD
    if good(top):
        return top
    low, high = IDLE, top
    for _ in range(SEARCH_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def _why_not(work: load.Work, slots: float, decode: float | None, ttft: float | None) -> str:
    speed, first = 1.0 / work.step_s(1.0), work.at(IDLE, slots).ttft_p95_s
    if decode and speed < decode:
        return f"decodes {speed:.0f} tok/s for one request alone, {decode:g} wanted"
    if ttft and first > ttft:
        return f"first token after {first:.3g} s even when idle, {ttft:g} s wanted"
    return "misses the targets"


def _work(prepared: Prepared, traffic: Traffic) -> load.Work:
    return load.work(
        prepared, prompt_tokens=traffic.prompt_tokens, cached_tokens=traffic.cached_prefix_tokens,
        output_tokens=traffic.output_tokens, context_tokens=0.0,
    )  # fmt: skip


def _quick(work: load.Work, traffic: Traffic, slots: float, decode: float | None, ttft: float | None) -> Quick:
    prefill = work.new_tokens / work.prompt_s
    single = 1.0 / work.step_s(1.0)
    if slots < 1.0:
        need = traffic.context_tokens or traffic.prompt_tokens + traffic.output_tokens
        reason = f"does not fit: no room for one sequence of {need:,.0f} tokens beside the weights"
        return Quick(False, reason, math.inf, 0.0, 0.0, slots, 0.0, single, prefill, work.at(IDLE, 1.0).ttft_p95_s)
    best = _search(work, slots, decode, ttft)
    if best <= 0.0:
        first = work.at(IDLE, slots).ttft_p95_s
        reason = _why_not(work, slots, decode, ttft)
        top = work.at(slots * PLANNED_LOAD, slots).rate
        machines = traffic.calls_per_second / top
        return Quick(False, reason, machines, 0.0, 0.0, slots, 0.0, single, prefill, first)
    capacity = work.at(best, slots).rate
    machines = traffic.calls_per_second / capacity
    each = traffic.calls_per_second / max(math.ceil(machines), 1)
    batch = work.batch_at(each, best, slots)
    state = work.at(max(batch, IDLE), slots)
    return Quick(True, "", machines, capacity, batch, slots, best, 1.0 / state.tpot_s, prefill, state.ttft_p95_s)


def serve_fast(
    setup: Setup, traffic: Traffic, *, target_decode_tok_s: float | None, target_ttft_s: float | None
) -> Quick:
    """Return `serve` as bare numbers, without measurements of this machine: for screening.

    Raises NoAnswerError when the model's size or the device's bandwidth is unknown.
    """
    prepared = prepare(setup)
    tokens = traffic.context_tokens or traffic.prompt_tokens + traffic.output_tokens
    return _quick(
        _work(prepared, traffic), traffic, _room_for(prepared, tokens), target_decode_tok_s, target_ttft_s
    )


def serve(
    setup: Setup,
    traffic: Traffic,
    *,
    target_decode_tok_s: float | None,
    target_ttft_s: float | None,
    probes: Sequence[ProbeRecord] = (),
) -> Served:
    """Return what one setup does under a traffic: machines needed, load, speeds at that load.

    Formula: the largest batch at which decode per request and the 95th percentile of TTFT hold gives a machine's
    capacity 1/(prefill + output·t(B)/B); load = calls per second / capacity. An infeasible setup keeps the speeds
    of a single call and says why. Raises NoAnswerError when nothing can be computed.
    """
    prepared = prepare(probed.with_bandwidth(setup, probes))
    work = _work(prepared, traffic)
    prompt, output, cached = traffic.prompt_tokens, traffic.output_tokens, traffic.cached_prefix_tokens
    ask = Question(work.context_tokens, prompt, output, 1, cached, None)
    decode_fix = correction(prepared, "decode_per_request", ask, 1.0 / work.step_s(1.0), probes)
    prompt_ask = replace(ask, prompt_tokens=work.new_tokens)
    prefill_fix = correction(prepared, "prefill", prompt_ask, work.new_tokens / work.prompt_s, probes)
    scaled = _scaled(work, decode_fix.factor, prefill_fix.factor)
    tokens = traffic.context_tokens or traffic.prompt_tokens + traffic.output_tokens
    slots = _room_for(prepared, tokens)
    q = _quick(scaled, traffic, slots, target_decode_tok_s, target_ttft_s)
    machines = max(math.ceil(q.load), 1) if math.isfinite(q.load) else 0
    axes = _axes(setup, traffic, max(round(q.batch), 1), work.context_tokens)
    # A probe measured a single stream: under load its figure is a scaled one.
    alone = q.batch <= 1.0
    decode_basis = decode_fix.basis if alone or decode_fix.basis != Basis.MEASURED else Basis.CALIBRATED
    prefill_axes = _axes(setup, traffic, 1, 0.0)
    decode = _speed("decode_per_request", q.decode_tok_s, replace(decode_fix, basis=decode_basis), axes)
    prefill = _speed("prefill", q.prefill_tok_s, prefill_fix, prefill_axes)
    ttft_sd = math.hypot(prefill_fix.log_sd, 0.3 if q.batch > 1 else 0.0)
    low, high = interval(q.ttft_p95_s, ttft_sd)
    basis = prefill_fix.basis if prefill_fix.basis != Basis.MEASURED else Basis.CALIBRATED
    source = f"queueing approximation on {prefill_fix.source}"
    first = Figure(
        value=q.ttft_p95_s, low=low, high=high, unit="s", basis=basis, source=source, as_of=prefill_fix.as_of
    )
    return Served(
        feasible=q.feasible, reason=q.reason, machines=machines, load=q.load,
        utilisation=_utilisation(q.load, machines, decode_fix.log_sd, decode_basis, decode_fix.source),
        concurrency_at_peak=q.batch * max(machines, 1),
        max_concurrency=_most(q, decode_fix.log_sd, decode_basis, decode_fix.source),
        decode=decode, prefill=prefill, ttft_p95=first, max_context_tokens=longest_context(prepared),
    )  # fmt: skip


def longest_context(prepared: Prepared) -> int | None:
    """Return the longest single sequence that fits beside the weights; None when memory is not stated."""
    space = memory.room(prepared).device_room
    if math.isinf(space):
        return None
    low, high = 0, 1 << 27
    while low < high:
        middle = (low + high + 1) // 2
        fits = memory.max_sequences(prepared, middle) >= 1.0
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _axes(setup: Setup, traffic: Traffic, concurrency: int, context: float) -> Axes:
    return Axes(
        context_tokens=round(context), prompt_tokens=round(traffic.prompt_tokens),
        output_tokens=round(traffic.output_tokens), concurrency=concurrency,
        cached_prefix_tokens=round(traffic.cached_prefix_tokens), model=setup.model.id, quant=setup.quant,
        kv_quant=setup.kv_quant, engine=setup.engine.id, engine_build=setup.engine_version,
        speculative=setup.speculative, hardware=setup.hardware.id, count=setup.count, parallel=setup.split,
    )  # fmt: skip


def _speed(kind: SpeedKind, value: float, label: Correction, axes: Axes) -> Speed:
    low, high = interval(value, label.log_sd)
    return Speed(
        value=value, low=low, high=high, kind=kind, axes=axes, basis=label.basis, source=label.source,
        as_of=label.as_of,
    )  # fmt: skip


def _utilisation(machine_load: float, machines: int, sd: float, basis: Basis, source: str) -> Figure:
    if not machines:
        return unknown("share of capacity", basis, "one call alone misses the targets", source)
    value = machine_load / machines
    low, high = interval(value, sd)
    return Figure(value=value, low=low, high=high, unit="share of capacity", basis=basis, source=source)


def _most(q: Quick, sd: float, basis: Basis, source: str) -> Figure:
    if q.slots < 1.0:
        return unknown("requests", basis, q.reason, source)
    if q.target_batch <= 0.0:
        return Figure(value=0.0, unit="requests", basis=basis, source=source)
    low, high = interval(q.target_batch, sd)
    high = min(high, q.slots)
    return Figure(value=q.target_batch, low=low, high=high, unit="requests", basis=basis, source=source)


def batch(
    setup: Setup,
    *,
    input_tokens: float,
    output_tokens: float,
    cached_prefix_tokens: float = 0.0,
    probes: Sequence[ProbeRecord] = (),
) -> BatchRate:
    """Return documents and tokens per hour at the batch with the most throughput.

    Formula: documents/h = 3600 / (prefill + output·t(B)/B) at the best B that memory and engine allow. A setup
    without room for one document gets unknown figures with the reason.
    """
    prepared = prepare(probed.with_bandwidth(setup, probes))
    traffic = Traffic(0.0, input_tokens, cached_prefix_tokens, output_tokens)
    work = _work(prepared, traffic)
    slots = math.floor(_room_for(prepared, input_tokens + output_tokens))
    ask = Question(work.context_tokens, input_tokens, output_tokens, 1, cached_prefix_tokens, None)
    fix = correction(prepared, "decode_per_request", ask, 1.0 / work.step_s(1.0), probes)
    prompt_ask = replace(ask, prompt_tokens=work.new_tokens)
    prompt_fix = correction(prepared, "prefill", prompt_ask, work.new_tokens / work.prompt_s, probes)
    basis = Basis.CALIBRATED if Basis.MEASURED in (fix.basis, prompt_fix.basis) else fix.basis
    if slots < 1:
        reason = f"no room for one document of {input_tokens + output_tokens:,.0f} tokens beside the weights"
        none = unknown("documents/h", basis, reason, fix.source)
        speed = unknown_speed("aggregate_output", _axes(setup, traffic, 1, 0.0), basis, reason, fix.source)
        return BatchRate(none, unknown("tokens/h", basis, reason, fix.source), 0, speed)
    scaled = _scaled(work, fix.factor, prompt_fix.factor)
    sizes = sorted({1, slots, *(min(2**power, slots) for power in range(slots.bit_length()))})
    best = max(sizes, key=scaled.closed_rate)
    rate = scaled.closed_rate(best)
    sd = math.hypot(max(fix.log_sd, prompt_fix.log_sd), 0.1)

    def figure(value: float, unit: str) -> Figure:
        low, high = interval(value, sd)
        return Figure(value=value, low=low, high=high, unit=unit, basis=basis, source=fix.source, as_of=fix.as_of)

    axes = _axes(setup, traffic, best, 0.0)
    speed = _speed("aggregate_output", rate * output_tokens, replace(fix, basis=basis, log_sd=sd), axes)
    return BatchRate(
        figure(rate * 3600.0, "documents/h"), figure(rate * 3600.0 * (input_tokens + output_tokens), "tokens/h"),
        best, speed,
    )  # fmt: skip
