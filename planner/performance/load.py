"""Continuous batching as arithmetic: how fast requests pass a replica that decodes several of them together.

Formula: a replica kept at batch B completes 1/(prefill + output·t(B)/B) requests a second. Under random arrivals
prompts are an M/G/1 queue that interrupts decoding; the batch follows from Little's law; TTFT = waiting for
prompts ahead + the running step + one's own prompt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from planner.performance import core
from planner.performance.prepared import Prepared

P95_TAIL = math.log(20.0)
"""Waits of an M/G/1 queue fall off about exponentially: P(W > t) ≈ ρ·exp(−t·ρ/mean)."""

NEWTON_STEPS = 4


class State(NamedTuple):
    """A replica under random arrivals."""

    rate: float
    """Requests per second completed."""
    tpot_s: float
    ttft_s: float
    ttft_p95_s: float


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of request as seen by a replica, times in seconds for this setup."""

    prepared: Prepared
    new_tokens: float
    output_tokens: float
    context_tokens: float
    """Mean tokens in the cache while decoding."""
    prompt_s: float
    shape: core.StepShape

    def step_s(self, batch: float) -> float:
        """Return seconds of a step with so many sequences."""
        return float(core.step_s(self.shape, max(batch, 1.0)))

    def closed_rate(self, batch: float) -> float:
        """Return requests per second while exactly `batch` sequences are kept in flight."""
        return float(core.requests_per_s(self.step_s(batch), self.prompt_s, self.output_tokens, batch))

    def closed_ttft_s(self, batch: float) -> float:
        """Return the mean time to first token among `batch` clients that never pause."""
        rates = self.prepared.prefill
        step = self.step_s(batch)
        first = self.step_s(1.0)
        return float(core.closed_ttft_s(rates, self.prompt_s, step, first, self.output_tokens, batch))

    def at(self, batch: float, slots: float) -> State:
        """Return what random arrivals that keep `batch` sequences in flight on average see.

        A random arrival finds the mean batch and adds itself, so its steps last as long as for one sequence more.
        `slots` is the number of sequences the replica takes: near it requests also wait for a slot.
        """
        step = self.step_s(batch + 1.0)
        busy = _busy(batch, self.prompt_s, self.output_tokens * step)
        wait = busy * self.prompt_s / (2.0 * (1.0 - busy))
        decoding = (self.output_tokens * step + busy * (wait + self.prompt_s)) / (1.0 - busy)
        full = min(batch / slots, 0.995)
        service = decoding + self.prompt_s
        # Sakasegawa's M/M/c approximation of the wait for a slot.
        queue = service / slots * full ** (math.sqrt(2.0 * (slots + 1.0)) - 1.0) / (1.0 - full)
        running = step * min(batch, 1.0)
        tail = wait / busy * max(math.log(busy) + P95_TAIL, 0.0) if busy > 0 else 0.0
        return State(
            rate=batch / decoding,
            tpot_s=decoding / self.output_tokens,
            ttft_s=self.prompt_s + running / 2.0 + wait + queue,
            ttft_p95_s=self.prompt_s + running * 0.95 + tail + queue * P95_TAIL,
        )

    def batch_at(self, rate: float, limit: float, slots: float) -> float:
        """Return the mean batch at which so many requests a second complete, at most `limit`."""
        if rate >= self.at(limit, slots).rate:
            return limit
        low, high = 0.0, limit
        for _ in range(12):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.at(middle, slots).rate < rate else (low, middle)
        return (low + high) / 2.0


def _busy(batch: float, prompt_s: float, decode_s: float) -> float:
    """Return the share of time that prompts take, ρ, when `batch` sequences decode on average.

    Formula: Little's law, ρ/prompt · D(ρ) = batch with D = (decode + ρ·(wait + prompt))/(1 − ρ). Newton's steps from
    the right of a convex function: without the extra waiting ρ would be batch·prompt/(decode + batch·prompt).
    """
    share = batch * prompt_s / (decode_s + batch * prompt_s)
    for _ in range(NEWTON_STEPS):
        free = 1.0 - share
        arrivals = share / (prompt_s * free)
        stay = decode_s + prompt_s * share * (2.0 - share) / (2.0 * free)
        slope = stay / (prompt_s * free * free)
        slope += arrivals * prompt_s * (2.0 * free * free + share * (2.0 - share)) / (2.0 * free * free)
        share -= (arrivals * stay - batch) / slope
    return share if share > 0.0 else 0.0


def work(
    prepared: Prepared, *, prompt_tokens: float, cached_tokens: float, output_tokens: float, context_tokens: float
) -> Work:
    """Return a request as work: `context_tokens` lie in the cache before the prompt, `cached_tokens` of it too."""
    new = max(prompt_tokens - cached_tokens, 1.0)
    seconds = prepared.prompt_s(new, context_tokens + cached_tokens)
    mean = context_tokens + prompt_tokens + output_tokens / 2.0
    shape = core.step_shape(prepared.numbers, prepared.decode, prepared.cache.read(mean))
    return Work(prepared, new, max(output_tokens, 1.0), mean, seconds, shape)
