"""Statuses and reasons of break-even points, resale in the month, limits, and search along other axes."""

from __future__ import annotations

import numpy as np
import pytest

from planner.domain.figures import Basis
from planner.domain.plan import BreakEven
from planner.finance.breakeven import break_even
from planner.finance.costs import Amount, Component, Terms
from planner.finance.crossings import bisect, sign_changes
from planner.finance.over_months import cumulative, month_point
from planner.finance.ranges import Range3
from planner.finance.sides import Pair, Side, Today


def amount(usd: float | Range3, *, hardware: bool = False, hourly: bool = False) -> Amount:
    cases = usd if isinstance(usd, Range3) else Range3.of(usd)
    return Amount("x", cases, Basis.ASSUMED, "by hand", "2026-12-01", hardware=hardware, hourly=hourly)


def api(usd: float | Range3) -> Side:
    return Side("api", "API", (Component("API", "api", variable=(amount(usd),)),))


def own(price: float, monthly: float = 0.0, load: float = 0.5) -> Side:
    box = Component("Box", "owned", load, 1, (amount(price, hardware=True),), (amount(monthly),))
    return Side("own", "Box", (box,))


def compare(a: Side, b: Side, terms: Terms, tokens: float = 1e6) -> BreakEven:
    return break_even(a, b, terms, Today(tokens, users=2, hours_per_day=8, api_usd_per_mtok=1.0))


def test_owning_that_costs_more_each_month_never_pays() -> None:
    found = compare(api(10), own(100, monthly=20), Terms(12)).month
    assert found.status == "never"
    assert "costs at least as much to run each month" in found.reason


def test_break_even_beyond_the_horizon_says_how_far() -> None:
    # 100 up front, 5 saved a month: after 12 months 60 are back, 40 / 5 = 8 months more.
    found = compare(api(10), own(100, monthly=5), Terms(12)).month
    assert found.status == "not_reached"
    assert found.searched == (0, 12)
    assert "8 months more" in found.reason


def test_cheaper_from_the_first_month() -> None:
    found = compare(api(10), own(0, monthly=5), Terms(12)).month
    assert found.status == "reached"
    assert found.value is not None
    assert found.value.number == 0
    assert "from the first month" in found.reason


def test_discounting_puts_break_even_later() -> None:
    # 1 % a month: 100 = 20 × (1 - 1.01^-n) / 0.01. Five months bring 97.07; the sixth 20 / 1.01^6 = 18.84
    # more. 5 + (100 - 97.0686) / 18.8409 = 5.1556
    found = compare(api(20), own(100), Terms(12, discount_rate_per_year=1.01**12 - 1))
    assert found.month.value is not None
    assert found.month.value.number == pytest.approx(5.0)
    assert found.month_discounted.value is not None
    assert found.month_discounted.value.number == pytest.approx(5.1556, abs=1e-4)


def test_resale_is_apart_unless_asked_for() -> None:
    # 100 up front, a quarter left at 4 months: worth 50 after two. 20 a month saved: at the end of month 2 40
    # are back and 50 could be, of 100. At month 3: 60 + 100 × 0.25^(3/4) = 60 + 35.355. Month 4: 80 + 25 =
    # 105. Between 3 and 4: (100 - 95.355) / (105 - 95.355) = 0.4816.
    terms = Terms(8, residual_fraction=Range3.of(0.25), residual_at_month=4)
    pair = Pair(api(20), own(100), terms)
    plain = month_point(pair, discounted=False)
    resold = month_point(pair, discounted=False, with_resale=True)
    assert plain.value is not None
    assert plain.value.number == pytest.approx(5)
    assert resold.value is not None
    assert resold.value.number == pytest.approx(3.4816, abs=1e-4)


def test_replacement_can_lose_what_was_won() -> None:
    # 100 back after 5 months at 20; at the end of month 6 a new box: 120 - 200 = -80, back at 6 + 80 / 20 =
    # 10.
    found = compare(api(20), own(100), Terms(12, life_months=6)).month
    assert found.value is not None
    assert found.value.number == pytest.approx(5)
    assert "loses that again in month 6.0" in found.reason


def test_range_of_the_api_bill_becomes_bounds() -> None:
    # 100 / 25 = 4, 100 / 20 = 5, 100 / 10 = 10 months
    found = compare(api(Range3(10, 20, 25)), own(100), Terms(12)).month
    assert (found.low, found.high) == pytest.approx((4, 10))


def test_no_volume_helps_where_every_token_costs_more() -> None:
    dear = Side("own", "Box", (Component("Box", "owned", 0.0, 1, (), (amount(5),), (), (amount(20),)),))
    found = compare(api(10), dear, Terms(12))
    assert found.tokens_per_month.status == "never"
    assert "costs more than API at every volume searched" in found.tokens_per_month.reason
    assert found.users.status == "never"


def test_volume_beyond_the_range_searched_is_not_reached() -> None:
    big = own(12_000, load=1e-9)  # 1000 a month against 1 a million tokens: at 1000 M
    found = break_even(api(1), big, Terms(12), Today(1e6), highest_tokens_per_month=500e6).tokens_per_month
    assert found.status == "not_reached"
    assert found.searched is not None
    assert found.searched[1] == pytest.approx(500e6)


