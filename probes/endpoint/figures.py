"""Figures out of requests: times, decode and prefill speeds, aggregate output. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner.domain.figures import Axes, Basis, Figure, Speed, SpeedKind, unknown_speed
from planner.domain.probe import Measure
from probes.endpoint.sweep import Request
from probes.statistics import summarise

MIN_WINDOW_S = 0.5
MIN_WINDOW_TOKENS = 16


@dataclass(frozen=True)
class Label:
    """What all figures of a probe share."""

    probe_id: str
    as_of: str
    axes: dict[str, Any]
    """model, quant, engine, hardware."""

    def axes_at(self, **conditions: Any) -> Axes:
        """Return the axes under these conditions."""
        return Axes(**self.axes, **conditions)

    def source(self, what: str) -> str:
        """Return the source text."""
        return f"endpoint probe {self.probe_id}: {what}"


def figures(requests: Sequence[Request], label: Label, output_tokens: int) -> list[Figure]:
    """Return every figure that the requests can give; what they can't is unknown, with the reason."""
    found: list[Figure] = []
    groups: dict[tuple[int, int], list[Request]] = {}
    for request in requests:
        groups.setdefault((request.concurrency, request.prompt_length), []).append(request)
    for (concurrency, length), group in sorted(groups.items()):
        conditions = _conditions(group, length, concurrency, output_tokens)
        found += [_ttft(group, label, conditions), _tpot(group, label, conditions), _decode(group, label, conditions)]
        found.append(_aggregate(group, label, conditions) if concurrency > 1 else _alone(group, label, conditions))
    if single := [request for request in requests if request.concurrency == 1]:
        found.append(_prefill(single, label))
    return found


def _conditions(group: Sequence[Request], length: int, concurrency: int, output_tokens: int) -> dict[str, Any]:
    prompts = [request.n_prompt for request in group if request.n_prompt is not None]
    cached = [request.reply.n_cached or 0 for request in group if request.reply.ok]
    outputs = [request.counted.n_out for request in group if request.reply.ok and request.counted.n_out]
    return {
        "prompt_tokens": round(statistics.median(prompts)) if prompts else length,
        "output_tokens": round(statistics.median(outputs)) if outputs else output_tokens,
        "cached_prefix_tokens": round(statistics.median(cached)) if cached else 0,
        "concurrency": concurrency,
    }


def _ttft(group: Sequence[Request], label: Label, conditions: dict[str, Any]) -> Measure:
    values = [request.reply.ttft_s for request in group if request.reply.ok and request.reply.ttft_s is not None]
    what = "TTFT = first chunk with any output - sent"
    return _measure("ttft", values, label, conditions, what, Basis.MEASURED, _reasons(group))


def _tpot(group: Sequence[Request], label: Label, conditions: dict[str, Any]) -> Measure:
    values = [tpot for request in group if (tpot := request.tpot[0]) is not None]
    what = f"TPOT = (last content - first token) / (tokens - 1), {_counted(group)}"
    return _measure("tpot", values, label, conditions, what, _basis(group), _reasons(group))


def _measure(
    kind: Literal["ttft", "tpot"],
    values: list[float],
    label: Label,
    conditions: dict[str, Any],
    what: str,
    basis: Basis,
    reason: str,
) -> Measure:
    summary = summarise(values) if values else None
    return Measure(
        kind=kind,
        axes=label.axes_at(**conditions),
        value=summary.median if summary else None,
        low=summary.low if summary else None,
        high=summary.high if summary else None,
        unit="s",
        basis=basis,
        source=f"{what}; {_n(values)}; endpoint probe {label.probe_id}",
        as_of=label.as_of,
        reason=None if values else reason,
    )


def _decode(group: Sequence[Request], label: Label, conditions: dict[str, Any]) -> Speed:
    values = [tpot for request in group if (tpot := request.tpot[0]) is not None]
    # A decode step starts with the whole prompt in the cache.
    axes = label.axes_at(**conditions, context_tokens=conditions["prompt_tokens"])
    if not values:
        return unknown_speed("decode_per_request", axes, Basis.MEASURED, _reasons(group), label.source("no TPOT"))
    summary = summarise(values)
    return Speed(
        kind="decode_per_request",
        axes=axes,
        value=1 / summary.median,
        low=1 / summary.high if summary.high else None,
        high=1 / summary.low if summary.low else None,
        unit="tok/s",
        basis=_basis(group),
        source=label.source(f"1 / TPOT, {_counted(group)}; {_n(values)}"),
        as_of=label.as_of,
    )


def _prefill(single: Sequence[Request], label: Label) -> Speed:
    """Formula: (N2 - N1) / (median TTFT2 - median TTFT1), N without cached tokens; overheads cancel."""
    points: dict[int, list[tuple[int, float]]] = {}
    for request in single:
        ttft = request.reply.ttft_s
        if request.reply.ok and ttft is not None:
            tokens = (request.n_prompt or request.prompt_length) - (request.reply.n_cached or 0)
            points.setdefault(request.prompt_length, []).append((tokens, ttft))
    lengths = sorted(points)
    ends = (lengths[0], lengths[-1]) if lengths else (0, 0)
    axes = label.axes_at(prompt_tokens=_median_tokens(points.get(ends[1], [])) or None)
    value, low, high, reason = slope(points.get(ends[0], []), points.get(ends[1], []))
    if value is None or ends[0] == ends[1]:
        reason = reason if ends[0] != ends[1] else "fewer than two prompt lengths were answered"
        return unknown_speed("prefill", axes, Basis.MEASURED, reason, label.source("slope of TTFT"))
    counted = all(request.n_prompt is not None for request in single if request.reply.ok)
    return Speed(
        kind="prefill",
        axes=axes,
        value=value,
        low=low,
        high=high,
        unit="tok/s",
        basis=Basis.MEASURED if counted else Basis.ESTIMATED,
        source=label.source(f"slope of TTFT between prompts of {ends[0]} and {ends[1]} tokens"),
        as_of=label.as_of,
    )


