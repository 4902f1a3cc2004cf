"""What a person can choose for an endpoint probe, and how many tokens that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.domain.errors import InputError
from probes.endpoint.spending import Estimate

ROUNDS = 6
"""Requests a prompt length: six give the range a coverage of 96.9 % for the median."""
ROUNDS_PER_WORKER = 2
MAX_CONCURRENCY = 256


@dataclass(frozen=True)
class EndpointOptions:
    """Options of `python -m probes endpoint`."""

    base_url: str
    model: str
    prompts: tuple[int, ...] = (128, 1024)
    output_tokens: int = 64
    concurrency: tuple[int, ...] = (1, 4)
    quant: str = "as served"
    engine: str | None = None
    key_env: str | None = None
    yes: bool = False
    max_usd: float | None = None
    usd_per_mtok_in: float | None = None
    usd_per_mtok_out: float | None = None
    max_seconds: float = 60.0
    timeout_s: float = 30.0
    """Longest wait for one whole reply."""
    seed: int | None = None

    def check(self) -> None:
        """Raise InputError, naming the flag, for a value that makes no probe."""
        if not self.model.isprintable() or len(self.model) > 300:
            raise InputError("--model is no name of a model.", "Give it as the server lists it.")
        if not self.model.strip():
            raise InputError("--model is empty.", "Give the name that the server knows the model by.")
        if len(self.prompts) < 2 or min(self.prompts) < 1 or max(self.prompts) > 1_000_000:
            raise InputError("--prompts needs two lengths between 1 and 1000000, such as 128,1024.")
        if not 1 <= self.output_tokens <= 100_000:
            raise InputError(f"--output is {self.output_tokens}; it must lie between 1 and 100000.")
        if not self.concurrency or min(self.concurrency) < 1 or max(self.concurrency) > MAX_CONCURRENCY:
            raise InputError(f"--concurrency takes numbers between 1 and {MAX_CONCURRENCY}, such as 1,4.")
        for flag, seconds in (("--max-seconds", self.max_seconds), ("--timeout", self.timeout_s)):
            if not 1 <= seconds <= 86_400:
                raise InputError(f"{flag} is {seconds}; it must lie between 1 and 86400.")
        for flag, usd in (
            ("--max-usd", self.max_usd),
            ("--usd-per-mtok-in", self.usd_per_mtok_in),
            ("--usd-per-mtok-out", self.usd_per_mtok_out),
        ):
            if usd is not None and not 0 <= usd < 1e6:
                raise InputError(f"{flag} is {usd}; it must be a sum of dollars.")

    @property
    def levels(self) -> tuple[int, ...]:
        """Return the concurrency levels above one, ascending; a single stream is always measured."""
        return tuple(sorted({level for level in self.concurrency if level > 1}))

    def estimate(self) -> Estimate:
        """Return the most that the probe will send, one warm-up and one reference call a length included."""
        per_length = ROUNDS + 1
        workers = sum(level * ROUNDS_PER_WORKER for level in self.levels)
        requests = 1 + per_length * len(self.prompts) + workers
        prompt_tokens = min(self.prompts) * (1 + workers) + per_length * sum(self.prompts)
        return Estimate(requests, round(prompt_tokens * 1.3), requests * self.output_tokens)

    def settings(self) -> dict[str, Any]:
        """Return what is stored with the record; no key, nor the name of its variable."""
        return {
            "base_url": self.base_url,
            "prompts": list(self.prompts),
            "output_tokens": self.output_tokens,
            "concurrency": list(self.concurrency),
            "max_seconds": self.max_seconds,
            "timeout_s": self.timeout_s,
            "max_usd": self.max_usd,
            "usd_per_mtok_in": self.usd_per_mtok_in,
            "usd_per_mtok_out": self.usd_per_mtok_out,
            "definitions": "ttft = first output chunk - sent; tpot = (last content - first) / (tokens - 1); "
            "decode = 1 / tpot; prefill = (N2 - N1) / (ttft2 - ttft1)",
        }
