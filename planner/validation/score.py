"""How wrong the estimator is on published measurements: median and P90 error, bias, coverage of its intervals.

Run: `python -m planner.validation.score [--leave-out device|model]`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from planner.domain.errors import PlannerError
from planner.domain.figures import Figure
from planner.performance.estimate import estimate
from planner.store.folders import shipped_profiles
from planner.validation import cross
from planner.validation.design import Effects, keys_of, table_of
from planner.validation.rows import Measurement, load
from planner.validation.solve import solve, weights_of
from planner.workspace import Workspace


@dataclass(frozen=True)
class Scored:
    """One measurement with its prediction; without an interval when the fit predicted it directly."""

    measurement: Measurement
    predicted: float
    low: float | None = None
    high: float | None = None

    @property
    def error(self) -> float:
        """Return the error relative to the measurement."""
        return self.predicted / self.measurement.measured - 1.0

    @property
    def covered(self) -> bool | None:
        """Say whether the interval holds the measurement."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.measurement.measured <= self.high


@dataclass(frozen=True)
class Score:
    """Errors of one kind of rows. Each hardware × model group has one vote: the median of its rows."""

    name: str
    rows: int
    groups: int
    median: float
    p90: float
    bias: float
    """Median signed error."""
    coverage: float | None
    """Share of rows inside their 80 % interval."""


def ask(measurement: Measurement) -> Scored | str:
    """Return a measurement with the shipped estimator's answer, or the reason why there is none."""
    m = measurement
    try:
        concurrency = m.concurrency or saturating(m)
        found = estimate(
            m.setup, m.kind, context_tokens=m.context_tokens, prompt_tokens=m.prompt_tokens,
            output_tokens=m.output_tokens, concurrency=concurrency,
        )  # fmt: skip
    except PlannerError as error:
        return error.message
    assert isinstance(found, Figure)
    return Scored(m, found.number, found.low, found.high) if found.known else (found.reason or "unknown")


def saturating(measurement: Measurement) -> float:
    """Return the concurrency of a row that says "as many as fit"."""
    return float(table_of([measurement]).batch[0])


def by_parts(scored: Iterable[Scored], part: Callable[[Measurement], str]) -> list[Score]:
    """Return scores by part, confidence A and B rows only, in alphabetical order."""
    table: dict[str, list[Scored]] = defaultdict(list)
    for one in scored:
        if one.measurement.confidence in ("A", "B"):
            table[part(one.measurement)].append(one)
    return [_score(name, rows) for name, rows in sorted(table.items())]


def _score(name: str, rows: Sequence[Scored]) -> Score:
    groups: dict[str, list[float]] = defaultdict(list)
    for one in rows:
        groups[one.measurement.group].append(one.error)
    errors = np.array([np.median(np.abs(values)) for values in groups.values()])
    inside = [one.covered for one in rows if one.covered is not None]
    return Score(
        name=name, rows=len(rows), groups=len(groups), median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)), bias=float(np.median([np.median(v) for v in groups.values()])),
        coverage=float(np.mean(inside)) if inside else None,
    )  # fmt: skip


def part_of(measurement: Measurement) -> str:
    """Return the part of the accuracy table that a measurement belongs to."""
    return f"{measurement.phase} {measurement.sort}"


def left_out(measurements: Sequence[Measurement], by: str) -> list[Scored]:
    """Return predictions by fits that did not see the row's device or model."""
    used = [m for m in measurements if m.setup.speculative is None]
    effects, table, weights = Effects([keys_of(m) for m in used]), table_of(used), weights_of(used)
    warm = solve(table, effects, weights)
    residuals = cross.left_out(used, table, effects, weights, warm, by)
    return [Scored(m, float(m.measured * np.exp(-r))) for m, r in zip(used, residuals, strict=True)]


def text(scores: Sequence[Score]) -> str:
    """Return scores as an aligned table."""
    lines = [f"{'part':<20}{'rows':>6}{'groups':>8}{'median':>9}{'P90':>8}{'bias':>8}{'in 80 %':>9}"]
    for s in scores:
        inside = "" if s.coverage is None else f"{s.coverage:.0%}"
        lines.append(f"{s.name:<20}{s.rows:>6}{s.groups:>8}{s.median:>9.1%}{s.p90:>8.1%}{s.bias:>+8.1%}{inside:>9}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m planner.validation.score", description=__doc__)
    parser.add_argument("--measurements", type=Path, default=shipped_profiles() / "measurements")
    parser.add_argument("--leave-out", choices=sorted(cross.BY))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as empty:
        measurements, _ = load(options.measurements, Workspace(Path(empty)).library())
    if options.leave_out:
        scored = left_out(measurements, options.leave_out)
    else:
        answers = [ask(m) for m in measurements]
        scored = [one for one in answers if isinstance(one, Scored)]
        refused = len(answers) - len(scored)
        if refused:
            sys.stdout.write(f"{refused} rows without an answer\n")
    sys.stdout.write(text(by_parts(scored, part_of)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