def slope(
    short: Sequence[tuple[int, float]], long: Sequence[tuple[int, float]]
) -> tuple[float | None, float | None, float | None, str]:
    """Return prefill tok/s with bounds from (tokens, TTFT) of two lengths, or None with the reason."""
    if not short or not long:
        return None, None, None, "fewer than two prompt lengths were answered"
    tokens = _median_tokens(long) - _median_tokens(short)
    first, second = summarise([ttft for _, ttft in short]), summarise([ttft for _, ttft in long])
    if tokens <= 0:
        return None, None, None, "the server cut the longer prompt, or counts it as cached"
    if second.median <= first.median:
        return None, None, None, "a longer prompt took no longer: prefill is too fast for these lengths"
    most = (second.high or second.median) - (first.low or first.median)
    least = (second.low or second.median) - (first.high or first.median)
    if least <= 0:
        return None, None, None, "the difference between the two prompt lengths is within the noise"
    return tokens / (second.median - first.median), tokens / most, tokens / least, ""


def _aggregate(group: Sequence[Request], label: Label, conditions: dict[str, Any]) -> Speed:
    kind: SpeedKind = "aggregate_output"
    axes = label.axes_at(**conditions, context_tokens=conditions["prompt_tokens"])
    value, reason = steady_output(group)
    if value is None:
        return unknown_speed(kind, axes, Basis.MEASURED, reason, label.source("steady window"))
    what = f"tokens within the steady window / its length, {_counted(group)}; one window"
    return Speed(
        kind=kind,
        axes=axes,
        value=value,
        unit="tok/s",
        basis=_basis(group),
        source=label.source(what),
        as_of=label.as_of,
    )


def _alone(group: Sequence[Request], label: Label, conditions: dict[str, Any]) -> Speed:
    """Formula: output tokens / (last content - sent): one stream's output with its waits for the first token."""
    axes = label.axes_at(**conditions, context_tokens=conditions["prompt_tokens"])
    values = [
        e2e / request.counted.n_out
        for request in group
        if request.reply.ok and request.counted.n_out and (e2e := request.reply.e2e_s)
    ]
    if not values:
        return unknown_speed("aggregate_output", axes, Basis.MEASURED, _reasons(group), label.source("no reply"))
    summary = summarise(values)
    return Speed(
        kind="aggregate_output",
        axes=axes,
        value=1 / summary.median,
        low=1 / summary.high if summary.high else None,
        high=1 / summary.low if summary.low else None,
        basis=_basis(group),
        source=label.source(f"tokens / (last content - sent), {_counted(group)}; {_n(values)}"),
        as_of=label.as_of,
    )


def steady_output(group: Sequence[Request]) -> tuple[float | None, str]:
    """Return output tok/s of all requests while every worker was busy, or None with the reason.

    The window opens when the last worker has its first token and closes when the first worker is through.
    """
    ok = [request for request in group if request.reply.ok and request.counted.n_out]
    workers = {request.worker for request in ok}
    if len(workers) < group[0].concurrency:
        return None, "not every stream was answered"
    if any(request.reply.buffered for request in ok):
        return None, "the streams were buffered on the way"
    opened = max(min(r.reply.chunk_at[0] for r in ok if r.worker == worker) for worker in workers)
    closed = min(max(r.reply.chunk_at[-1] for r in ok if r.worker == worker) for worker in workers)
    tokens = 0.0
    for request in ok:
        inside = sum(opened < at <= closed for at in request.reply.chunk_at)
        tokens += (request.counted.n_out or 0) * inside / request.reply.n_chunks
    if closed - opened < MIN_WINDOW_S or tokens < MIN_WINDOW_TOKENS:
        return None, "the time in which all streams were busy was too short"
    return tokens / (closed - opened), ""


def _median_tokens(points: Sequence[tuple[int, float]]) -> int:
    return round(statistics.median(tokens for tokens, _ in points)) if points else 0


def _basis(group: Sequence[Request]) -> Basis:
    chunks = any(request.counted.source == "chunks" for request in group if request.reply.ok)
    return Basis.ESTIMATED if chunks else Basis.MEASURED


def _counted(group: Sequence[Request]) -> str:
    sources = {request.counted.source for request in group if request.reply.ok}
    names = {
        "usage": "tokens as the server counts them",
        "length": "tokens = the asked length",
        "chunks": "one chunk taken for one token",
    }
    return " and ".join(names[source] for source in sorted(sources)) or "no tokens"


def _reasons(group: Sequence[Request]) -> str:
    reasons = Counter(request.tpot[1] for request in group if request.tpot[1])
    return reasons.most_common(1)[0][0] if reasons else "no request was answered"


def _n(values: Sequence[float]) -> str:
    bounds = "interval of the median" if len(values) >= 6 else "range"
    return f"{len(values)} requests, {bounds}"
