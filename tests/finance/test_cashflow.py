"""Cash flow by month: growth, whole machines, replacement, resale, sunk machines, price changes."""

from __future__ import annotations

import pytest

from planner.domain.errors import InputError
from planner.domain.figures import Basis
from planner.finance.cashflow import all_in_monthly_usd, cash_flow, monthly_usd, upfront_usd
from planner.finance.costs import Amount, Component, Terms, machines
from planner.finance.ranges import Range3

HALF = Range3.of(0.5)


def amount(name: str, usd: float, **more: object) -> Amount:
    return Amount(name, Range3.of(usd), Basis.ASSUMED, "by hand", "2026-12-01", **more)  # type: ignore[arg-type]


def box(load: float = 1.0) -> Component:
    return Component(
        "Box",
        "owned",
        load,
        1,
        upfront_per_machine=(amount("GPU", 1000, hardware=True), amount("Install", 100)),
        monthly_per_machine=(amount("Idle energy", 10),),
    )


def rows(component: Component, terms: Terms) -> dict[str, list[float]]:
    return {row.name: list(row.values) for row in cash_flow((component,), terms).rows}


def test_growth_buys_a_machine_before_the_month_that_needs_it() -> None:
    # Load 0.9 grows 10 % a month: 0.9, 0.99, 1.089 → the second machine serves from month 3, paid at the end
    # of 2.
    found = rows(box(0.9), Terms(4, monthly_growth=0.10))
    assert found["GPU"] == [1000, 0, 1000, 0, 0]
    assert found["Install"] == [100, 0, 100, 0, 0]
    assert found["Idle energy"] == [0, 10, 10, 20, 20]


def test_bought_machines_stay_and_rented_ones_go_when_demand_falls() -> None:
    # Load 2 falls by half: 2, 1, 0.5.
    falling = Terms(3, monthly_growth=-0.5)
    rented = Component("Pod", "rented", 2.0, 0, monthly_per_machine=(amount("Rent", 10),))
    assert rows(box(2.0), falling)["Idle energy"] == [0, 20, 20, 20]
    assert rows(rented, falling)["Rent"] == [0, 20, 10, 10]


def test_replacement_at_the_end_of_life_with_resale_of_both() -> None:
    # Life 12, horizon 18, a quarter left at 24 months, so 0.25^(12/24) = 0.5 at 12 and 0.25^(6/24) = 0.7071
    # at 6.
    terms = Terms(18, life_months=12, residual_fraction=Range3.of(0.25), residual_at_month=24)
    found = rows(box(), terms)
    assert found["GPU"][0] == 1000
    assert found["GPU, replacement"][12] == 1000
    assert found["Resale"][12] == pytest.approx(-500)
    assert found["Resale"][18] == pytest.approx(-707.107, abs=1e-3)
    assert found["Install"] == [100, *[0] * 18]
    assert sum(found["GPU, replacement"]) == 1000


def test_life_that_ends_with_the_horizon_is_not_replaced() -> None:
    found = rows(box(), Terms(12, life_months=12, residual_fraction=HALF))
    assert "GPU, replacement" not in found
    assert found["Resale"] == [*[0] * 12, -500]


def test_marginal_scope_leaves_out_what_is_bought_but_not_what_growth_adds() -> None:
    terms = Terms(4, monthly_growth=0.10, residual_fraction=HALF, cost_scope="marginal")
    found = rows(box(0.9), terms)
    assert found["GPU"] == [0, 0, 1000, 0, 0]
    assert found["Install"] == [0, 0, 100, 0, 0]
    # The second machine is 2 months old at the end: 0.5^(2/4) = 0.7071.
    assert found["Resale"][4] == pytest.approx(-707.107, abs=1e-3)
    # Without growth nothing but running cost is left: 10 a month.
    assert all_in_monthly_usd((box(),), Terms(12, cost_scope="marginal")).mid == pytest.approx(10)


def test_token_prices_drift_by_the_year_and_hardware_energy_does_not() -> None:
    # 19 % less a year: after 6 months × 0.81^0.5 = 0.9.
    terms = Terms(7, api_price_change_per_year=-0.19)
    api = Component("API", "api", variable=(amount("Input tokens", 100),))
    own = Component("Box", "owned", 1.0, 1, variable=(amount("Load energy", 100),))
    assert rows(api, terms)["Input tokens"][7] == pytest.approx(90)
    assert rows(own, terms)["Load energy"][7] == 100


def test_dated_price_change_shows_from_its_month() -> None:
    api = Component("API", "api", variable=(amount("Input tokens", 100, month_multiplier=(1.0, 2.0)),))
    assert rows(api, Terms(4))["Input tokens"] == [0, 100, 200, 200, 200]
    # Average of 100, 200, 200, 200 without interest = 175; the first month alone is 100.
    assert all_in_monthly_usd((api,), Terms(4)).mid == pytest.approx(175)
    assert monthly_usd((api,), Terms(4)).mid == 100


def test_levelised_cost_with_interest() -> None:
    # 12.6825 % a year is 1 % a month. 1000 over 12 months at 1 %: 1000 × 0.01 / (1 - 1.01^-12) = 88.849 a
    # month.
    terms = Terms(12, discount_rate_per_year=1.01**12 - 1)
    machine = Component("Box", "owned", 1.0, 1, (amount("GPU", 1000, hardware=True),))
    assert all_in_monthly_usd((machine,), terms).mid == pytest.approx(88.849, abs=5e-4)
    # Half comes back after 12 months: 500 × 0.01 / (1.01^12 - 1) = 39.424 less.
    resold = Terms(12, discount_rate_per_year=1.01**12 - 1, residual_fraction=HALF)
    assert all_in_monthly_usd((machine,), resold).mid == pytest.approx(88.849 - 39.424, abs=1e-3)


def test_cheapest_case_has_the_best_resale() -> None:
    price = Amount("GPU", Range3(900, 1000, 1200), Basis.LISTED, "s", "2026-12-01", hardware=True)
    machine = Component("Box", "owned", 1.0, 1, (price,))
    terms = Terms(10, residual_fraction=Range3(0.1, 0.3, 0.5))
    # (900 - 450) / 10 = 45; (1000 - 300) / 10 = 70; (1200 - 120) / 10 = 108
    found = all_in_monthly_usd((machine,), terms)
    assert (found.low, found.mid, found.high) == pytest.approx((45, 70, 108))


def test_rows_of_several_components_carry_their_names() -> None:
    api = Component("API", "api", variable=(amount("Input tokens", 100),))
    flow = cash_flow((box(), api), Terms(2))
    names = [row.name for row in flow.rows]
    assert "Box: GPU" in names
    assert "API: Input tokens" in names
    assert flow.total[1] == 110
    assert upfront_usd((box(), api), Terms(2)).mid == 1100


@pytest.mark.parametrize(
    ("load", "least", "factor", "expected"),
    [
        (0.5, 1, 1.0, 1),
        (0.5, 1, 2.0, 1),
        (0.5, 1, 2.001, 2),
        (0.0, 0, 5.0, 0),
        (0.1, 2, 1.0, 2),
        (0.1, 1, 10.0, 1),
    ],
)
def test_whole_machines(load: float, least: int, factor: float, expected: int) -> None:
    assert machines(Component("c", "owned", load, least), factor) == expected


def test_negative_ranges_and_backward_ones_are_errors() -> None:
    with pytest.raises(InputError, match="low to high"):
        Range3.spanning(2, 1, 3)
    with pytest.raises(InputError, match="negative"):
        Range3.of(1).times(-1)
