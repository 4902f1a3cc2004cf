"""Published break-even and cost figures, reproduced from their own inputs (sources in each table)."""

from __future__ import annotations

import datetime

import pytest

from planner.domain.figures import Basis
from planner.domain.prices import ApiPrice
from planner.finance.breakeven import break_even
from planner.finance.cashflow import all_in_monthly_usd, cash_flow
from planner.finance.costs import Amount, Component, Terms
from planner.finance.effective import usd_per_mtok
from planner.finance.energy import kwh_per_mtok, machine_energy
from planner.finance.levels import cost_levels
from planner.finance.over_months import month_point
from planner.finance.over_volume import Staircases, volume_point
from planner.finance.ranges import Range3
from planner.finance.sides import Pair, Side, Today
from planner.finance.tokens import Usage, call_usd


def amount(usd: float, *, hardware: bool = False) -> Amount:
    return Amount("x", Range3.of(usd), Basis.LISTED, "published", "2025-09-01", hardware=hardware)


def by_token(usd: float) -> Side:
    return Side("api", "API", (Component("API", "api", variable=(amount(usd),)),))


# arXiv 2509.18101v3, Table IV (2025-09): A100 cards at 300 W or an RTX 5090 at 500 W, 176 hours a month,
# $0.15/kWh, one input token for two output tokens; nothing wears out (the life is put beyond the horizon).
# Months = capex / (API bill - electricity). capex, watts, M tokens a month, API $/M input, $/M output,
# published months, decimals
ARXIV = [
    ("B001", 240_000, 4800, 506.9, 1.25, 10, 69.3, 1),
    ("B002", 240_000, 4800, 506.9, 15, 75, 8.7, 1),  # published rounds 8.648 up
    ("B003", 240_000, 4800, 506.9, 3, 15, 44.0, 1),
    ("B006", 90_000, 1800, 253.4, 1.25, 10, 51.5, 1),
    ("B007", 90_000, 1800, 253.4, 15, 75, 6.5, 1),
    ("B008", 90_000, 1800, 253.4, 3, 15, 32.8, 1),
    ("B011", 60_000, 1200, 253.4, 1.25, 10, 34.0, 1),
    ("B012", 60_000, 1200, 253.4, 15, 75, 4.3, 1),
    ("B013", 60_000, 1200, 253.4, 3, 15, 21.8, 1),
    ("B021", 30_000, 600, 126.7, 1.25, 10, 34.0, 1),
    ("B022", 30_000, 600, 126.7, 15, 75, 4.3, 1),
    ("B023", 30_000, 600, 126.7, 3, 15, 21.8, 1),
    ("B031", 2_000, 500, 126.7, 1.25, 10, 2.26, 2),
    ("B032", 2_000, 500, 126.7, 15, 75, 0.3, 1),
    ("B033", 2_000, 500, 126.7, 3, 15, 1.4, 1),  # published cuts 1.449 off
]


@pytest.mark.parametrize("case", ARXIV, ids=[case[0] for case in ARXIV])
def test_months_until_owned_beats_an_api(
    case: tuple[str, float, float, float, float, float, float, int],
) -> None:
    _, capex, watts, mtok, usd_in, usd_out, published, decimals = case
    power = machine_energy(
        Range3.of(0),
        Range3.of(watts),
        utilisation=1,
        pue=Range3.of(1),
        usd_per_kwh=Range3.of(0.15),
        hours_on=176,
    )
    machine = Component(
        "node", "owned", 1.0, 1, (amount(capex, hardware=True),), variable=(amount(power.load_usd.mid),)
    )
    api = by_token(mtok * (usd_in / 3 + usd_out * 2 / 3))
    found = month_point(
        Pair(api, Side("own", "node", (machine,)), Terms(120, life_months=240)), discounted=False
    )
    assert found.value is not None
    assert found.value.number == pytest.approx(published, abs=10**-decimals * 0.55)


def test_volume_crossing_of_a_published_audit() -> None:
    """An API at $1.40/M against pods is tied at 235,714,286 tokens (redhat-performance/configiq, 2026).

    A pod carries 100 tok/s × 5 × 0.90 × 100 h × 3600 s / 2 = 81 M tokens; $100 each + $30 whatever their number.
    One: 130 / 1.40 = 92.9 M, beyond its 81 M. Two: 230 / 1.40 = 164.3 M, beyond 162 M. Three: 330 / 1.40 =
    235.714286 M, within 243 M. The fourth, at 243 M, costs 430 against 340.20: lost again until 430 / 1.40 =
    307.14 M. With the tenth (1030 / 1.40 = 735.7 M) it is won for good: at 810 M the API costs 1134, eleven
    pods 1130.
    """
    rented = Component("pod", "rented", 1 / 81, 1, (), (amount(100),), (amount(30),))
    sides = by_token(1.40), Side("rent", "Rented", (rented,))
    found = break_even(*sides, Terms(1), Today(1e6)).tokens_per_month
    assert found.crossings is not None
    places = [(round(c.value), c.winner_above) for c in found.crossings]
    assert places[:3] == [(235_714_286, "rent"), (243_000_000, "api"), (307_142_857, "rent")]
    assert places[-1] == (735_714_286, "rent")
    assert len(places) == 15  # won by the 3rd to the 10th machine, lost at the 4th to the 10th
    assert "loses from 243 M when a further machine is needed" in found.reason


