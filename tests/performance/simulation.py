"""A small discrete-event simulation of continuous batching, the yardstick of the queueing approximation."""

from __future__ import annotations

import numpy as np

from planner.performance.load import Work


def simulate(work: Work, rate: float, slots: int, requests: int, seed: int = 7) -> tuple[float, float]:
    """Return (p95 TTFT, mean TPOT) of Poisson arrivals: prompts run first, alone, then all sequences step together."""
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(1.0 / rate, requests))
    lengths = np.full(requests, int(work.output_tokens))
    first = np.full(requests, np.nan)
    done = np.full(requests, np.nan)
    now, next_in = 0.0, 0
    running: dict[int, int] = {}
    while np.isnan(done).any():
        if not running and next_in < requests and arrivals[next_in] > now:
            now = arrivals[next_in]
        if next_in < requests and arrivals[next_in] <= now and len(running) < slots:
            now += work.prompt_s
            # The pass over the prompt yields the first token.
            first[next_in] = now
            running[next_in] = 1
            next_in += 1
            continue
        now += work.step_s(len(running))
        for request in list(running):
            running[request] += 1
            if running[request] >= lengths[request]:
                done[request] = now
                del running[request]
    warm = slice(requests // 10, None)
    ttft = float(np.quantile((first - arrivals)[warm], 0.95))
    tpot = float(np.mean(((done - first) / (lengths - 1))[warm]))
    return ttft, tpot
