"""One configuration of the device probe: warm up, then sample, always from a cleared cache."""

from __future__ import annotations

import math
import random
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from planner.domain.errors import ProbeError
from probes.lifeline import InterruptGuard
from probes.llama import Context, ContextSettings, Engine
from probes.repeat import MIN_SAMPLE_S, Series, Step, repeat, warm_up
from probes.session import Session

CALIBRATION_TOKENS = 64
WARM_DECODE_STEPS = 8
HEADROOM_TOKENS = 256
PROMPT_CHOICES = (2048, 512, 128, 64)
DEPTH_CHOICES = (4096, 2048, 1024, 512, 256)
FEW_STEPS_S = 1.5
GROUP_BELOW_S = 0.002
"""Steps shorter than this are timed in groups, so that the clock's own cost stays out of sight."""


@dataclass(frozen=True)
class Case:
    """What is timed: prompts of `tokens`, or decode steps at a depth of `tokens`."""

    kind: Literal["prefill", "decode_per_request"]
    tokens: int

    @property
    def weight(self) -> float:
        """Return this case's share of the time, relative to others."""
        return 2.0 if self.kind == "decode_per_request" and not self.tokens else 3.0

    def __str__(self) -> str:
        return f"prefill {self.tokens}" if self.kind == "prefill" else f"decode at depth {self.tokens}"


def choose_prompts(rate_tok_s: float, budget_s: float, max_context: int | None) -> tuple[int, int]:
    """Return a quarter and a whole of the longest prompt of which six fit in a quarter of the time."""
    limit = max_context or max(PROMPT_CHOICES)
    for longest in PROMPT_CHOICES:
        if 6 * longest / rate_tok_s <= budget_s / 4 and longest < limit:
            return longest // 4, longest
    return PROMPT_CHOICES[-1] // 4, PROMPT_CHOICES[-1]


def choose_depths(rate_tok_s: float, budget_s: float, max_context: int | None) -> tuple[int, int]:
    """Return depth 0 and the deepest that a fifth of the time can fill and the model can hold."""
    limit = (max_context or max(DEPTH_CHOICES) + HEADROOM_TOKENS) - HEADROOM_TOKENS
    for depth in DEPTH_CHOICES:
        # Prefill slows down with depth, hence the factor.
        if 1.5 * depth / rate_tok_s <= budget_s / 5 and depth <= limit:
            return 0, depth
    return 0, CALIBRATION_TOKENS


