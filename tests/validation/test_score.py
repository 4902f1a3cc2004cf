"""The shipped estimator against the published measurements. The bounds are what was reached, with some headroom."""

from __future__ import annotations

import pytest

from planner.store.folders import shipped_profiles
from planner.validation.rows import load
from planner.validation.score import Scored, ask, by_parts, part_of, text

# part: (median, P90) of the absolute error by hardware × model group, confidence A and B. In the sample.
BOUNDS = {
    "decode dense": (0.06, 0.15), "decode moe": (0.09, 0.22), "decode hybrid": (0.15, 0.28),
    "depth dense": (0.11, 0.22), "depth moe": (0.09, 0.20), "depth hybrid": (0.15, 0.25),
    "prefill dense": (0.13, 0.38), "prefill moe": (0.13, 0.22), "aggregate dense": (0.12, 0.25),
    "aggregate moe": (0.12, 0.25), "tpot dense": (0.12, 0.23), "tpot moe": (0.10, 0.40), "ttft dense": (0.32, 0.60),
    "ttft moe": (0.26, 0.62),
}  # fmt: skip


@pytest.fixture(scope="module")
def scores(library):
    measurements, skipped = load(shipped_profiles() / "measurements", library)
    print(f"{len(measurements)} rows, left out: {skipped}")
    assert len(measurements) > 1900
    answers = [ask(m) for m in measurements if m.setup.speculative is None]
    refused = [answer for answer in answers if not isinstance(answer, Scored)]
    assert len(refused) <= 0.01 * len(answers), refused[:5]
    found = by_parts([answer for answer in answers if isinstance(answer, Scored)], part_of)
    print(text(found))
    return {score.name: score for score in found}


@pytest.mark.parametrize("part", sorted(BOUNDS))
def test_errors_stay_within_what_was_reached(scores, part):
    median, p90 = BOUNDS[part]
    assert scores[part].median <= median
    assert scores[part].p90 <= p90
    assert abs(scores[part].bias) <= 0.12


def test_intervals_hold_at_least_the_promised_share(scores):
    rows = sum(score.rows for score in scores.values())
    inside = sum(score.rows * score.coverage for score in scores.values()) / rows
    print(f"{inside:.0%} of {rows} rows inside their 80 % interval")
    assert inside >= 0.78
