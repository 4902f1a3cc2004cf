from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.repeat import Series, Step, repeat, warm_up
from probes.statistics import converged, drift, interval_ranks, median_interval, quantile, summarise


@pytest.mark.parametrize(
    ("n", "ranks"),
    # Tables of the sign test: n=6 [1, 6] 96.9 %, 10 [2, 9] 97.9 %, 15 [4, 12] 96.5 %, 20 [6, 15] 95.9 %,
    # 30 [10, 21] 95.7 %.
    [(6, (1, 6)), (10, (2, 9)), (15, (4, 12)), (20, (6, 15)), (30, (10, 21))],
)
def test_ranks_of_the_median_interval(n, ranks):
    assert interval_ranks(n) == ranks


def test_five_values_cannot_give_95_percent():
    # 1 - 2 / 2^5 = 93.75 %.
    assert interval_ranks(5) is None
    assert median_interval([1, 2, 3, 4, 5]) is None


def test_convergence_needs_ten_values_and_a_narrow_interval():
    # Ranks 2 and 9 of ten: (1.03 - 0.97) / 2 over the median 1.0 = 3 %.
    values = [0.5, 0.97, 1, 1, 1, 1, 1, 1, 1.03, 9.0]
    assert converged(values, 0.0301) and not converged(values, 0.0299)
    assert not converged([1.0] * 9, 0.5)


def test_summary_by_hand():
    found = summarise([4.0, 1.0, 3.0, 2.0, 100.0])
    # Median 3; deviations 1 2 0 1 97: median 1. Below six values the bounds are the range. p90 = 4 + 0.6 * 96.
    assert (found.median, found.mad, found.low, found.high, found.minimum) == (3.0, 1.0, 1.0, 100.0, 1.0)
    assert found.p90 == pytest.approx(61.6)
    single = summarise([2.0])
    assert (single.low, single.high) == (None, None)


def test_drift_is_seen_only_when_clear():
    steady = [1.00, 1.01, 0.99, 1.0] * 3
    assert drift(steady) is None
    slowing = [1.0] * 4 + [1.1] * 4 + [1.3] * 4
    assert drift(slowing).ratio == pytest.approx(1.3)
    assert drift([1.3] * 4 + [1.1] * 4 + [1.0] * 4) is None


@given(st.lists(st.floats(0.001, 1000), min_size=6, max_size=80))
def test_the_interval_holds_the_median_and_lies_within_the_range(values):
    low, high = median_interval(values)
    assert min(values) <= low <= quantile(values, 0.5) * (1 + 1e-12) and high <= max(values)
    assert low <= high


def steps(*seconds):
    feed = iter(seconds)
    return lambda: Step(next(feed), 1.0)


def test_disturbed_steps_are_dropped_unless_they_are_many():
    calm = Series([Step(1.0, 0.99)] * 8 + [Step(5.0, 0.5)] * 2)
    assert (calm.dropped, calm.busy, set(calm.kept)) == (2, False, {1.0})
    busy = Series([Step(1.0, 0.99)] * 7 + [Step(5.0, 0.5)] * 3)
    assert busy.busy and len(busy.kept) == 10


def test_after_a_slow_down_the_sustained_part_counts():
    series = Series([Step(s) for s in [1.0] * 4 + [1.1] * 4 + [1.3] * 4])
    assert series.summary().median == 1.3


def test_one_sample_is_taken_even_without_time():
    series = repeat(steps(9.0), precision=0.03, cap_s=0.0, series=Series(), tell=lambda step: None)
    assert (len(series.steps), series.stop) == (1, "time_cap")


def test_warm_up_goes_on_until_three_steps_agree():
    assert len(warm_up(steps(9, 2, 1, 1.01, 1.02, 7), at_least=1)) == 5
    assert len(warm_up(steps(*[1.0] * 20), at_least=8)) == 8