@dataclass
class CaseRunner:
    """Runs cases on one loaded model, each in a fresh context."""

    engine: Engine
    session: Session
    guard: InterruptGuard
    base: ContextSettings
    rng: random.Random
    cpu_threads: int | None
    """Threads that do the work, or None where a GPU does it and occupancy means nothing."""

    def calibrate(self) -> float:
        """Return a first, rough prefill rate in tok/s, and settle whether flash attention works here."""
        context = self._first_context()
        try:
            steps = [self._prefill_step(context, CALIBRATION_TOKENS) for _ in range(2)]
        finally:
            context.close()
        seconds = [step.seconds for step in steps]
        self.session.settings["calibration"] = {"tokens": CALIBRATION_TOKENS, "s": seconds}
        return CALIBRATION_TOKENS / min(seconds)

    def run(self, case: Case, *, precision: float, cap_s: float, left_s: float, rate: float) -> tuple[Series, str]:
        """Measure one case for about `cap_s`, in any case once if that ends within `left_s`.

        An empty series comes with the reason.
        """
        expected = case.tokens / rate
        if expected > max(left_s, 0.0):
            reason = f"{case} would take about {expected:.0f} s a try; {max(left_s, 0):.0f} s are left"
            self.session.warn("skipped", f"{reason}. Raise --max-seconds or shorten it.")
            return Series(), reason
        need = case.tokens + (0 if case.kind == "prefill" else HEADROOM_TOKENS)
        context = self.engine.context(replace(self.base, n_ctx=max(256, -(-need // 256) * 256)))
        try:
            if case.kind == "prefill":
                series = self._prefill(case, context, precision, cap_s, warm=2 * expected <= cap_s)
            else:
                series = self._decode(case, context, precision, cap_s)
            self._report(case, series, context)
        finally:
            context.close()
        return series, ""

    def _first_context(self) -> Context:
        settings = replace(self.base, n_ctx=256)
        try:
            return self.engine.context(settings)
        except ProbeError as error:
            if not settings.flash_attention or settings.kv_quant not in ("f16", "f32", "bf16"):
                raise
            self.session.warn("no_flash_attention", f"Flash attention does not work here; it is off: {error}")
        self.base = replace(self.base, flash_attention=False)
        return self.engine.context(replace(self.base, n_ctx=256))

    def _prefill_step(self, context: Context, tokens: int) -> Step:
        self.guard.check()
        context.clear()
        timing = context.decode(context.tokens(tokens, self.rng))
        self.guard.check()
        return self._step(timing.wall_s, timing.cpu_s, timing.major_faults, 1)

    def _step(self, wall_s: float, cpu_s: float, faults: int | None, count: int) -> Step:
        occupancy = cpu_s / (wall_s * self.cpu_threads) if self.cpu_threads and wall_s > 0 else None
        return Step(wall_s / count, None if occupancy is None else round(occupancy, 4), faults)

    def _prefill(self, case: Case, context: Context, precision: float, cap_s: float, *, warm: bool) -> Series:
        started, series = self.session.elapsed(), Series()
        if warm:
            first = warm_up(lambda: self._prefill_step(context, case.tokens), at_least=1, cap_s=cap_s / 5)
            series.first_step_s = first[0].seconds
        left = cap_s - (self.session.elapsed() - started)
        return repeat(
            lambda: self._prefill_step(context, case.tokens),
            precision=precision,
            cap_s=left,
            series=series,
            tell=lambda step: self._tell(case, step, len(series.steps)),
        )

    def _decode(self, case: Case, context: Context, precision: float, cap_s: float) -> Series:
        started = self.session.elapsed()
        self._fill(context, case.tokens)
        warm = warm_up(
            lambda: self._decode_step(context, case.tokens, 1), at_least=WARM_DECODE_STEPS, cap_s=cap_s / 5
        )
        typical = min(step.seconds for step in warm)
        group = math.ceil(MIN_SAMPLE_S / typical) if typical < GROUP_BELOW_S else 1
        group = min(group, HEADROOM_TOKENS // 4)
        series = Series(first_step_s=warm[0].seconds)
        # Where filling the cache took all the time, a few more steps cost little and give an interval.
        left = max(cap_s - (self.session.elapsed() - started), min(FEW_STEPS_S, 10 * typical))
        return repeat(
            lambda: self._decode_step(context, case.tokens, group),
            precision=precision,
            cap_s=left,
            series=series,
            tell=lambda step: self._tell(case, step, len(series.steps), group),
        )

    def _fill(self, context: Context, depth: int) -> None:
        context.clear()
        while context.used < depth:
            self.guard.check()
            context.decode(context.tokens(min(context.n_batch, depth - context.used), self.rng))

    def _decode_step(self, context: Context, depth: int, count: int) -> Step:
        """Time `count` single-token steps from `depth`, then cut the cache back so that depth stays put."""
        self.guard.check()
        if context.used + count > context.n_ctx:
            # Only where the state can't be cut: recurrent models.
            self._fill(context, depth)
        timings = [context.decode(context.tokens(1, self.rng)) for _ in range(count)]
        context.rewind(depth)
        faults = [timing.major_faults for timing in timings if timing.major_faults is not None]
        wall, cpu = (sum(getattr(timing, name) for timing in timings) for name in ("wall_s", "cpu_s"))
        return self._step(wall, cpu, sum(faults) if faults else None, count)

    def _tell(self, case: Case, step: Step, index: int, group: int = 1) -> None:
        self.session.sample(
            metric=case.kind,
            **_axis(case),
            i=index,
            ms=round(step.seconds * 1000, 4),
            steps=group,
            occupancy=step.occupancy,
            disturbed=step.disturbed,
            major_faults=step.major_faults,
            at_s=round(self.session.elapsed(), 3),
        )

    def _report(self, case: Case, series: Series, context: Context) -> None:
        summary = series.summary()
        found = series.drift
        row: dict[str, Any] = {
            "kind": case.kind,
            **_axis(case),
            **{f"{name}_ms": _ms(value) for name, value in asdict(summary).items() if name != "n"},
            "n": summary.n,
            "n_samples": len(series.steps),
            "n_disturbed": series.dropped,
            "busy_machine": series.busy,
            "single": len(series.steps) == 1,
            "stop": series.stop,
            "first_step_ratio": _rounded(series.first_step_ratio),
            "burst_ms": _ms(found.burst) if found else None,
            "sustained_ms": _ms(found.sustained) if found else None,
            "engine": context.queried(),
        }
        self.session.settings.setdefault("metrics", []).append(row)
        if found:
            text = f"{case} slowed down by {found.ratio - 1:.0%}; the slower part counts."
            self.session.warn("slowing", text)
        if series.busy:
            text = f"{series.dropped} of {len(series.steps)} samples shared the processor with other programs"
            self.session.warn("disturbed", f"{case}: {text}; close them and repeat for a figure to rely on.")
        if any(step.major_faults for step in series.steps):
            self.session.warn("paging", f"{case}: memory was read from disk while the clock ran.")


def _axis(case: Case) -> dict[str, int | None]:
    prefill = case.kind == "prefill"
    return {
        "prompt_tokens": case.tokens if prefill else None,
        "context_tokens": 0 if prefill else case.tokens,
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
