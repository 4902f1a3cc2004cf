"""Repeats one measurement until it is precise enough or its time is up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from probes.statistics import Drift, Stop, Summary, converged, drift, summarise

OCCUPANCY_LIMIT = 0.9
"""Below this share of its threads' time on the processor, a step waited for other programs."""
DROP_LIMIT = 0.25
WARM_SPREAD = 0.05
WARM_CAP_S = 3.0
MIN_SAMPLE_S = 0.005
MIN_SERIES_S = 1.0
"""Shorter series catch the burst before clocks and temperatures settle."""


@dataclass(frozen=True)
class Step:
    """One raw sample: seconds for one unit of work, and how undisturbed it was."""

    seconds: float
    occupancy: float | None = None
    """CPU time over wall × threads; None where a GPU does the work."""
    major_faults: int | None = None

    @property
    def disturbed(self) -> bool:
        """Say whether other programs took the processor away during it."""
        return self.occupancy is not None and self.occupancy < OCCUPANCY_LIMIT


@dataclass
class Series:
    """All samples of one metric, with what ended it."""

    steps: list[Step] = field(default_factory=list)
    first_step_s: float | None = None
    stop: Stop = "time_cap"

    @property
    def dropped(self) -> int:
        """Return how many samples were disturbed."""
        return sum(step.disturbed for step in self.steps)

    @property
    def busy(self) -> bool:
        """Say whether so many samples were disturbed that none may be dropped: the machine was not free."""
        return self.dropped > DROP_LIMIT * len(self.steps)

    @property
    def kept(self) -> list[float]:
        """Return the seconds that count: the undisturbed ones, or all on a busy machine."""
        return [step.seconds for step in self.steps if self.busy or not step.disturbed]

    @property
    def drift(self) -> Drift | None:
        """Return the slow-down within the run, if there is a clear one."""
        return drift(self.kept)

    def summary(self) -> Summary:
        """Return the statistics of what counts; after a slow-down only the sustained part counts."""
        values = self.kept
        if self.drift is not None:
            values = values[-(len(values) // 3) :]
        return summarise(values)

    @property
    def first_step_ratio(self) -> float | None:
        """Return the first, cold step over the median of the rest."""
        if self.first_step_s is None or not self.steps:
            return None
        return self.first_step_s / statistics.median(step.seconds for step in self.steps)


def warm_up(step: Callable[[], Step], *, at_least: int, cap_s: float = WARM_CAP_S) -> list[Step]:
    """Run untimed steps until three in a row lie within 5 % or `cap_s` has passed; return them."""
    done: list[Step] = []
    until = time.perf_counter() + cap_s
    while True:
        done.append(step())
        last = [one.seconds for one in done[-3:]]
        steady = len(last) == 3 and max(last) <= min(last) * (1 + WARM_SPREAD)
        if (len(done) >= at_least and steady) or time.perf_counter() >= until:
            return done


def repeat(
    step: Callable[[], Step], *, precision: float, cap_s: float, series: Series, tell: Callable[[Step], None]
) -> Series:
    """Sample into `series` until the median is known to ± `precision` or `cap_s` seconds have passed.

    At least one sample is taken, however long it lasts, and at least a second passes if the cap allows.
    """
    started = time.perf_counter()
    until, not_before = started + cap_s, started + MIN_SERIES_S
    while True:
        sample = step()
        series.steps.append(sample)
        tell(sample)
        settled = time.perf_counter() >= not_before
        if settled and not series.busy and converged(series.kept, precision):
            series.stop = "precision"
            return series
        if time.perf_counter() + sample.seconds > until:
            series.stop = "time_cap"
            return series
