"""Measures of finance over a cash flow: present value, internal rate, payback, annuity, levelised price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.domain.errors import NoAnswerError
from planner.domain.units import MONTHS_PER_YEAR, TOKENS_PER_MTOK
from planner.finance.months import discount_factors
from planner.finance.ranges import Array

LOG_RATE_LIMITS = (-4.0, 6.0)
"""Natural logarithms of the smallest and largest 1 + monthly rate searched for an internal rate of return."""
SCAN_POINTS = 2001
PENNY = 1e-9
"""Fraction of the largest flow below which a sum counts as zero."""


def monthly_rate(rate_per_year: float) -> float:
    """Return the monthly rate equal to an effective yearly one. Formula: (1 + r)^(1/12) - 1."""
    return float((1 + rate_per_year) ** (1 / MONTHS_PER_YEAR) - 1)


def annuity(present_usd: float, rate_per_year: float, months: int) -> float:
    """Return the even payment at the end of each month worth a sum today.

    Formula: PV × i / (1 - (1 + i)^-n), the capital recovery factor; at i = 0, PV / n.
    """
    return present_usd / float(discount_factors(rate_per_year, months)[1:].sum())


def npv(flows: Sequence[float] | Array, rate_per_year: float) -> float:
    """Return the present value of flows of months 0, 1, …. Formula: Σ flow_m × (1 + r)^(-m/12)."""
    values = np.asarray(flows, dtype=np.float64)
    return float(values @ discount_factors(rate_per_year, values.shape[0] - 1))


@dataclass(frozen=True, slots=True)
class InternalRate:
    """Yearly rates at which the present value is zero: none, one, or several, with the reason where not one.
    """

    roots_per_year: tuple[float, ...]
    reason: str = ""

    @property
    def value(self) -> float | None:
        """Return the rate where there is exactly one."""
        return self.roots_per_year[0] if len(self.roots_per_year) == 1 else None


def irr(flows: Sequence[float] | Array) -> InternalRate:
    """Return the internal rate of return of monthly flows, as an effective yearly rate.

    Formula: Σ flow_m × (1 + i)^-m = 0, yearly (1 + i)^12 - 1. Flows that change sign once have one root;
    where they change sign more often all roots found are listed and none is chosen.
    """
    values = np.asarray(flows, dtype=np.float64)
    scale = float(np.max(np.abs(values), initial=0.0))
    signs = np.sign(np.where(np.abs(values) <= PENNY * scale, 0.0, values))
    signs = signs[signs != 0]
    if signs.size == 0:
        return InternalRate((), "all flows are zero")
    if np.all(signs == signs[0]):
        comes_in = signs[0] > 0
        why = "money comes in and none is laid out" if comes_in else "money is laid out and none comes back"
        return InternalRate((), f"{why}, so no rate balances it")
    roots = tuple(float(np.expm1(MONTHS_PER_YEAR * log_rate)) for log_rate in _log_roots(values))
    if not roots:
        return InternalRate((), "no rate between -98 % and +40,000 % a month balances the flows")
    reason = "" if len(roots) == 1 else f"{len(roots)} rates balance flows that change sign more than once"
    return InternalRate(roots, reason)


def payback_months(flows: Sequence[float] | Array) -> float:
    """Return the month at which money laid out has come back, interpolated within the month.

    `flows` are months 0, 1, … with outlays negative. Raises NoAnswerError when it doesn't come back, or when
    a later outlay takes it away again for good.
    """
    total = np.cumsum(np.asarray(flows, dtype=np.float64))
    tolerance = PENNY * float(np.max(np.abs(total), initial=0.0))
    if np.all(total >= -tolerance):
        return 0.0
    if total[-1] < -tolerance:
        raise NoAnswerError(f"The money doesn't come back within {total.shape[0] - 1} months.")
    month = int(np.flatnonzero(total < -tolerance)[-1])
    before, after = float(total[month]), float(total[month + 1])
    return month + before / (before - after)


def levelised_usd_per_mtok(
    cost_by_month: Sequence[float] | Array, tokens_by_month: Sequence[float] | Array, rate_per_year: float
) -> float:
    """Return the even price per million tokens at which the present value of serving them is zero.

    Formula: NPV of costs / NPV of Mtok. Costs and tokens run over the same months 0, 1, …. Raises
    NoAnswerError without tokens.
    """
    tokens = npv(tokens_by_month, rate_per_year) / TOKENS_PER_MTOK
    if tokens <= 0:
        raise NoAnswerError("There are no tokens to spread the cost over.")
    return npv(cost_by_month, rate_per_year) / tokens


def _log_roots(values: Array) -> list[float]:
    grid = np.linspace(*LOG_RATE_LIMITS, SCAN_POINTS)
    power = -np.outer(grid, np.arange(values.shape[0], dtype=np.float64))
    signs = np.sign(np.exp(power - power.max(axis=1, keepdims=True)) @ values)
    exact = [float(point) for point, sign in zip(grid, signs, strict=True) if sign == 0]
    pairs = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    return sorted([*exact, *(_bisect(values, float(grid[i]), float(grid[i + 1])) for i in pairs)])


def _bisect(values: Array, left: float, right: float) -> float:
    at_left = _balance(values, left)
    for _ in range(80):
        middle = (left + right) / 2
        at_middle = _balance(values, middle)
        if at_left * at_middle <= 0:
            right = middle
        else:
            left, at_left = middle, at_middle
    return (left + right) / 2


def _balance(values: Array, log_rate: float) -> float:
    """Return the present value, scaled so that no power overflows."""
    month = np.arange(values.shape[0], dtype=np.float64)
    power = -log_rate * month
    return float(values @ np.exp(power - power.max()))
