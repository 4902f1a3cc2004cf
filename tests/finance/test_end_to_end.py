"""One device, one API price, small numbers: every figure worked out by hand, to the cent."""

from __future__ import annotations

import datetime

import pytest

from planner.domain.figures import Basis
from planner.domain.prices import ApiPrice
from planner.finance.breakeven import break_even
from planner.finance.cashflow import all_in_monthly_usd, cash_flow, monthly_usd, upfront_usd
from planner.finance.costs import Amount, Component, Terms
from planner.finance.energy import machine_energy
from planner.finance.ranges import Range3
from planner.finance.sides import Side, Today
from planner.finance.tokens import Calls, Usage, monthly_variable

TODAY = datetime.date(2026, 12, 1)
TERMS = Terms(horizon_months=24, life_months=60)
# 100,000 calls of 800 input and 200 output tokens: 80 M + 20 M = 100 M tokens a month.
TOKENS_PER_MONTH = 100e6


def amount(name: str, usd: float, *, hardware: bool = False) -> Amount:
    return Amount(name, Range3.of(usd), Basis.ASSUMED, "by hand", "2026-12-01", hardware=hardware)


@pytest.fixture
def api() -> Side:
    # 80 M × $1/M + 20 M × $3/M = 80 + 60 = $140 a month; $1.40 per million, blended.
    price = ApiPrice(
        provider="acme",
        channel="api",
        model="m",
        input_usd_per_mtok=1.0,
        output_usd_per_mtok=3.0,
        source="by hand",
        as_of="2026-12-01",
    )
    tokens = monthly_variable(price, (Calls(100_000, Usage(800, 200)),), start=TODAY, horizon_months=24)
    assert tokens.reason is None
    return Side("api-acme", "Acme API", (Component("Acme", "api", variable=tokens.amounts),))


@pytest.fixture
def owned() -> Side:
    # Half of one machine is busy: it could serve 200 M tokens a month.
    # Idle 40 W × 730 h = 29.2 kWh × $0.10 = $2.92. Load adds 60 W × 365 h = 21.9 kWh × $0.10 = $2.19.
    energy = machine_energy(
        Range3.of(40), Range3.of(100), utilisation=0.5, pue=Range3.of(1), usd_per_kwh=Range3.of(0.10)
    )
    assert energy.idle_usd.mid == pytest.approx(2.92)
    assert energy.load_usd.mid == pytest.approx(2.19)
    component = Component(
        "Box",
        "owned",
        unit_load=0.5,
        min_machines=1,
        upfront_per_machine=(amount("GPU", 1000, hardware=True),),
        monthly_per_machine=(amount("Idle energy", energy.idle_usd.mid),),
        monthly_fixed=(amount("People", 30),),  # one hour at $30
        variable=(amount("Load energy", energy.load_usd.mid),),
    )
    return Side("own", "One box", (component,))


def test_monthly_cost_and_cost_per_million(api: Side, owned: Side) -> None:
    assert monthly_usd(api.components, TERMS).mid == pytest.approx(140.00)
    # 2.92 + 2.19 + 30 = 35.11 to run; 1000 / 24 = 41.67 a month for the box; 76.78 in all; / 100 M tokens =
    # 0.7678.
    assert monthly_usd(owned.components, TERMS).mid == pytest.approx(35.11)
    assert upfront_usd(owned.components, TERMS).mid == pytest.approx(1000)
    all_in = all_in_monthly_usd(owned.components, TERMS).mid
    assert round(all_in, 2) == 76.78
    assert round(all_in / (TOKENS_PER_MONTH / 1e6), 4) == 0.7678


def test_cash_flow_rows(owned: Side) -> None:
    flow = cash_flow(owned.components, TERMS)
    rows = {row.name: row.values for row in flow.rows}
    assert flow.months == tuple(range(25))
    assert rows["GPU"] == (1000.0, *[0.0] * 24)
    assert rows["People"] == (0.0, *[30.0] * 24)
    assert flow.total[0] == pytest.approx(1000)
    # 1000 + 24 × 35.11 = 1842.64
    assert round(sum(flow.total), 2) == 1842.64


def test_break_even_on_every_axis(api: Side, owned: Side) -> None:
    today = Today(TOKENS_PER_MONTH, users=5, hours_per_day=8, api_usd_per_mtok=1.40)
    found = break_even(api, owned, TERMS, today)
    # Month: 1000 / (140 - 35.11) = 1000 / 104.89 = 9.534
    assert found.month.status == "reached"
    assert found.month.value is not None
    assert found.month.value.number == pytest.approx(9.534, abs=5e-4)
    # Volume: (41.6667 + 2.92 + 30) / (1.40 - 0.0219) = 74.5867 / 1.3781 = 54.1228 M tokens.
    # A second machine at 200 M costs 44.59 more, but the API costs $280 there: no second crossing.
    assert found.tokens_per_month.crossings is not None
    (crossing,) = found.tokens_per_month.crossings
    assert crossing.value == pytest.approx(54.1228e6, rel=1e-5)
    assert crossing.winner_above == "own"
    # Utilisation 54.1228 / 200 = 27.06 %; users 5 × 0.541228 = 2.706.
    assert found.utilisation.value is not None
    assert found.utilisation.value.number == pytest.approx(0.270614, rel=1e-5)
    assert found.users.value is not None
    assert found.users.value.number == pytest.approx(2.70614, rel=1e-5)
    # Hours: API 17.50 h = 74.5867 + 0.27375 h  →  h = 74.5867 / 17.22625 = 4.3298
    assert found.hours_per_day.value is not None
    assert found.hours_per_day.value.number == pytest.approx(4.3298, abs=1e-4)
    # Token price at which 100 M tokens cost 76.78: 0.7678 per million.
    assert found.api_price.value is not None
    assert found.api_price.value.number == pytest.approx(0.767767, rel=1e-5)


def test_labels_of_the_answer(api: Side, owned: Side) -> None:
    dumped = break_even(api, owned, TERMS, Today(TOKENS_PER_MONTH)).model_dump(by_alias=True)
    assert (dumped["from"], dumped["to"]) == ("api-acme", "own")
    assert dumped["month"]["value"]["basis"] == "assumed"  # the weaker of listed (API) and assumed (box)
    assert dumped["users"]["status"] == "never"
    assert dumped["users"]["value"] is None
