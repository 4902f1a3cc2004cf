"""The share of draws that an option wins."""

import numpy as np

from planner.domain.figures import Basis
from planner.finance.chances import cheapest_share, triangular
from planner.finance.costs import Amount, Component, Terms
from planner.finance.ranges import Range3
from planner.finance.sides import Side


def _monthly(name, low, mid, high, source="s"):
    amount = Amount(name, Range3(low, mid, high), Basis.ASSUMED, source, "2026-12-01")
    return Component(name=name, path="rented", min_machines=1, monthly_per_machine=(amount,))


def _shares(*components):
    sides = [Side(component.name, component.name, (component,)) for component in components]
    return cheapest_share(sides, Terms(horizon_months=12))


def test_a_cost_that_is_never_beaten_wins_always():
    shares = _shares(_monthly("a", 1, 2, 3), _monthly("b", 4, 5, 6))
    assert shares == {"a": 1.0, "b": 0.0}


def test_two_independent_equal_ranges_win_half_each():
    shares = _shares(_monthly("a", 1, 2, 3), _monthly("b", 1, 2, 3))
    # 4,000 draws: three standard errors of a share of one half are 0.024.
    assert abs(shares["a"] - 0.5) < 0.024


def test_a_shared_assumption_is_drawn_once():
    # The same amount in both and one dollar on top of `b`: `a` wins every draw although the ranges overlap.
    shared = Amount("host", Range3(1, 50, 100), Basis.ASSUMED, "s", "2026-12-01")
    extra = Amount("more", Range3.of(1), Basis.ASSUMED, "t", "2026-12-01")
    a = Component(name="a", path="rented", min_machines=1, monthly_per_machine=(shared,))
    b = Component(name="b", path="rented", min_machines=1, monthly_per_machine=(shared, extra))
    assert _shares(a, b) == {"a": 1.0, "b": 0.0}


def test_triangular_quantiles_by_hand():
    # l=0, m=1, h=4: turn at 1/4. u=1/16: sqrt(1/16·4·1) = 0.5. u=1/4: 1. u=0.75: 4 - sqrt(0.25·4·3) = 4 - 1.7320508.
    places = np.array([0.0, 1 / 16, 1 / 4, 0.75, 1.0])
    expected = [0.0, 0.5, 1.0, 4 - 3**0.5, 4.0]
    assert np.allclose(triangular(Range3(0, 1, 4), places), expected)
