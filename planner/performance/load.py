"""Continuous batching as arithmetic: how fast requests pass a replica that decodes B of them together.

Formula: a replica at batch B completes 1/(prefill + output·t(B)/B) requests a second. A request sees TPOT = t(B) +
(B − 1)·prefill/output, because the others' prompts run between its tokens. TTFT = waiting for prompts ahead (M/G/1
with the prompts as work) + the running step + its own prompt, which shares passes with decoding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.performance import core
from planner.performance.prepared import Prepared

P95_TAIL = math.log(20.0)
"""Waits of an M/G/1 queue fall off about exponentially: P(W > t) ≈ ρ·exp(−t·ρ/mean)."""


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of request as seen by a replica, times in seconds for this setup."""

    prepared: Prepared
    new_tokens: float
    output_tokens: float
    context_tokens: float
    """Mean tokens in the cache while decoding."""
    prompt_s: float

    def step_s(self, batch: float) -> float:
        """Return seconds of a step with so many sequences."""
        return self.prepared.step_s(self.context_tokens, max(batch, 1.0))

    def rate(self, batch: float) -> float:
        """Return requests per second completed at a mean batch."""
        return float(core.requests_per_s(self.step_s(batch), self.prompt_s, self.output_tokens, batch))

    def tpot_s(self, batch: float) -> float:
        """Return seconds per output token that one request sees among `batch`."""
        return float(core.tpot_s(self.step_s(batch), self.prompt_s, self.output_tokens, max(batch, 1.0)))

    def batch_at(self, rate: float, limit: float) -> float:
        """Return the mean batch at which so many requests a second complete, at most `limit`."""
        if rate >= self.rate(limit):
            return limit
        low, high = 0.0, limit
        for _ in range(30):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.rate(middle) < rate else (low, middle)
        return (low + high) / 2.0

    def closed_ttft_s(self, batch: float) -> float:
        """Return the mean time to first token among `batch` clients that never pause."""
        rates = self.prepared.prefill
        step = self.step_s(batch)
        first = self.step_s(1.0)
        return float(core.closed_ttft_s(rates, self.prompt_s, step, first, self.output_tokens, batch))

    def ttft_s(self, batch: float, limit: float, quantile: bool = True) -> float:
        """Return the time to first token at a mean batch: its 95th percentile, or its mean.

        `limit` is the number of slots: near it requests also wait for a slot (Sakasegawa's M/M/c approximation).
        """
        rate = self.rate(batch)
        busy = min(rate * self.prompt_s, 0.995)
        step = self.step_s(batch) if batch > 0 else 0.0
        own = self.prompt_s * (1.0 + 0.5 * min(busy, 1.0)) + self.step_s(1.0)
        running = step * min(batch, 1.0)
        wait = busy * self.prompt_s / (2.0 * (1.0 - busy))
        slots = min(batch / limit, 0.995) if limit > 0 else 0.995
        service = self.output_tokens * self.tpot_s(batch) + self.prompt_s
        queue = service / limit * slots ** (math.sqrt(2.0 * (limit + 1.0)) - 1.0) / (1.0 - slots) if limit else math.inf
        if not quantile:
            return own + running / 2.0 + wait + queue
        tail = wait / busy * max(math.log(busy) + P95_TAIL, 0.0) if busy > 0 else 0.0
        return own + running * 0.95 + tail + queue * P95_TAIL


def work(
    prepared: Prepared, *, prompt_tokens: float, cached_tokens: float, output_tokens: float, context_tokens: float
) -> Work:
    """Return a request as work: `context_tokens` lie in the cache before the prompt, `cached_tokens` of it too."""
    new = max(prompt_tokens - cached_tokens, 1.0)
    seconds = prepared.prompt_s(new, context_tokens + cached_tokens)
    mean = context_tokens + prompt_tokens + output_tokens / 2.0
    return Work(prepared, new, max(output_tokens, 1.0), mean, seconds)
