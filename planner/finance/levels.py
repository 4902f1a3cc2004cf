"""The monthly cost of an option as a staircase over demand: cheap to evaluate, linear between its steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.finance import months
from planner.finance.costs import (
    PRICED_BY_TOKEN,
    Amount,
    Component,
    Terms,
    machines,
    max_factor,
    sunk_machines,
)
from planner.finance.ranges import Array


@dataclass(frozen=True, slots=True)
class Level:
    """One component's monthly money, each array of shape (3,): cheapest, likely and dearest case."""

    component: Component
    capital: Array
    """Levelised purchases and resales of a machine."""
    capital_sunk: Array
    """The same for a machine that is there already: its replacements only."""
    per_machine: Array
    per_machine_hourly: Array
    fixed: Array
    variable: Array
    """At today's demand, averaged over the horizon."""
    run_per_machine: Array
    run_fixed: Array
    run_variable: Array
    """As paid in month 1."""
    sunk: int

    def all_in(self, factor: float, count: int) -> Array:
        """Return the even monthly cost with `count` machines."""
        running = (self.per_machine + self.per_machine_hourly) * count + self.fixed
        return np.asarray(self._machines_capital(count) + running + self.variable * factor, dtype=np.float64)

    def at_hours(self, ratio: float) -> Array:
        """Return the even monthly cost at `ratio` times today's hours a day, with today's machines."""
        count = machines(self.component, 1.0)
        steady = self._machines_capital(count) + self.per_machine * count + self.fixed
        by_hour = self.per_machine_hourly * count + self.variable
        return np.asarray(steady + by_hour * ratio, dtype=np.float64)

    def _machines_capital(self, count: int) -> Array:
        there = min(count, self.sunk)
        return np.asarray(self.capital * (count - there) + self.capital_sunk * there, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class CostLevels:
    """An option's monthly cost at any multiple of today's demand."""

    levels: tuple[Level, ...]
    max_factor: float

    def all_in(self, factor: float) -> Array:
        """Return the even monthly cost of the three cases, shape (3,)."""
        return _sum(level.all_in(factor, machines(level.component, factor)) for level in self.levels)

    def running(self, factor: float) -> Array:
        """Return the running cost of the first month of the three cases, shape (3,)."""
        total = np.zeros(3)
        for level in self.levels:
            count = machines(level.component, factor)
            total = total + level.run_per_machine * count + level.run_fixed + level.run_variable * factor
        return total

    def at_hours(self, ratio: float) -> Array:
        """Return the even monthly cost at a multiple of today's hours a day, shape (3,)."""
        return _sum(level.at_hours(ratio) for level in self.levels)

    def by_token(self) -> Array:
        """Return what tokens cost at today's demand on the paths api and managed, shape (3,)."""
        return _sum(level.variable for level in self.levels if level.component.path in PRICED_BY_TOKEN)

    def steps(self, lo: float, hi: float) -> Array:
        """Return the demands in (lo, hi) above which a machine is added."""
        found = [np.empty(0)]
        for level in self.levels:
            load = level.component.unit_load
            if load > 0:
                first = max(math.floor(lo * load), level.component.min_machines, 1)
                found.append(np.arange(first, math.ceil(hi * load) + 1, dtype=np.float64) / load)
        steps = np.unique(np.concatenate(found))
        return np.asarray(steps[(steps > lo) & (steps < hi)], dtype=np.float64)

    def reach(self, most_steps: int) -> float:
        """Return the demand up to which no component needs more than `most_steps` machines."""
        loads = [level.component.unit_load for level in self.levels if level.component.unit_load > 0]
        return min((most_steps / load for load in loads), default=math.inf)

    def all_in_between(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return costs just above `left` and at `right` of intervals without a step, each (3, intervals)."""
        middle = (left + right) / 2
        base = np.zeros((3, left.shape[0]))
        slope = np.zeros(3)
        for level in self.levels:
            count = months.machines_at(level.component, middle)
            machine = level.per_machine + level.per_machine_hourly
            base = base + machine[:, None] * count + level.fixed[:, None]
            there = np.minimum(count, level.sunk)
            base = base + level.capital[:, None] * (count - there) + level.capital_sunk[:, None] * there
            slope = slope + level.variable
        return base + slope[:, None] * left, base + slope[:, None] * right


def cost_levels(components: Sequence[Component], terms: Terms) -> CostLevels:
    """Return an option's cost as a staircase over demand; build it once and evaluate it often."""
    weights = months.discount_factors(terms.discount_rate_per_year, terms.horizon_months)
    return CostLevels(tuple(_level(c, terms, weights) for c in components), max_factor(components))


def _level(component: Component, terms: Terms, weights: Array) -> Level:
    annuity = float(weights[1:].sum())
    mean = weights[1:] / annuity
    horizon = terms.horizon_months

    def levelled(amounts: Sequence[Amount]) -> Array:
        return _sum(a.usd.array * float(months.price_multipliers(a, horizon) @ mean) for a in amounts)

    def first_month(amounts: Sequence[Amount]) -> Array:
        return _sum(a.usd.array * float(months.price_multipliers(a, horizon)[0]) for a in amounts)

    drift = [(a, months.variable_multipliers(a, component, terms)) for a in component.variable]
    return Level(
        component=component,
        capital=_capital(component, terms, weights) / annuity,
        capital_sunk=_replacements(component, terms, weights, first=terms.life_months) / annuity,
        per_machine=levelled([a for a in component.monthly_per_machine if not a.hourly]),
        per_machine_hourly=levelled([a for a in component.monthly_per_machine if a.hourly]),
        fixed=levelled(component.monthly_fixed),
        variable=_sum(a.usd.array * float(by_month @ mean) for a, by_month in drift),
        run_per_machine=first_month(component.monthly_per_machine),
        run_fixed=first_month(component.monthly_fixed),
        run_variable=_sum(a.usd.array * float(by_month[0]) for a, by_month in drift),
        sunk=sunk_machines(component, terms),
    )


def _capital(component: Component, terms: Terms, weights: Array) -> Array:
    """Return the present value of one machine's purchases less its resales, shape (3,)."""
    once = _sum(a.usd.array for a in component.upfront_per_machine if not a.hardware)
    return once + _replacements(component, terms, weights, first=0)


def _replacements(component: Component, terms: Terms, weights: Array, first: int) -> Array:
    """Return the present value of the hardware bought from month `first` on, once a life, less its resales.
    """
    curve = months.resale_cases(terms)
    factor = np.zeros(3)
    for bought in range(first, terms.horizon_months, terms.life_months):
        sold = min(bought + terms.life_months, terms.horizon_months)
        factor = factor + weights[bought] - curve[:, sold - bought] * weights[sold]
    return np.asarray(months.hardware_price(component) * factor, dtype=np.float64)


def _sum(parts: Iterable[Array]) -> Array:
    return sum(parts, np.zeros(3))
