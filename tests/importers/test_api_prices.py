"""Conversion of genai-prices 0.2.3; expected rates are the vendors' own, as its comments cite them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from genai_prices import Usage, calc_price

from planner.domain.prices import ApiPrice, ConditionalRates
from planner.importers.api_prices import api_prices, installed_version

pytestmark = pytest.mark.skipif(installed_version() != "0.2.3", reason="spot values are those of 0.2.3")


@pytest.fixture(scope="module")
def prices() -> dict[str, ApiPrice]:
    found = api_prices()
    table = {price.key: price for price in found}
    assert len(table) == len(found), "two prices share a key"
    return table


def test_a_flat_price_with_cache_and_batch(prices: dict[str, ApiPrice]) -> None:
    # platform.claude.com pricing: $2 in, $0.20 read, $2.50 5-minute write, $4 1-hour write, $10 out; batch half.
    sonnet = prices["anthropic/claude-sonnet-5"]
    assert sonnet.channel == "api"
    assert sonnet.input_usd_per_mtok == 2
    assert sonnet.cached_input_usd_per_mtok == 0.2
    assert sonnet.cache_write_usd_per_mtok == 2.5
    assert sonnet.cache_write_1h_usd_per_mtok == 4
    assert sonnet.output_usd_per_mtok == 10
    assert sonnet.tiers == ()
    assert sonnet.batch is not None
    assert (sonnet.batch.input_usd_per_mtok, sonnet.batch.output_usd_per_mtok) == (1, 5)
    assert sonnet.as_of == "2026-11-10"
    assert "genai-prices 0.2.3" in sonnet.source


def test_a_tier_is_a_cliff_at_its_threshold(prices: dict[str, ApiPrice]) -> None:
    sol = prices["openai/gpt-6-sol"]
    tier = sol.tiers[0]
    assert (sol.input_usd_per_mtok, sol.output_usd_per_mtok) == (2, 10)
    assert tier.above_input_tokens == 272_000
    assert (tier.input_usd_per_mtok, tier.cached_input_usd_per_mtok) == (4, 0.4)
    assert (tier.cache_write_usd_per_mtok, tier.output_usd_per_mtok) == (5, 15)


def test_the_batch_example(prices: dict[str, ApiPrice]) -> None:
    # 100,000 input and 2,000 output tokens in a batch: 0.1 × $1 + 0.002 × $5 = $0.11.
    batch = prices["openai/gpt-6-sol"].batch
    assert batch is not None
    assert batch.input_usd_per_mtok is not None and batch.output_usd_per_mtok is not None
    assert 0.1 * batch.input_usd_per_mtok + 0.002 * batch.output_usd_per_mtok == pytest.approx(0.11)


def test_a_dated_change_doubles_standard_and_batch(prices: dict[str, ApiPrice]) -> None:
    argon = prices["google/gemini-4-argon"]
    assert (argon.input_usd_per_mtok, argon.output_usd_per_mtok) == (2, 10)
    assert argon.batch is not None and argon.batch.input_usd_per_mtok == 1
    (change,) = argon.conditional
    assert change.start_date == "2026-12-01"
    assert (change.input_usd_per_mtok, change.cached_input_usd_per_mtok, change.output_usd_per_mtok) == (4, 0.2, 20)
    assert change.batch is not None and change.batch.output_usd_per_mtok == 10
    # 100,000 input, 1,000 output from December: 0.1 × $4 + 0.001 × $20 = $0.42.
    assert pytest.approx(0.42) == 0.1 * 4 + 0.001 * 20


def test_peak_hours_come_last_and_win(prices: dict[str, ApiPrice]) -> None:
    flash = prices["deepseek/deepseek-v4-flash"]
    assert (flash.input_usd_per_mtok, flash.output_usd_per_mtok) == (0.15, 0.6)  # off-peak since 2026-09-10
    windows = [(rates.start_time_utc, rates.end_time_utc, rates.input_usd_per_mtok) for rates in flash.conditional]
    assert windows == [("01:00", "04:00", 0.3), ("06:00", "10:00", 0.3)]


def test_clouds_are_managed_and_bedrock_has_regions(prices: dict[str, ApiPrice]) -> None:
    assert prices["aws/google.gemma-3-27b-it"].channel == "managed"
    glob = prices["aws/global.anthropic.claude-sonnet-5-5@global"]
    regional = prices["aws/regional.anthropic.claude-sonnet-5-5@regional"]
    assert glob.input_usd_per_mtok == 2
    assert regional.input_usd_per_mtok == 2.2  # regional endpoints cost ten percent more
    assert prices["google/claude-sonnet-5-5"].channel == "managed"
    assert prices["google/gemma-4-26b-a4b-it-maas"].channel == "managed"
    assert prices["google/gemini-3.8-flash"].channel == "api"


def test_nothing_is_free(prices: dict[str, ApiPrice]) -> None:
    assert "google/gemma-4-31b-it" not in prices  # free of charge, no paid tier
    assert not any(key.endswith(":free") for key in prices)
    for price in prices.values():
        assert price.input_usd_per_mtok and price.output_usd_per_mtok, price.key
        for rates in (price, *price.tiers, *price.conditional, *([price.batch] if price.batch else [])):
            assert all(value is None or value > 0 for value in rates_of(rates)), price.key


def rates_of(rates: object) -> list[float | None]:
    return [value for name, value in vars(rates).items() if name.endswith("usd_per_mtok")]


def active(price: ApiPrice, moment: datetime) -> ApiPrice | ConditionalRates:
    """The rates of a moment by the rule in ApiPrice: the last matching condition wins."""
    found: ApiPrice | ConditionalRates = price
    for rates in price.conditional:
        clock, start, end = moment.strftime("%H:%M"), rates.start_time_utc, rates.end_time_utc
        dated = rates.start_date is not None and rates.start_date <= moment.date().isoformat()
        if dated or (start is not None and end is not None and start <= clock < end):
            found = rates
    return found


@pytest.mark.parametrize("moment", [datetime(2026, 11, 10, 12), datetime(2026, 12, 1, 2), datetime(2027, 1, 2, 7)])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "deepseek", "mistral", "x-ai", "groq", "aws"])
@pytest.mark.parametrize("size", [50_000, 600_000])
def test_the_bill_is_genai_prices_own(prices: dict[str, ApiPrice], provider: str, moment: datetime, size: int) -> None:
    """An independent oracle: the package's own calculator, for every plain model of a provider."""
    stamp = moment.replace(tzinfo=UTC)
    checked = 0
    for price in prices.values():
        if price.provider != provider:
            continue
        rates: object = active(price, moment)
        reached = [tier for tier in getattr(rates, "tiers", ()) if size > tier.above_input_tokens]
        rates = reached[-1] if reached else rates
        try:
            bill = calc_price(
                Usage(input_tokens=size, output_tokens=1000), price.model, provider_id=provider,
                genai_request_timestamp=stamp,
            )  # fmt: skip
        except (LookupError, ValueError):
            continue
        if bill.model.id != price.model:
            continue
        ours = (size * rates.input_usd_per_mtok + 1000 * rates.output_usd_per_mtok) / 1e6
        assert ours == pytest.approx(float(bill.total_price), rel=1e-9), price.key
        checked += 1
    assert checked >= 3
