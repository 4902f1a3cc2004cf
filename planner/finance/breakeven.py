"""When and where one option overtakes another: by month, volume, utilisation, users, hours and token price.
"""

from __future__ import annotations

from planner.domain.plan import BreakEven
from planner.finance.costs import Terms
from planner.finance.levels import cost_levels
from planner.finance.over_axes import hours_point, price_point
from planner.finance.over_months import month_point
from planner.finance.over_volume import (
    DEFAULT_HIGHEST_TOKENS,
    Staircases,
    users_point,
    utilisation_point,
    volume_point,
)
from planner.finance.sides import CostsAt, Pair, Side, Today


def break_even(
    a: Side,
    b: Side,
    terms: Terms,
    today: Today,
    *,
    highest_tokens_per_month: float = DEFAULT_HIGHEST_TOKENS,
    costs_at_hours: CostsAt | None = None,
) -> BreakEven:
    """Return when option `b` overtakes option `a`, on every axis.

    Months compare cumulative money as demand grows; the other axes compare the even monthly cost at a
    constant demand. `low` is where the dearest case of `a` meets the cheapest of `b`, `high` the other way
    round: outer bounds. `costs_at_hours` gives both options' components at a number of hours a day, where
    hours change more than the variable and hourly money.
    """
    pair = Pair(a, b, terms)
    curves = Staircases(cost_levels(a.components, terms), cost_levels(b.components, terms))
    volume, first = volume_point(pair, curves, today, highest_tokens_per_month)
    return BreakEven(
        **{"from": a.id},
        to=b.id,
        month=month_point(pair, discounted=False),
        month_discounted=month_point(pair, discounted=True),
        tokens_per_month=volume,
        utilisation=utilisation_point(pair, curves),
        users=users_point(pair, volume, first, today),
        hours_per_day=hours_point(pair, curves, today, costs_at_hours),
        api_price=price_point(pair, curves, today),
    )
