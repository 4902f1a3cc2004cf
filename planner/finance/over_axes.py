"""Hours a day and token price at which one option overtakes another."""

from __future__ import annotations

from collections.abc import Callable

from planner.domain.plan import BreakEvenPoint
from planner.finance.crossings import bisect
from planner.finance.levels import cost_levels
from planner.finance.over_volume import HIGH, LOW, MID, Staircases
from planner.finance.ranges import Array
from planner.finance.sides import CostsAt, Pair, Today

HOURS_IN_DAY = 24.0
CostsOfBoth = Callable[[float], tuple[Array, Array]]


def hours_point(
    pair: Pair, curves: Staircases, today: Today, costs_at_hours: CostsAt | None = None
) -> BreakEvenPoint:
    """Return the hours a day at which `b` costs no more than `a`, the rush within an hour staying as it is.

    Machines stay today's, as the busiest hour does; variable and hourly money follow the hours. Where more
    changes with the hours, `costs_at_hours` gives both options' components at a number of hours.
    """
    if today.hours_per_day <= 0:
        return pair.missed("never", "no hours a day are described", None)
    searched = (0.0, HOURS_IN_DAY)
    if costs_at_hours is not None:
        both = _from_components(pair, costs_at_hours)
        return solve(pair, both, "hours", searched)
    ends = [h / today.hours_per_day for h in searched]
    a, b = ([side.at_hours(ratio) for ratio in ends] for side in (curves.a, curves.b))

    def both_at(hours: float) -> tuple[Array, Array]:
        share = hours / HOURS_IN_DAY
        return a[0] + (a[1] - a[0]) * share, b[0] + (b[1] - b[0]) * share

    return solve(pair, both_at, "hours", searched, pieces=1)


def solve(
    pair: Pair, costs: CostsOfBoth, unit: str, searched: tuple[float, float], *, pieces: int = 256
) -> BreakEvenPoint:
    """Return where `b` first becomes no dearer than `a` along an axis, given both costs, three cases each.

    Searched piece by piece by halving; `pieces=1` is exact for costs that are straight lines.
    """

    def first_up(case_a: int, case_b: int) -> tuple[int, float | None]:
        found = bisect(lambda x: _difference(costs, x, case_a, case_b), *searched, pieces=pieces)
        up = next((change.at for change in found.changes if change.upward), None)
        return found.first_sign, searched[0] if found.first_sign > 0 else up

    sign, value = first_up(MID, MID)
    low = first_up(HIGH, LOW)[1]
    if sign > 0:
        reason = f"{pair.b.name} is cheaper than {pair.a.name} from {searched[0]:g} {unit} on"
        return pair.missed("never", reason, searched)
    if sign == 0:
        return pair.missed("never", f"{pair.b.name} and {pair.a.name} cost the same throughout", searched)
    if value is None:
        reason = f"{pair.b.name} costs more than {pair.a.name} up to {searched[1]:g} {unit}"
        return pair.missed("never" if unit == "hours" else "not_reached", reason, searched, low)
    reason = f"above this {pair.b.name} is cheaper than {pair.a.name}"
    return pair.reached(value, unit, reason, searched, low=low, high=first_up(LOW, HIGH)[1])


def price_point(pair: Pair, curves: Staircases, today: Today) -> BreakEvenPoint:
    """Return the blended token price at which both options cost the same at today's demand.

    All prices by the token change by one factor k, on both sides. Formula: k = (other money of b - other
    money of a) / (token money of a - token money of b); the price is k × today's.
    """
    price = today.api_usd_per_mtok
    if price is None or price <= 0:
        return pair.missed("never", "nothing is paid by the token, or its price isn't known", None)
    token_a, token_b = curves.a.by_token(), curves.b.by_token()
    other_a, other_b = curves.a.all_in(1.0) - token_a, curves.b.all_in(1.0) - token_b
    factor = _price_factor((token_a, other_a, MID), (token_b, other_b, MID))
    if factor is None:
        reason = f"{pair.b.name} pays as much by the token as {pair.a.name}, so its price decides nothing"
        return pair.missed("never", reason, None)
    if factor <= 0:
        return pair.missed("never", f"{pair.b.name} would be cheaper even if tokens cost nothing", None)
    low = _price_factor((token_a, other_a, HIGH), (token_b, other_b, LOW))
    high = _price_factor((token_a, other_a, LOW), (token_b, other_b, HIGH))
    reason = f"above this token price {pair.b.name} is cheaper than {pair.a.name}; today's is {price:.4g}"
    bounds = tuple(None if k is None else max(0.0, k) * price for k in (low, high))
    return pair.reached(factor * price, "USD/Mtok", reason, None, low=bounds[0], high=bounds[1])


def _price_factor(a: tuple[Array, Array, int], b: tuple[Array, Array, int]) -> float | None:
    """Return the factor on token prices that ties two (token money, other money, case)."""
    token_a, other_a = float(a[0][a[2]]), float(a[1][a[2]])
    token_b, other_b = float(b[0][b[2]]), float(b[1][b[2]])
    by_token = token_a - token_b
    return (other_b - other_a) / by_token if by_token > 1e-12 * token_a else None


def _from_components(pair: Pair, costs_at: CostsAt) -> CostsOfBoth:
    def both(x: float) -> tuple[Array, Array]:
        a, b = costs_at(x)
        return cost_levels(a, pair.terms).all_in(1.0), cost_levels(b, pair.terms).all_in(1.0)

    return both


def _difference(costs: CostsOfBoth, x: float, case_a: int, case_b: int) -> float:
    a, b = costs(x)
    return float(a[case_a] - b[case_b])
