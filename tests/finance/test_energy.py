"""Electricity, carbon, and a machine's cost split between input and output."""

from __future__ import annotations

import pytest

from planner.domain.errors import InputError
from planner.finance.effective import split_by_time, usd_per_mtok
from planner.finance.energy import gco2e_per_mtok, kwh_per_mtok, machine_energy, monthly_kwh_per_mtok
from planner.finance.ranges import Range3


def test_energy_of_a_month_with_cooling() -> None:
    # Idle 100 W × 730 h × PUE 1.5 = 109.5 kWh; load adds 200 W × 730 h × 25 % × 1.5 = 54.75 kWh; at $0.20
    # each kWh.
    found = machine_energy(
        Range3.of(100), Range3.of(300), utilisation=0.25, pue=Range3.of(1.5), usd_per_kwh=Range3.of(0.20)
    )
    assert found.idle_kwh.mid == pytest.approx(109.5)
    assert found.load_kwh.mid == pytest.approx(54.75)
    assert found.kwh.mid == pytest.approx(164.25)
    assert (found.idle_usd.mid, found.load_usd.mid) == pytest.approx((21.90, 10.95))


def test_bounds_of_watts_and_tariff_multiply() -> None:
    found = machine_energy(
        Range3(10, 20, 30),
        Range3(100, 200, 300),
        utilisation=0.0,
        pue=Range3(1, 1.2, 1.5),
        usd_per_kwh=Range3(0.1, 0.2, 0.3),
    )
    # 10 W × 730 h = 7.3 kWh × 0.1; 30 W × 730 h × 1.5 = 32.85 kWh × 0.3
    assert (found.idle_usd.low, found.idle_usd.high) == pytest.approx((0.73, 9.855))
    assert found.load_usd == Range3(0, 0, 0)


def test_utilisation_beyond_one_is_an_error() -> None:
    one = Range3.of(1)
    with pytest.raises(InputError, match="between 0 and 1"):
        machine_energy(one, one, utilisation=1.2, pue=one, usd_per_kwh=one)


def test_carbon_of_a_million_tokens() -> None:
    # 360 W at 100 tok/s = 3.6 J a token = 1 kWh per million; on a 400 g grid 400 g.
    assert kwh_per_mtok(360, 100) == pytest.approx(1.0)
    assert kwh_per_mtok(360, 100, pue=1.5) == pytest.approx(1.5)
    assert gco2e_per_mtok(1.0, 400) == 400
    # Idle hours count: 164.25 kWh over 50 M tokens.
    assert monthly_kwh_per_mtok(164.25, 50e6) == pytest.approx(3.285)


def test_split_by_time_adds_up() -> None:
    # $100 for 80 M input and 20 M output; input takes 1 of 5 seconds: 20 / 80 = 0.25 and 80 / 20 = 4 per
    # million.
    found = split_by_time(100, 80e6, 20e6, 1.0, 4.0)
    assert found.input == pytest.approx(0.25)
    assert found.output == pytest.approx(4.0)
    assert found.blended == pytest.approx(1.0)


def test_split_without_output_has_no_output_price() -> None:
    assert split_by_time(100, 10e6, 0, 1.0, 0.0).output is None


def test_cost_per_token_needs_a_speed() -> None:
    with pytest.raises(InputError):
        usd_per_mtok(1.0, 0.0)