@pytest.mark.parametrize("utilisation", [1.0, 0.3, 0.1])
def test_break_even_volume_does_not_move_with_utilisation(utilisation: float) -> None:
    """B057-B059: a node reserved at $4,608 a month ties a $10/M API at 4608 / 10 = 460.8 M tokens.

    The source ($6.40 × 720 h) prints 0.46 M, 1.5 M and 4.6 M for 100, 30 and 10 % use; the bill is the same, so
    must be the volume.
    """
    tokens = 3400 * 730 * 3600 * utilisation
    node = Component("node", "rented", utilisation, 1, (), (amount(6.40 * 720),))
    api, own = by_token(tokens / 1e6 * 10), Side("node", "Node", (node,))
    pair = Pair(api, own, Terms(12))
    curves = Staircases(cost_levels(api.components, pair.terms), cost_levels(own.components, pair.terms))
    point, _ = volume_point(pair, curves, Today(tokens))
    assert point.crossings is not None
    assert point.crossings[0].value == pytest.approx(460.8e6)


# $/h, tok/s, utilisation, published $/M, decimals: self-hosting posts and benchmark tables of 2025-2026.
HOURLY = [
    ("B051", 2.50, 700, 1.0, 0.99, 2),
    ("B052", 2.50, 700, 0.1, 9.9, 1),
    ("B067", 3.00, 5000, 1.0, 0.17, 2),
    ("B100", 3.67, 2486.88, 1.0, 0.4099, 4),
    ("B107", 6.98, 255.15, 1.0, 7.5991, 4),
    ("B116", 13.96, 4452.81, 1.0, 0.8709, 4),
    ("B124", 14.68, 3132.88, 1.0, 1.3016, 4),
    ("B137", 2.69, 15103.48, 1.0, 0.04947, 5),
    ("B147", 2.69, 16541.95, 1.0, 0.04517, 5),
    ("B184", 2.25, 2462, 1.0, 0.2539, 4),
]


@pytest.mark.parametrize("case", HOURLY, ids=[case[0] for case in HOURLY])
def test_cost_per_million_from_an_hourly_price(case: tuple[str, float, float, float, float, int]) -> None:
    _, usd_per_hour, tok_per_s, utilisation, published, decimals = case
    # Half a unit of the last printed digit, and half a unit of the printed speed's.
    assert usd_per_mtok(usd_per_hour, tok_per_s, utilisation) == pytest.approx(
        published, abs=0.5 * 10**-decimals + published * 0.005 / tok_per_s
    )


# input tokens, output tokens, $/M in, $/M out, published $ a call; B162 is published rounded up to 0.0035.
CALLS = [
    ("B161", 500, 200, 0.50, 1.50, 0.00055),
    ("B162", 500, 200, 2.50, 10, 0.00325),
    ("B165", 1200, 350, 2.50, 10, 0.0065),
    ("B168", 2000, 500, 3, 15, 0.0135),
    ("B170", 800, 200, 3, 15, 0.0054),
]


@pytest.mark.parametrize("case", CALLS, ids=[case[0] for case in CALLS])
def test_cost_of_a_call(case: tuple[str, int, int, float, float, float]) -> None:
    _, n_in, n_out, usd_in, usd_out, published = case
    price = ApiPrice(
        provider="p",
        channel="api",
        model="m",
        input_usd_per_mtok=usd_in,
        output_usd_per_mtok=usd_out,
        source="published",
        as_of="2026-01-01",
    )
    assert call_usd(price, Usage(n_in, n_out), when=datetime.date(2026, 12, 1)).usd == pytest.approx(
        published
    )


@pytest.mark.parametrize(
    ("watts", "hours", "usd_per_kwh", "published"),
    # B174, B095: 0.45 kW × 4 h × 30.4 d × 0.15 = 8.21; 0.35 kW × 160 h × 0.15 = 8.40
    [(450, 121.6, 0.15, 8.21), (450, 243.2, 0.15, 16.42), (450, 729.6, 0.15, 49.25), (350, 160, 0.15, 8.40)],
)
def test_monthly_electricity(watts: float, hours: float, usd_per_kwh: float, published: float) -> None:
    energy = machine_energy(
        Range3.of(0),
        Range3.of(watts),
        utilisation=1,
        pue=Range3.of(1),
        usd_per_kwh=Range3.of(usd_per_kwh),
        hours_on=hours,
    )
    assert round(energy.load_usd.mid, 2) == published


def test_energy_of_a_token() -> None:
    # B180: 1500 W / 41.8 tok/s = 35.9 J = 9.97 kWh per million. B073: 600 W at 6 tok/s and $0.20/kWh =
    # $5.56/M.
    assert kwh_per_mtok(1500, 41.8) * 3.6 == pytest.approx(35.9, abs=0.05)
    assert round(kwh_per_mtok(600, 6) * 0.2, 2) == 5.56
    # B072: 201.6 tok/s at 450 W are 1,612,800 tokens per kWh.
    assert 1e6 / kwh_per_mtok(450, 201.6) == pytest.approx(1_612_800)


def test_three_years_of_a_colocated_node() -> None:
    """B154: 155,000 + 2,450 × 36 + 10,000 × 3 = 273,200 dollars."""
    node = Component(
        "node", "owned", 1.0, 1, (amount(155_000, hardware=True),), (amount(2_450),), (amount(10_000 / 12),)
    )
    assert sum(cash_flow((node,), Terms(36)).total) == pytest.approx(273_200)


def test_straight_cost_without_interest_and_resale() -> None:
    """B189 and B190: cards over 36 months and the saving against a cloud at $12,000 a month.

    35,000 / 36 = 972.22 a month; saving (12,000 - 972.22 - 500) × 36 = 379,000 (379,008 rounded).
    """
    cards = Component("cards", "owned", 1.0, 1, (amount(35_000, hardware=True),))
    monthly = all_in_monthly_usd((cards,), Terms(36)).mid
    assert monthly == pytest.approx(972.22, abs=0.005)
    assert (12_000 - round(monthly) - 500) * 36 == 379_008
