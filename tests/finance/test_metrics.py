"""Present value, internal rate, payback, annuity and levelised price, by hand and against numpy-financial."""

from __future__ import annotations

import numpy as np
import numpy_financial as npf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.errors import NoAnswerError
from planner.finance.metrics import annuity, irr, levelised_usd_per_mtok, monthly_rate, npv, payback_months

rates = st.floats(0.0, 0.5)
flows = st.lists(st.floats(-1e5, 1e5).map(lambda x: round(x, 2)), min_size=2, max_size=60)


def test_npv_by_hand() -> None:
    # 21 % a year: month 12 is worth 1 / 1.21, month 24 1 / 1.4641.
    year = [0.0] * 25
    year[0], year[12], year[24] = -100, 121, 146.41
    assert npv(year, 0.21) == pytest.approx(-100 + 100 + 100)


@given(flows)
def test_npv_without_interest_is_the_sum(values: list[float]) -> None:
    assert npv(values, 0.0) == pytest.approx(sum(values), abs=1e-6)


@given(flows, rates)
def test_npv_as_another_library_has_it(values: list[float], rate: float) -> None:
    assert npv(values, rate) == pytest.approx(npf.npv(monthly_rate(rate), values), rel=1e-9, abs=1e-6)


@given(st.floats(1, 1e6), rates, st.integers(1, 240))
def test_annuity_as_another_library_has_it(present: float, rate: float, count: int) -> None:
    assert annuity(present, rate, count) == pytest.approx(
        -npf.pmt(monthly_rate(rate), count, present), rel=1e-7
    )


def test_annuity_without_interest() -> None:
    assert annuity(1200, 0.0, 12) == pytest.approx(100)


@given(st.floats(100, 1e5), st.floats(0.05, 5.0), st.integers(12, 60))
def test_irr_as_another_library_has_it(outlay: float, share: float, count: int) -> None:
    values = [-outlay, *[outlay * share] * count]
    found = irr(values).value
    assert found is not None
    # By definition: at that rate the present value is zero.
    assert npv(values, found) == pytest.approx(0, abs=1e-6 * outlay)
    monthly = npf.irr(values)
    if not np.isnan(monthly):
        assert (1 + found) ** (1 / 12) - 1 == pytest.approx(monthly, abs=1e-6)


def test_irr_by_hand() -> None:
    assert irr([-100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 110]).value == pytest.approx(0.10)


@pytest.mark.parametrize(
    ("values", "text"),
    [([100, 50], "none is laid out"), ([-100, -50], "none comes back"), ([0, 0, 0], "all flows are zero")],
)
def test_irr_that_does_not_exist(values: list[float], text: str) -> None:
    found = irr(values)
    assert found.value is None
    assert text in found.reason


def test_several_internal_rates_are_listed_and_none_chosen() -> None:
    # -100 + 230 x - 132 x² with x = 1 / (1 + i): roots x = 1/1.1 and 1/1.2, so 10 % and 20 % a month.
    found = irr([-100, 230, -132])
    assert found.value is None
    assert found.roots_per_year == pytest.approx((1.1**12 - 1, 1.2**12 - 1))
    assert "change sign more than once" in found.reason


def test_payback_within_the_month() -> None:
    assert payback_months([-100, 40, 40, 40]) == pytest.approx(2.5)


def test_payback_counts_from_the_last_time_the_money_was_out() -> None:
    # Cumulative -100, 20, -80, 40: back for good at 2 + 80 / 120.
    assert payback_months([-100, 120, -100, 120]) == pytest.approx(2 + 80 / 120)


def test_payback_at_once_and_never() -> None:
    assert payback_months([0, 5, 5]) == 0
    with pytest.raises(NoAnswerError, match="within 2 months"):
        payback_months([-100, 40, 40])


@given(st.lists(st.floats(0, 1e5), min_size=3, max_size=40), rates)
def test_levelised_price_makes_npv_zero(costs: list[float], rate: float) -> None:
    tokens = [0.0, *[1e8 + i * 1e6 for i in range(len(costs) - 1)]]
    price = levelised_usd_per_mtok(costs, tokens, rate)
    margin = [price * t / 1e6 - cost for t, cost in zip(tokens, costs, strict=True)]
    assert npv(margin, rate) == pytest.approx(0, abs=1e-6 * (1 + sum(costs)))


def test_levelised_price_without_tokens() -> None:
    with pytest.raises(NoAnswerError):
        levelised_usd_per_mtok([1, 1], [0, 0], 0.1)
