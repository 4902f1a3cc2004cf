"""Machines, purchases and resale month by month.

The last axis is time; leading axes (draws, cases) broadcast.
"""

from __future__ import annotations

import numpy as np

from planner.domain.errors import InputError
from planner.finance.costs import PRICED_BY_TOKEN, STEP_TOLERANCE, Amount, Component, Terms
from planner.finance.ranges import Array


def discount_factors(rate_per_year: float | Array, horizon_months: int) -> Array:
    """Return the factors of months 0..horizon, shape (..., horizon + 1). Formula: (1 + r)^(-m / 12)."""
    month = np.arange(horizon_months + 1, dtype=np.float64)
    rate = np.asarray(rate_per_year, dtype=np.float64)[..., None]
    return np.asarray((1.0 + rate) ** (-month / 12.0), dtype=np.float64)


def demand_factors(monthly_growth: float | Array, horizon_months: int) -> Array:
    """Return demand of months 1..horizon as multiples of today's, shape (..., horizon).

    Formula: (1 + g)^(m - 1).
    """
    month = np.arange(horizon_months, dtype=np.float64)
    growth = np.asarray(monthly_growth, dtype=np.float64)[..., None]
    return np.asarray((1.0 + growth) ** month, dtype=np.float64)


def machines_at(component: Component, factors: Array) -> Array:
    """Return the whole machines needed at each demand, whatever was needed before."""
    need = np.ceil(component.unit_load * factors - STEP_TOLERANCE)
    return np.asarray(np.maximum(need, float(component.min_machines)), dtype=np.float64)


def machine_counts(component: Component, factors: Array) -> Array:
    """Return whole machines in use in months 1..horizon; bought ones stay when demand falls."""
    count = machines_at(component, factors)
    if component.owns_hardware:
        count = np.maximum.accumulate(count, axis=-1)
    return np.asarray(count, dtype=np.float64)


def first_purchases(counts: Array) -> Array:
    """Return machines added in months 0..horizon - 1: paid at the end of the month before they serve."""
    added = np.diff(counts, axis=-1, prepend=0.0)
    return np.asarray(np.maximum(added, 0.0), dtype=np.float64)


def with_replacements(first: Array, life_months: int) -> Array:
    """Return all purchases, each repeated at the end of its life while the horizon lasts."""
    bought = first.copy()
    for month in range(life_months, bought.shape[-1]):
        bought[..., month] += bought[..., month - life_months]
    return bought


def resale_curve(fraction: float | Array, at_month: int, months: int) -> Array:
    """Return the resale value by age 0..months as a fraction of the price, shape (..., months + 1).

    Formula: fraction^(age / at_month), a geometric curve through 1 when new and `fraction` at `at_month`:
    used GPUs lose a share of their value a year, some gain, so a straight line to zero isn't assumed. A
    fraction of 0 means that nothing comes back at any age above 0.
    """
    age = np.arange(months + 1, dtype=np.float64)
    base = np.asarray(fraction, dtype=np.float64)[..., None]
    return np.asarray(np.power(base, age / at_month), dtype=np.float64)


def resold_at_life_end(paid: Array, life_months: int, curve: Array) -> Array:
    """Return machine prices got back in months 0..horizon for machines replaced at the end of their life."""
    horizon = paid.shape[-1]
    out = np.zeros((*np.broadcast_shapes(paid.shape[:-1], curve.shape[:-1]), horizon + 1))
    if life_months < horizon:
        out[..., life_months:horizon] = paid[..., : horizon - life_months] * curve[..., life_months, None]
    return out


def value_in_service(paid: Array, life_months: int, curve: Array, month: int) -> Array:
    """Return the resale value, in machine prices, of what was bought before `month` and is still in its life.
    """
    start = max(0, month - life_months)
    ages = curve[..., 1 : month - start + 1][..., ::-1]
    return np.asarray(np.sum(paid[..., start:month] * ages, axis=-1), dtype=np.float64)


def price_multipliers(amount: Amount, horizon_months: int) -> Array:
    """Return the dated price changes of an amount in months 1..horizon."""
    given = amount.month_multiplier
    if given is None:
        return np.ones(horizon_months)
    if not given:
        raise InputError(f"The amount {amount.name!r} has an empty list of monthly factors.")
    padded = (*given, *[given[-1]] * (horizon_months - len(given)))
    return np.asarray(padded[:horizon_months], dtype=np.float64)


def variable_multipliers(amount: Amount, component: Component, terms: Terms) -> Array:
    """Return dated changes times the yearly drift of token prices.

    Formula of the drift: (1 + c)^((m - 1) / 12).
    """
    dated = price_multipliers(amount, terms.horizon_months)
    if component.path not in PRICED_BY_TOKEN or terms.api_price_change_per_year == 0:
        return dated
    month = np.arange(terms.horizon_months, dtype=np.float64)
    return np.asarray(dated * (1.0 + terms.api_price_change_per_year) ** (month / 12.0), dtype=np.float64)


def hardware_price(component: Component) -> Array:
    """Return the price of one machine's hardware, shape (3,): cheapest, likely and dearest case."""
    return sum((a.usd.array for a in component.upfront_per_machine if a.hardware), np.zeros(3))


def resale_cases(terms: Terms) -> Array:
    """Return the resale curve of each case, shape (3, months + 1); the best belongs to the cheapest case."""
    at_month = terms.residual_at_month or terms.horizon_months
    ages = max(terms.horizon_months, terms.life_months)
    return resale_curve(terms.residual_fraction.array[::-1], at_month, ages)
