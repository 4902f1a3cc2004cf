"""Bills of model calls: cached, written, tiers, dates, hours, batch and unknown rates."""

from __future__ import annotations

import datetime

import pytest

from planner.domain.errors import InputError
from planner.domain.figures import Basis
from planner.domain.prices import ApiPrice, ConditionalRates, TierRates, TokenRates
from planner.finance.tokens import (
    Calls,
    Usage,
    call_usd,
    effective_input_usd_per_mtok,
    monthly_variable,
    rates_at,
)

DAY = datetime.date(2026, 12, 1)


def price(**more: object) -> ApiPrice:
    given = {"input_usd_per_mtok": 2.0, "output_usd_per_mtok": 10.0, **more}
    return ApiPrice.model_validate(
        {"provider": "p", "channel": "api", "model": "m", "source": "s", "as_of": "2026-12-01", **given}
    )


def test_cached_tokens_are_billed_once() -> None:
    """BerriAI/litellm issue 14849: 262,960 prompt tokens of which 257,955 cached, 1,744 output.

    5,005 × 1.25 + 257,955 × 0.625 + 1,744 × 10 = 184,918 per million = $0.1849; billed twice it would be
    about $0.51 more.
    """
    asked = price(input_usd_per_mtok=1.25, cached_input_usd_per_mtok=0.625)
    bill = call_usd(asked, Usage(262_960, 1_744, cached_tokens=257_955), when=DAY)
    assert bill.usd == pytest.approx(0.184918, abs=5e-7)
    assert dict(bill.parts) == pytest.approx(
        {"input": 0.00625625, "cached_input": 0.161221875, "output": 0.01744}
    )


def test_both_contracts_of_input_tokens() -> None:
    """microsoft/conductor pull 427: 18,973 input tokens already include 18,971 written ones; 2 are fresh."""
    included = Usage.reported(
        input_tokens=18_973, output_tokens=10, cache_write_tokens=18_971, input_includes_cached=True
    )
    apart = Usage.reported(
        input_tokens=2, output_tokens=10, cache_write_tokens=18_971, input_includes_cached=False
    )
    assert included == apart
    assert included.fresh_tokens == 2


def test_more_cached_than_input_tokens_is_an_error() -> None:
    with pytest.raises(InputError, match="more than"):
        Usage(100, 10, cached_tokens=101)


def test_no_cached_rate_bills_as_input_and_says_so() -> None:
    bill = call_usd(price(), Usage(1_000_000, 0, cached_tokens=400_000), when=DAY)
    assert bill.usd == pytest.approx(2.0)
    assert any("cached tokens are billed as input" in note for note in bill.notes)
    assert call_usd(price(), Usage(1_000_000, 0), when=DAY).notes == ()


def test_cache_writes_have_their_own_rate() -> None:
    # 100 fresh × 2 + 600 written × 2.5 + 300 read × 0.2 = 200 + 1500 + 60 = 1760 per million
    asked = price(cached_input_usd_per_mtok=0.2, cache_write_usd_per_mtok=2.5)
    usage = Usage(1000, 0, cached_tokens=300, cache_write_tokens=600)
    assert call_usd(asked, usage, when=DAY).usd == pytest.approx(1760e-6)
    # effective input price: 1760 / 1000 tokens = $1.76 per million, beside the list's $2
    assert effective_input_usd_per_mtok(asked, usage, when=DAY) == pytest.approx(1.76)


def test_long_cache_writes_without_a_rate_are_not_priced() -> None:
    asked = price(cache_write_usd_per_mtok=2.5)
    bill = call_usd(asked, Usage(1000, 0, cache_write_1h_tokens=500), when=DAY)
    assert bill.usd is None
    assert bill.reason == "no rate for cache writes (1 h)"


def test_context_tier_is_a_cliff() -> None:
    tier = TierRates(above_input_tokens=200_000, input_usd_per_mtok=4.0, output_usd_per_mtok=15.0)
    asked = price(tiers=(tier,), cached_input_usd_per_mtok=0.5)
    assert call_usd(asked, Usage(200_000, 0), when=DAY).usd == pytest.approx(0.40)  # 200k × $2
    assert call_usd(asked, Usage(200_001, 0), when=DAY).usd == pytest.approx(0.800004)  # all of it × $4
    # A kind that the tier doesn't name keeps its rate: 100k × $4 + 200k × $0.50 = 0.50
    assert call_usd(asked, Usage(300_000, 0, cached_tokens=200_000), when=DAY).usd == pytest.approx(0.50)


def test_batch_has_its_own_cached_rate() -> None:
    """Not half of everything: pydantic/genai-prices pull 547 has $0.02 where half would be $0.03."""
    rates = TokenRates(input_usd_per_mtok=0.15, cached_input_usd_per_mtok=0.02, output_usd_per_mtok=0.6)
    asked = price(
        input_usd_per_mtok=0.3, cached_input_usd_per_mtok=0.06, output_usd_per_mtok=1.2, batch=rates
    )
    usage = Usage(1_000_000, 0, cached_tokens=1_000_000)
    assert call_usd(asked, usage, when=DAY, batch=True).usd == pytest.approx(0.02)
    assert call_usd(asked, usage, when=DAY).usd == pytest.approx(0.06)


def test_no_batch_rates_is_not_priced() -> None:
    bill = call_usd(price(), Usage(1, 1), when=DAY, batch=True)
    assert bill.usd is None
    assert bill.reason == "p/m lists no batch rates"


