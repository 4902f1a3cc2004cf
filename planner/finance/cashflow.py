"""Cash flow of an option: named rows by month, which add up to the total."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.domain.plan import CashFlow, CashRow
from planner.finance import months
from planner.finance.costs import Component, Terms, sunk_machines
from planner.finance.levels import cost_levels
from planner.finance.ranges import Array, Range3

REPLACEMENT = "replacement"
RESALE = "Resale"


def cash_flow(components: Sequence[Component], terms: Terms) -> CashFlow:
    """Return the rows of months 0..horizon, costs positive, resale negative, and the sum of the likely case.

    Month 0 is paid up front. What serves from month s on is paid in month s - 1; running costs of a month are
    paid in that month. `low` and `high` of a row are the cheapest and the dearest case, which add up like the
    likely one.
    """
    rows = case_rows(components, terms)
    horizon = range(terms.horizon_months + 1)
    total = sum(rows.values(), np.zeros((3, terms.horizon_months + 1)))[1]
    return CashFlow(
        months=tuple(horizon),
        rows=tuple(_row(name, cases) for name, cases in rows.items()),
        total=tuple(float(value) for value in total),
    )


def total_cases(components: Sequence[Component], terms: Terms, *, resale: bool = True) -> Array:
    """Return the total of each case by month, shape (3, horizon + 1), with or without what resale brings."""
    total = np.zeros((3, terms.horizon_months + 1))
    for name, cases in case_rows(components, terms).items():
        if resale or not is_resale(name):
            total = total + cases
    return total


def is_resale(row_name: str) -> bool:
    """Say whether a row holds what sold hardware brings."""
    return row_name.rsplit(": ", maxsplit=1)[-1] == RESALE


def case_rows(components: Sequence[Component], terms: Terms) -> dict[str, Array]:
    """Return the rows by name, each of shape (3, horizon + 1): cheapest, likely and dearest case."""
    rows: dict[str, Array] = {}
    for component in components:
        prefix = f"{component.name}: " if len(components) > 1 else ""
        for name, cases in _component_rows(component, terms).items():
            key = prefix + name
            rows[key] = rows[key] + cases if key in rows else cases
    return rows


def monthly_usd(components: Sequence[Component], terms: Terms, factor: float = 1.0) -> Range3:
    """Return what the first month costs to run at a multiple of today's demand, nothing up front."""
    return Range3.from_array(cost_levels(components, terms).running(factor))


def all_in_monthly_usd(components: Sequence[Component], terms: Terms, factor: float = 1.0) -> Range3:
    """Return the even monthly cost over the horizon at a constant multiple of today's demand.

    Formula: (up-front money - discounted resale) × annuity factor + running costs, dated price changes
    averaged with the discount factors as weights. Times the annuity's present value it equals the NPV of
    `cash_flow` without growth.
    """
    return Range3.from_array(cost_levels(components, terms).all_in(factor))


def upfront_usd(components: Sequence[Component], terms: Terms) -> Range3:
    """Return the money paid in month 0."""
    first = total_cases(components, terms)[:, 0]
    return Range3.from_array(first)


def _component_rows(component: Component, terms: Terms) -> dict[str, Array]:
    horizon = terms.horizon_months
    factors = months.demand_factors(terms.monthly_growth, horizon)
    counts = months.machine_counts(component, factors)
    rows = _purchase_rows(component, terms, counts)
    for amount in component.monthly_per_machine:
        _add(rows, amount.name, amount.usd, counts * months.price_multipliers(amount, horizon))
    for amount in component.monthly_fixed:
        _add(rows, amount.name, amount.usd, months.price_multipliers(amount, horizon))
    for amount in component.variable:
        _add(rows, amount.name, amount.usd, factors * months.variable_multipliers(amount, component, terms))
    return rows


def _purchase_rows(component: Component, terms: Terms, counts: Array) -> dict[str, Array]:
    first = months.first_purchases(counts)
    bought = months.with_replacements(first, terms.life_months)
    replaced = bought - first
    first = first.copy()
    first[0] = max(0.0, first[0] - sunk_machines(component, terms))
    rows: dict[str, Array] = {}
    for amount in component.upfront_per_machine:
        _add(rows, amount.name, amount.usd, first, from_month=0)
        if amount.hardware and replaced.any():
            _add(rows, f"{amount.name}, {REPLACEMENT}", amount.usd, replaced, from_month=0)
    if component.owns_hardware:
        rows[RESALE] = -_resale(component, terms, first + replaced)
    return rows


def _resale(component: Component, terms: Terms, paid: Array) -> Array:
    curve = months.resale_cases(terms)
    out = months.resold_at_life_end(paid, terms.life_months, curve)
    out[:, -1] += months.value_in_service(paid, terms.life_months, curve, terms.horizon_months)
    return np.asarray(out * months.hardware_price(component)[:, None], dtype=np.float64)


def paid_machines(component: Component, terms: Terms) -> Array:
    """Return the machines paid for in months 0..horizon - 1: replacements too, what was there before not."""
    factors = months.demand_factors(terms.monthly_growth, terms.horizon_months)
    counts = months.machine_counts(component, factors)
    bought = months.with_replacements(months.first_purchases(counts), terms.life_months)
    bought[0] = max(0.0, bought[0] - sunk_machines(component, terms))
    return bought


def _add(rows: dict[str, Array], name: str, usd: Range3, units: Array, *, from_month: int = 1) -> None:
    cases = np.zeros((3, units.shape[-1] + 1))
    cases[:, from_month : from_month + units.shape[-1]] = usd.array[:, None] * units
    rows[name] = rows[name] + cases if name in rows else cases


def _row(name: str, cases: Array) -> CashRow:
    low, mid, high = (tuple(float(value) for value in case) for case in cases)
    spread = low != mid or high != mid
    return CashRow(name=name, values=mid, low=low if spread else None, high=high if spread else None)
