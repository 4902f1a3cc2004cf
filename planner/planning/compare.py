"""Break-even points and curves between the best options of the paths."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from planner.domain.plan import PATHS, BreakEven, Curve, Option, Path
from planner.domain.workload import Workload
from planner.finance.breakeven import break_even
from planner.finance.cashflow import total_cases
from planner.finance.chances import cheapest_share
from planner.finance.costs import Terms
from planner.finance.levels import cost_levels
from planner.finance.sides import Side, Today
from planner.planning.demand import MonthDemand
from planner.planning.drafts import Draft

SIDE_NAMES: dict[Path, str] = {
    "api": "the API", "managed": "the managed cloud", "rented": "renting", "owned": "owning", "mixed": "the mix",
}  # fmt: skip
CURVE_POINTS = 61
CURVE_DECADES = 2.0
"""Decades below and above today's tokens a month that the volume curve spans."""


def best_drafts(drafts: Sequence[tuple[Draft, Option]]) -> list[tuple[Draft, Option]]:
    """Return the cheapest usable option of each path: same weights first, feasible before unverified is not asked."""
    best = []
    for path in PATHS:
        usable = [pair for pair in drafts if pair[0].path == path and _usable(*pair)]
        same = [pair for pair in usable if pair[0].same_weights] or usable
        if same:
            best.append(min(same, key=lambda pair: pair[0].cost))
    return best


def _usable(draft: Draft, option: Option) -> bool:
    return option.feasible != "no" and draft.unpriced is None and bool(draft.components)


def side(draft: Draft) -> Side:
    """Return a draft as a side of a break-even, called by its path: reasons then read as sentences."""
    return Side(draft.id, SIDE_NAMES[draft.path], draft.components)


def break_evens(
    best: Sequence[tuple[Draft, Option]], workload: Workload, month: MonthDemand, terms: Terms
) -> tuple[BreakEven, ...]:
    """Return the break-even from each path's best option to each later path's, in the order of PATHS."""
    found = []
    for (a, _), (b, _) in itertools.combinations(best, 2):
        tokens = a if a.path in ("api", "managed") else (b if b.path in ("api", "managed") else None)
        price = tokens.cost / month.tokens_per_month * 1e6 if tokens and month.tokens_per_month else None
        today = Today(month.tokens_per_month, workload.demand.users, workload.demand.hours_per_day, price)
        found.append(break_even(side(a), side(b), terms, today))
    return tuple(found)


def chances(best: Sequence[tuple[Draft, Option]], terms: Terms) -> dict[str, float]:
    """Return how often each path's best option is the cheapest of them."""
    return cheapest_share([side(draft) for draft, _ in best], terms) if best else {}


def curves_by_month(best: Sequence[tuple[Draft, Option]], terms: Terms) -> tuple[Curve, ...]:
    """Return cumulative US dollars by month, resale left out."""
    out = []
    for draft, _ in best:
        cumulative = np.cumsum(total_cases(draft.components, terms, resale=False)[1])
        months = tuple(float(month) for month in range(terms.horizon_months + 1))
        out.append(Curve(option=draft.id, x=months, y=tuple(float(value) for value in cumulative)))
    return tuple(out)


def curves_by_volume(best: Sequence[tuple[Draft, Option]], month: MonthDemand, terms: Terms) -> tuple[Curve, ...]:
    """Return all-in US dollars a month by tokens a month, on a log grid around today."""
    factors = np.logspace(-CURVE_DECADES, CURVE_DECADES, CURVE_POINTS)
    out = []
    for draft, _ in best:
        levels = cost_levels(draft.components, terms)
        costs = tuple(float(levels.all_in(float(factor))[1]) for factor in factors)
        tokens = tuple(float(factor * month.tokens_per_month) for factor in factors)
        out.append(Curve(option=draft.id, x=tokens, y=costs))
    return tuple(out)