@pytest.mark.parametrize("rate", [None, 0.0])
def test_unknown_and_zero_prices_are_not_free(rate: float | None) -> None:
    bill = call_usd(price(output_usd_per_mtok=rate), Usage(1000, 1000), when=DAY)
    assert bill.usd is None
    assert bill.reason is not None
    assert "no output price" in bill.reason


def test_dated_rates() -> None:
    later = ConditionalRates(start_date="2027-01-01", input_usd_per_mtok=4.0, output_usd_per_mtok=20.0)
    asked = price(conditional=(later,))
    assert rates_at(asked, datetime.date(2026, 12, 31)).usd_per_mtok["input"] == 2.0
    assert rates_at(asked, datetime.date(2027, 1, 1)).usd_per_mtok["input"] == 4.0


def test_last_matching_condition_wins_and_ends_on_its_last_day() -> None:
    first = ConditionalRates(start_date="2026-01-01", input_usd_per_mtok=5.0, output_usd_per_mtok=5.0)
    sale = ConditionalRates(
        start_date="2026-11-01", end_date="2026-12-01", input_usd_per_mtok=1.0, output_usd_per_mtok=5.0
    )
    asked = price(conditional=(first, sale))
    assert rates_at(asked, DAY).usd_per_mtok["input"] == 1.0
    assert rates_at(asked, datetime.date(2026, 12, 2)).usd_per_mtok["input"] == 5.0


@pytest.mark.parametrize(
    ("hour", "expected"), [(15.9, 2.0), (16.5, 1.0), (23.0, 1.0), (0.4, 1.0), (0.5, 2.0), (12.0, 2.0)]
)
def test_time_of_day_over_midnight(hour: float, expected: float) -> None:
    night = ConditionalRates(
        start_time_utc="16:30", end_time_utc="00:30", input_usd_per_mtok=1.0, output_usd_per_mtok=5.0
    )
    assert rates_at(price(conditional=(night,)), DAY, hour_utc=hour).usd_per_mtok["input"] == expected


@pytest.mark.parametrize(("hour", "expected"), [(7.9, 2.0), (8.0, 1.0), (15.9, 1.0), (16.0, 2.0)])
def test_time_of_day_includes_its_first_minute_and_not_its_last(hour: float, expected: float) -> None:
    day = ConditionalRates(
        start_time_utc="08:00", end_time_utc="16:00", input_usd_per_mtok=1.0, output_usd_per_mtok=5.0
    )
    assert rates_at(price(conditional=(day,)), DAY, hour_utc=hour).usd_per_mtok["input"] == expected


def test_unknown_hours_leave_timed_rates_out_and_say_so() -> None:
    night = ConditionalRates(
        start_time_utc="16:30", end_time_utc="00:30", input_usd_per_mtok=1.0, output_usd_per_mtok=5.0
    )
    rates = rates_at(price(conditional=(night,)), DAY)
    assert rates.usd_per_mtok["input"] == 2.0
    assert any("time of day" in note for note in rates.notes)


def test_monthly_amounts_follow_dated_prices() -> None:
    """Starting 2026-11-15, month 3 is January: the price doubles then.

    10,000 calls × 1,000 input tokens = 10 M × $2 = $20 a month, $40 from January.
    """
    later = ConditionalRates(start_date="2027-01-01", input_usd_per_mtok=4.0, output_usd_per_mtok=10.0)
    found = monthly_variable(
        price(conditional=(later,)),
        (Calls(10_000, Usage(1000, 100)),),
        start=datetime.date(2026, 11, 15),
        horizon_months=4,
    )
    by_name = {amount.name: amount for amount in found.amounts}
    assert by_name["Input tokens"].usd.mid == pytest.approx(20.0)
    assert by_name["Input tokens"].month_multiplier == pytest.approx((1, 1, 2, 2))
    assert by_name["Output tokens"].month_multiplier is None
    assert by_name["Output tokens"].usd.mid == pytest.approx(10.0)
    assert by_name["Output tokens"].basis == Basis.LISTED
    assert "prices change by date within the horizon" in found.notes


def test_monthly_amounts_bill_each_length_at_its_own_tier() -> None:
    """Two turns of one call each, one on either side of the threshold.

    100k × $2 = 0.20 and 300k × $4 = 1.20; at the mean length of 200k it would be 0.80.
    """
    tier = TierRates(above_input_tokens=200_000, input_usd_per_mtok=4.0, output_usd_per_mtok=10.0)
    turns = (Calls(1, Usage(100_000, 0)), Calls(1, Usage(300_000, 0)))
    found = monthly_variable(price(tiers=(tier,)), turns, start=DAY, horizon_months=1)
    assert sum(amount.usd.mid for amount in found.amounts) == pytest.approx(1.40)


def test_monthly_amounts_without_a_price() -> None:
    calls = (Calls(10, Usage(10, 10)),)
    found = monthly_variable(price(input_usd_per_mtok=None), calls, start=DAY, horizon_months=3)
    assert found.amounts == ()
    assert found.reason is not None


def test_price_that_vanishes_within_the_horizon_is_not_priced() -> None:
    gone = ConditionalRates(start_date="2027-01-01")
    calls = (Calls(10, Usage(10, 10)),)
    found = monthly_variable(price(conditional=(gone,)), calls, start=DAY, horizon_months=3)
    assert found.amounts == ()
    assert found.reason is not None
