"""Memory bandwidth that a program sees: copies and reads of arrays far larger than the caches, with numpy."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.domain.errors import ProbeError
from probes.environment import available_memory
from probes.statistics import Summary, summarise

ARRAY_BYTES = 256 * 1024**2
"""Well above the last-level caches of desktop processors, so that memory is measured and not the cache."""
CASE_SECONDS = 0.6
MIN_ROUNDS = 6


@dataclass(frozen=True)
class Bandwidth:
    """GB/s (10^9 bytes) of one kind of traffic with one number of threads."""

    kind: Literal["memory_read_bandwidth", "memory_copy_bandwidth"]
    threads: int
    gb_s: Summary


def measure(threads: int) -> list[Bandwidth]:
    """Measure read and copy with one and with `threads` threads in about 3 s.

    Raises ProbeError when memory is short.
    """
    free = available_memory()
    size = min(ARRAY_BYTES, free // 8) if free is not None else ARRAY_BYTES
    if size < ARRAY_BYTES // 4:
        raise ProbeError("Too little free memory to measure its bandwidth.")
    source = np.ones(size // 8, dtype=np.int64)
    target = np.zeros_like(source)
    found = []
    for count in sorted({1, threads}):
        found.append(Bandwidth("memory_read_bandwidth", count, _rounds(source, None, count)))
        found.append(Bandwidth("memory_copy_bandwidth", count, _rounds(source, target, count)))
    return found


def _rounds(source: np.ndarray, target: np.ndarray | None, threads: int) -> Summary:
    parts = np.array_split(source, threads)
    targets = np.array_split(target, threads) if target is not None else [None] * threads
    # A copy reads and writes each byte; traffic for write-allocate is not counted, as in STREAM.
    n_bytes = source.nbytes * (1 if target is None else 2)
    rates: list[float] = []
    until = time.perf_counter() + CASE_SECONDS
    with ThreadPoolExecutor(threads) as pool:
        barrier = threading.Barrier(threads + 1)
        while len(rates) < MIN_ROUNDS + 1 or time.perf_counter() < until:
            jobs = [pool.submit(_work, barrier, part, to) for part, to in zip(parts, targets, strict=True)]
            barrier.wait()
            started = time.perf_counter_ns()
            for job in jobs:
                job.result()
            rates.append(n_bytes / (time.perf_counter_ns() - started))
    # The first round touches the pages and wakes the threads.
    return summarise(rates[1:])


def _work(barrier: threading.Barrier, source: np.ndarray, target: np.ndarray | None) -> None:
    barrier.wait()
    if target is None:
        np.add.reduce(source)
    else:
        np.copyto(target, source)
