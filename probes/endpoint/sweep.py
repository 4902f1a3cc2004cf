"""The requests of an endpoint probe: warm-up, single-stream rounds, concurrency levels."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from planner.domain.errors import ProbeError
from probes.endpoint.client import ChatClient
from probes.endpoint.counting import Counted, Counter
from probes.endpoint.options import ROUNDS, ROUNDS_PER_WORKER, EndpointOptions
from probes.endpoint.prompts import PromptMaker
from probes.endpoint.reply import Reply
from probes.endpoint.spending import Meter
from probes.session import Session
from probes.statistics import quantile

BASELINE_SHARE = 0.6
"""Share of the time for single-stream rounds where concurrency levels follow."""
TRIES = 6
MAX_FAILURES = 3
"""Failures in a row after which the server is taken to be broken."""
MAX_WAIT_S = 20.0
KEPT_CHUNKS = 4096
"""Chunk times kept in a request's sample; a record of very long answers would not fit a line."""


class EndpointError(ProbeError):
    """The endpoint answered nothing that can be measured."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.error or "The endpoint gave no answer.", reply.hint)
        self.code = reply.error_kind or "failed"


class BudgetSpentError(Exception):
    """The next request could cost more than is left."""


@dataclass(frozen=True)
class Request:
    """One finished request with its conditions and counts."""

    reply: Reply
    prompt_length: int
    n_prompt: int | None
    counted: Counted
    concurrency: int
    worker: int = 0

    @property
    def tpot(self) -> tuple[float | None, str]:
        """Return the time per output token in s, or None with the reason."""
        if not self.reply.ok:
            return None, self.reply.error or "the request failed"
        return self.reply.tpot_s(self.counted.n_out)


@dataclass
class Sweep:
    """Sends everything and keeps every request."""

    options: EndpointOptions
    session: Session
    client: ChatClient
    meter: Meter
    prompts: PromptMaker
    counter: Counter
    requests: list[Request] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    """Prompt length -> why the server does not take it."""
    failures: int = 0
    hurried: bool = False
    """The single-stream rounds were cut to leave time for the levels; every figure still has its three."""
    stopped: str | None = None
    """`time_cap`, `budget` or `error` when not everything planned was sent."""

    def __post_init__(self) -> None:
        self.deadline = time.perf_counter() + self.options.max_seconds - self.session.elapsed()

    def left_s(self) -> float:
        """Return the seconds left."""
        return self.deadline - time.perf_counter()

    async def run(self) -> None:
        """Send all requests; raises ProbeError when not even the first can be answered."""
        try:
            await self._warm_up()
            await self._rounds()
            for level in self.options.levels:
                if self.stopped:
                    break
                await self._level(level)
        except BudgetSpentError:
            self.stopped = "budget"
            self.session.warn("budget", "The budget is spent; what was measured until here is kept.")

    async def _warm_up(self) -> None:
        length = min(self.options.prompts)
        self.session.progress("first contact", 0.02)
        request = None
        for _ in range(TRIES):
            request = await self._send(length, "cold", 1)
            reply = request.reply
            if reply.ok:
                break
            if reply.status in (400, 422) and self.client.dialect.learn(reply.error or ""):
                continue
            if reply.status != 429 or not await self._wait(reply):
                break
        assert request is not None
        if not request.reply.ok:
            raise EndpointError(request.reply)
        self.failures = 0
        if request.reply.n_out is None:
            await self._reference()

    async def _reference(self) -> None:
        """Ask once a length without streaming, for counts that the stream does not carry."""
        for length in self.options.prompts:
            self._allow(length)
            answer = await self.client.ask(self.prompts.make(length), self.options.output_tokens, self.left_s())
            self.meter.charge(length, self.options.output_tokens, None if answer else "reference")
            if answer:
                self.counter.learn(length, answer)
        how = "the asked length, confirmed once" if self.counter.honours_length else "stream chunks"
        self.session.warn("no_usage", f"The server's stream has no token counts; output is counted as {how}.")

    async def _rounds(self) -> None:
        share = BASELINE_SHARE if self.options.levels else 1.0
        until = time.perf_counter() + self.left_s() * share
        longest: dict[int, float] = {}
        total = ROUNDS * len(self.options.prompts)
        for index in range(total):
            length = self._next_length(index)
            if length in self.refused:
                continue
            # Three rounds may overdraw the share, for two lengths with one sample each say nothing.
            limit = until if index >= 3 * len(self.options.prompts) else self.deadline
            if time.perf_counter() + longest.get(length, 0.0) > limit:
                if index < 3 * len(self.options.prompts) or not self.options.levels:
                    self.stopped = "time_cap"
                self.hurried = True
                return
            self.session.progress("single stream", 0.05 + 0.55 * index / total)
            started = time.perf_counter()
            request = await self._send(length, "single", 1)
            longest[length] = max(longest.get(length, 0.0), time.perf_counter() - started)
            if not request.reply.ok and not await self._go_on(request):
                return

    def _next_length(self, index: int) -> int:
        # Alternating, each round in another direction, so that a drift hits all lengths alike.
        position, back = index % len(self.options.prompts), (index // len(self.options.prompts)) % 2
        return self.options.prompts[-1 - position if back else position]

    async def _go_on(self, request: Request) -> bool:
        """Decide after a failed request whether the probe can go on."""
        reply = request.reply
        if reply.status in (400, 413, 422):
            self.refused[request.prompt_length] = reply.error or "refused"
            self.session.warn("refused", f"Prompts of {request.prompt_length} tokens: {reply.error}")
            self.failures = 0
            return True
        if reply.status == 429:
            return await self._wait(reply)
        if self.failures >= MAX_FAILURES:
            self.stopped = "error"
            self.session.error("failing", f"{self.failures} requests in a row failed, the last: {reply.error}")
            return False
        return True

    async def _wait(self, reply: Reply) -> bool:
        """Wait as long as a rate limit asks; False when that is too long."""
        wait = 1.0 if reply.retry_after_s is None else reply.retry_after_s
        if wait > min(MAX_WAIT_S, self.left_s()):
            self.stopped = "time_cap"
            self.session.warn("rate_limited", f"The server asks to wait {wait:.0f} s, longer than the time left.")
            return False
        self.session.warn("rate_limited", f"The server limits the rate; waiting {wait:.1f} s as it asks.")
        await asyncio.sleep(wait)
        return True

    async def _level(self, level: int) -> None:
        single = [request.reply.e2e_s for request in self.requests if request.concurrency == 1 and request.reply.ok]
        if not single or self.left_s() < max(seconds for seconds in single if seconds is not None):
            self.stopped = "time_cap"
            return
        done = self.options.levels.index(level) / len(self.options.levels)
        self.session.progress(f"{level} streams", 0.65 + 0.3 * done)
        async with asyncio.TaskGroup() as group:
            for worker in range(level):
                group.create_task(self._worker(level, worker))

    async def _worker(self, level: int, worker: int) -> None:
        for _ in range(ROUNDS_PER_WORKER):
            if self.stopped or self.left_s() <= 0:
                self.stopped = self.stopped or "time_cap"
                return
            try:
                request = await self._send(min(self.options.prompts), "concurrent", level, worker)
            except BudgetSpentError:
                self.stopped = "budget"
                return
            if not request.reply.ok and not await self._go_on(request):
                return

    def _allow(self, length: int) -> None:
        if not self.meter.allows(length, self.options.output_tokens):
            raise BudgetSpentError

    async def _send(self, length: int, stage: str, concurrency: int, worker: int = 0) -> Request:
        self._allow(length)
        prompt = self.prompts.make(length)
        reply = await self.client.stream(prompt, self.options.output_tokens, max(0.5, self.left_s()))
        counted = self.counter.output(reply)
        n_prompt = self.counter.prompt(reply, length)
        request = Request(reply, length, n_prompt, counted, concurrency, worker)
        spent_out = counted.n_out if reply.ok and counted.n_out else self.options.output_tokens
        self.meter.charge(n_prompt or length, spent_out, reply.error_kind)
        self.failures = 0 if reply.ok else self.failures + 1
        # The cold request counts for its own figure only, never among the others.
        if stage != "cold":
            self.requests.append(request)
        self._tell(request, stage)
        return request

    def _tell(self, request: Request, stage: str) -> None:
        reply, origin = request.reply, self.session.clock_start
        tpot, why = request.tpot
        gaps = reply.gaps_s
        self.session.sample(
            metric="request",
            stage=stage,
            concurrency=request.concurrency,
            worker=request.worker,
            prompt_length=request.prompt_length,
            sent_s=round(reply.sent_at - origin, 6),
            client_wait_ms=_ms(reply.sent_at - reply.planned_at),
            ttft_ms=_ms(reply.ttft_s),
            ttfo_ms=_ms(reply.first_visible_at - reply.sent_at) if reply.first_visible_at else None,
            tpot_ms=_ms(tpot),
            no_tpot=why or None,
            e2e_ms=_ms(reply.e2e_s),
            chunk_gap_ms={name: _ms(quantile(gaps, share)) for name, share in _QUANTILES.items()} if gaps else None,
            chunk_ms=[_ms(at - reply.sent_at) for at in reply.chunk_at[:KEPT_CHUNKS]],
            n_prompt=request.n_prompt,
            n_prompt_usage=reply.n_prompt,
            n_cached=reply.n_cached,
            n_out=request.counted.n_out,
            token_source=request.counted.source,
            n_out_usage=reply.n_out,
            n_chunks=reply.n_chunks,
            n_reasoning=reply.n_reasoning,
            reasoning_chunks=reply.reasoning_chunks,
            tokens_per_chunk=reply.tokens_per_chunk(request.counted.n_out),
            finish_reason=reply.finish_reason,
            buffered=reply.buffered,
            overrun=reply.overrun,
            malformed=reply.malformed,
            status=reply.status,
            error=reply.error_kind,
            server_timings=reply.timings,
        )


_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 4)