def test_a_limit_of_an_option_ends_the_search() -> None:
    limited = Component("API", "api", variable=(amount(10),), max_factor=3.0)
    found = compare(Side("api", "API", (limited,)), own(12_000, load=1e-9), Terms(12)).tokens_per_month
    assert found.searched is not None
    assert found.searched[1] == pytest.approx(3e6)


def test_full_machines_that_stay_dearer() -> None:
    # The box costs 100 / 10 = 10 a month; full it replaces 2 × 4 = 8 of the API's bill.
    found = compare(api(4), own(100), Terms(10)).utilisation
    assert found.status == "never"
    assert "even fully used" in found.reason


def test_hours_with_hourly_rent() -> None:
    # API 80 at 8 h: 10 h. Rent 6 an hour a day = 48 at 8 h, fixed 20: 10 h = 20 + 6 h → 5 hours.
    pod = Component("Pod", "rented", 0.5, 1, (), (amount(48, hourly=True),), (amount(20),))
    found = compare(api(80), Side("pod", "Pod", (pod,)), Terms(12)).hours_per_day
    assert found.value is not None
    assert found.value.number == pytest.approx(5.0)


def test_hours_with_components_of_the_caller() -> None:
    # The caller's rule: the API bill follows the square of the hours, 80 × (h / 8)², the pod costs 45: h = 6.
    pod = Side("pod", "Pod", (Component("Pod", "rented", 0.5, 1, (), (amount(45),)),))

    def at(hours: float) -> tuple[tuple[Component, ...], tuple[Component, ...]]:
        return api(80 * (hours / 8) ** 2).components, pod.components

    found = break_even(api(80), pod, Terms(12), Today(1e6, hours_per_day=8), costs_at_hours=at).hours_per_day
    assert found.value is not None
    assert found.value.number == pytest.approx(6.0)


def test_token_price_between_two_apis_decides_nothing() -> None:
    found = compare(
        api(10), Side("b", "B", (Component("B", "managed", variable=(amount(10),)),)), Terms(12)
    ).api_price
    assert found.status == "never"
    assert "decides nothing" in found.reason


def test_mixed_option_pays_part_by_the_token() -> None:
    # API 100; mixed = box 30 a month + 40 by token. k × 100 = 30 + k × 40 → k = 0.5, price 0.5 of $1/M.
    box = Component("Box", "owned", 0.5, 1, (), (amount(30),))
    mixed = Side("mix", "Mixed", (box, Component("API", "api", variable=(amount(40),))))
    found = compare(api(100), mixed, Terms(12)).api_price
    assert found.value is not None
    assert found.value.number == pytest.approx(0.5)


def test_sign_changes_inside_at_and_between_pieces() -> None:
    left, right = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    found = sign_changes(left, right, np.array([-1.0, 3.0, -1.0]), np.array([1.0, 2.0, 0.0]), np.ones(3))
    # -1 → 1 over (0, 1) crosses at 0.5; 2 → -1 jumps at 2; it ends at 0 without turning.
    assert [(c.at, c.upward, c.jump) for c in found.changes] == [(0.5, True, False), (2.0, False, True)]
    assert (found.first_sign, found.last_sign) == (-1, -1)


def test_a_tie_is_no_crossing() -> None:
    piece = (np.array([0.0]), np.array([1.0]), np.array([1e-14]), np.array([-1e-14]), np.ones(1))
    assert sign_changes(*piece).changes == ()


def test_bisect_finds_a_root() -> None:
    found = bisect(lambda x: x**2 - 2, 0, 2)
    assert [change.at for change in found.changes] == pytest.approx([2**0.5])


def test_replacement_trades_the_old_for_the_new_at_its_worth() -> None:
    # 100 up front, a quarter left after its life of 4 months. At the end of month 4: 100 paid, 25 held = 75. At the
    # start of month 5: 200 paid, 25 got, 100 held = 75. At the end of the 8 months: 200 - 25 - 25 = 150.
    terms = Terms(8, life_months=4, residual_fraction=Range3.of(0.25), residual_at_month=4)
    at_start, at_end = cumulative(own(100).components, terms, discounted=False, with_resale=True)
    assert (at_end[1, 3], at_start[1, 4], at_end[1, 7]) == pytest.approx((75, 75, 150))


@pytest.mark.parametrize("turned", [False, True])
def test_range_of_the_api_price_becomes_bounds_of_the_volume(turned: bool) -> None:
    # The box costs 100 / 10 = 10 a month; tokens at 8, 10 or 12.5 a million: 1.25 M, 1 M or 0.8 M.
    sides = api(Range3(8, 10, 12.5)), own(100, load=0.1)
    found = compare(*(sides[::-1] if turned else sides), Terms(10)).tokens_per_month
    assert found.crossings is not None
    (crossing,) = found.crossings
    assert (crossing.low, crossing.value, crossing.high) == pytest.approx((0.8e6, 1e6, 1.25e6))
    assert crossing.winner_above == "own"
