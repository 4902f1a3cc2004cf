"""What must hold for any option and any terms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.domain.figures import Basis
from planner.finance.breakeven import break_even
from planner.finance.cashflow import all_in_monthly_usd, cash_flow, total_cases
from planner.finance.costs import Amount, Component, Terms
from planner.finance.metrics import npv
from planner.finance.months import discount_factors
from planner.finance.over_months import month_point
from planner.finance.ranges import Range3
from planner.finance.sides import Pair, Side, Today

usd = st.floats(0, 5000).map(lambda x: round(x, 2))


@st.composite
def ranges(draw: st.DrawFn) -> Range3:
    low, mid, high = sorted(draw(st.tuples(usd, usd, usd)))
    return Range3(low, mid, high)


@st.composite
def amounts(draw: st.DrawFn, name: str, *, hardware: bool = False, dated: bool = False) -> Amount:
    factors = (
        draw(st.none() | st.lists(st.floats(0.2, 3), min_size=1, max_size=6).map(tuple)) if dated else None
    )
    return Amount(
        name,
        draw(ranges()),
        Basis.ASSUMED,
        "drawn",
        "2026-12-01",
        hardware=hardware,
        month_multiplier=factors,
    )


@st.composite
def machine_types(draw: st.DrawFn) -> Component:
    return Component(
        "Box",
        draw(st.sampled_from(["owned", "rented"])),
        draw(st.floats(0.01, 6)),
        draw(st.integers(0, 3)),
        upfront_per_machine=(draw(amounts("GPU", hardware=True)), draw(amounts("Install"))),
        monthly_per_machine=(draw(amounts("Idle", dated=True)),),
        monthly_fixed=(draw(amounts("People")),),
        variable=(draw(amounts("Load")),),
    )


@st.composite
def apis(draw: st.DrawFn) -> Component:
    return Component(
        "API", "api", variable=(draw(amounts("Input", dated=True)), draw(amounts("Output", dated=True)))
    )


@st.composite
def terms(draw: st.DrawFn, *, growth: bool = True, scopes: bool = True) -> Terms:
    low, mid, high = sorted(draw(st.tuples(*[st.floats(0, 1.5)] * 3)))
    return Terms(
        horizon_months=draw(st.integers(1, 60)),
        discount_rate_per_year=draw(st.sampled_from([0.0, 0.08, 0.3])),
        monthly_growth=draw(st.floats(-0.1, 0.1)) if growth else 0.0,
        life_months=draw(st.integers(1, 80)),
        residual_fraction=Range3(low, mid, high),
        residual_at_month=draw(st.none() | st.integers(1, 60)),
        cost_scope=draw(st.sampled_from(["full", "marginal"])) if scopes else "full",
        api_price_change_per_year=draw(st.sampled_from([0.0, -0.3, 0.1])),
    )


@given(machine_types(), apis(), terms())
def test_rows_add_up_to_the_total(machine: Component, api: Component, given_terms: Terms) -> None:
    flow = cash_flow((machine, api), given_terms)
    summed = np.sum([row.values for row in flow.rows], axis=0)
    assert summed == pytest.approx(np.array(flow.total), abs=1e-6)
    assert all(len(row.values) == len(flow.months) == given_terms.horizon_months + 1 for row in flow.rows)


@given(machine_types(), apis(), terms(growth=False))
def test_levelised_cost_is_worth_the_cash_flow(
    machine: Component, api: Component, given_terms: Terms
) -> None:
    weights = discount_factors(given_terms.discount_rate_per_year, given_terms.horizon_months)
    even = all_in_monthly_usd((machine, api), given_terms).mid
    worth = npv(cash_flow((machine, api), given_terms).total, given_terms.discount_rate_per_year)
    assert even * weights[1:].sum() == pytest.approx(worth, rel=1e-9, abs=1e-5)


@given(machine_types(), terms(scopes=False), st.floats(0.1, 5), st.floats(1.0, 3.0))
def test_more_volume_never_lowers_the_running_bill(
    machine: Component, given_terms: Terms, factor: float, more: float
) -> None:
    # Resale above the price is a gain per machine, so only what loses value is looked at.
    kept = Terms(
        given_terms.horizon_months, given_terms.discount_rate_per_year, life_months=given_terms.life_months
    )
    less_usd = all_in_monthly_usd((machine,), kept, factor).mid
    assert all_in_monthly_usd((machine,), kept, factor * more).mid >= less_usd - 1e-6


@given(machine_types(), apis(), terms(growth=False))
def test_break_even_month_is_where_the_curves_cross(machine: Component, api: Component, t: Terms) -> None:
    assume(t.life_months >= t.horizon_months)
    pair = Pair(Side("a", "A", (api,)), Side("b", "B", (machine,)), t)
    found = month_point(pair, discounted=False)
    # Without growth and replacement nothing is bought after month 0: both curves are straight within each
    # month.
    gap = np.cumsum((total_cases((api,), t, resale=False) - total_cases((machine,), t, resale=False))[1])
    if found.status == "reached" and found.value is not None and found.value.number > 0:
        at = np.interp(found.value.number, np.arange(gap.size), gap)
        assert at == pytest.approx(0, abs=1e-6 * (1 + np.abs(gap).max()))
        assert (gap[: int(found.value.number) + 1] <= 1e-6).all()
    elif found.status != "reached":
        assert (gap <= 1e-6 * (1 + np.abs(gap).max())).all()


@given(machine_types(), apis(), terms())
def test_discounting_at_zero_changes_nothing(machine: Component, api: Component, t: Terms) -> None:
    plain = Terms(t.horizon_months, 0.0, t.monthly_growth, t.life_months, t.residual_fraction)
    pair = Pair(Side("a", "A", (api,)), Side("b", "B", (machine,)), plain)
    assert month_point(pair, discounted=True) == month_point(pair, discounted=False)


@settings(max_examples=60)
@given(machine_types(), apis(), terms(), st.floats(0, 2000))
def test_dearer_power_never_helps_owning(machine: Component, api: Component, t: Terms, more: float) -> None:
    load = Amount("Load", machine.variable[0].usd + Range3.of(more), Basis.ASSUMED, "drawn", "2026-12-01")
    dearer = Component(
        machine.name,
        machine.path,
        machine.unit_load,
        machine.min_machines,
        machine.upfront_per_machine,
        machine.monthly_per_machine,
        machine.monthly_fixed,
        (load,),
    )
    points = [
        month_point(Pair(Side("a", "A", (api,)), Side("b", "B", (side,)), t), discounted=False)
        for side in (machine, dearer)
    ]
    before, after = (p.value.number if p.value is not None else float("inf") for p in points)
    assert after >= before - 1e-6


@settings(max_examples=60)
@given(machine_types(), apis(), terms())
def test_crossings_flip_the_cheaper_option(machine: Component, api: Component, t: Terms) -> None:
    a, b = Side("a", "A", (api,)), Side("b", "B", (machine,))
    found = break_even(a, b, t, Today(1e6), highest_tokens_per_month=50e6).tokens_per_month
    for crossing in found.crossings or ():
        # Next to a crossing the lines may be closer than rounding; 1e-6 to the side is inside its piece
        # almost always.
        below, above = (
            all_in_monthly_usd((api,), t, f).mid - all_in_monthly_usd((machine,), t, f).mid
            for f in (crossing.value / 1e6 * (1 - 1e-7), crossing.value / 1e6 * (1 + 1e-7))
        )
        wins = above if crossing.winner_above == "b" else -above
        loses = below if crossing.winner_above == "b" else -below
        assert wins >= -1e-6
        assert loses <= 1e-6


@settings(max_examples=40)
@given(machine_types(), apis(), terms())
def test_bounds_lie_around_the_crossing(machine: Component, api: Component, t: Terms) -> None:
    a, b = Side("a", "A", (api,)), Side("b", "B", (machine,))
    found = break_even(a, b, t, Today(1e6, users=4, hours_per_day=8, api_usd_per_mtok=2.0))
    for crossing in found.tokens_per_month.crossings or ():
        assert crossing.low is None or crossing.low <= crossing.value * (1 + 1e-9)
        assert crossing.high is None or crossing.high >= crossing.value * (1 - 1e-9)
    for point in (found.month, found.utilisation, found.users, found.hours_per_day, found.api_price):
        assert point.reason
        assert (point.value is not None) == (point.status == "reached")


@settings(max_examples=40)
@given(machine_types(), apis(), terms())
def test_asking_the_other_way_round_gives_the_same_places(
    machine: Component, api: Component, t: Terms
) -> None:
    a, b = Side("a", "A", (api,)), Side("b", "B", (machine,))
    there = break_even(a, b, t, Today(1e6), highest_tokens_per_month=20e6).tokens_per_month
    back = break_even(b, a, t, Today(1e6), highest_tokens_per_month=20e6).tokens_per_month
    first = [(c.value, c.winner_above) for c in there.crossings or ()]
    second = [(c.value, c.winner_above) for c in back.crossings or ()]
    assert first == pytest.approx(second) if not first else [x for x, _ in first] == [x for x, _ in second]
    assert [winner for _, winner in first] == [winner for _, winner in second]
