"""What an option consists of: amounts of money and how each grows with machines, hours and demand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from planner.domain.errors import InputError
from planner.domain.figures import Basis, weaker
from planner.domain.plan import Path
from planner.finance.ranges import ZERO, Range3

STEP_TOLERANCE = 1e-9
"""Machines' worth of load that rounding may add without a further machine being needed."""
PRICED_BY_TOKEN: tuple[Path, ...] = ("api", "managed")


@dataclass(frozen=True, slots=True)
class Amount:
    """One named sum of money, US dollars, with where it comes from."""

    name: str
    usd: Range3
    basis: Basis
    source: str
    as_of: str
    hardware: bool = False
    """Up-front money: bought again at the end of its life, and sold; otherwise a one-off (installing)."""
    hourly: bool = False
    """Money per machine only: billed by the active hour, so it follows the hours a day."""
    month_multiplier: tuple[float, ...] | None = None
    """Factor on `usd` in months 1, 2, …: dated price changes; the last one goes on."""


@dataclass(frozen=True, slots=True)
class Component:
    """One way of serving a share of the demand: an API, a rented or an owned machine type."""

    name: str
    path: Path
    unit_load: float = 0.0
    """Machines' worth of load at today's demand (peak hour); 0 for what is paid by the token."""
    min_machines: int = 0
    upfront_per_machine: tuple[Amount, ...] = ()
    monthly_per_machine: tuple[Amount, ...] = ()
    """Paid every month for every machine that is there: idle energy, maintenance, rack, hourly rent."""
    monthly_fixed: tuple[Amount, ...] = ()
    """Paid every month whatever the number of machines: people's hours, subscriptions."""
    variable: tuple[Amount, ...] = ()
    """A month's money at today's demand that grows in proportion to it: tokens by kind, energy above idle."""
    max_factor: float | None = None
    """Multiple of today's demand that it can't go beyond (rate limit, largest number of machines)."""

    @property
    def amounts(self) -> tuple[Amount, ...]:
        """Return all amounts together."""
        return self.upfront_per_machine + self.monthly_per_machine + self.monthly_fixed + self.variable

    @property
    def owns_hardware(self) -> bool:
        """Say whether machines are bought, and so stay when demand falls."""
        return any(amount.hardware for amount in self.upfront_per_machine)


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions under which money is compared."""

    horizon_months: int = 36
    discount_rate_per_year: float = 0.0
    """Effective yearly rate; month m is discounted by (1 + rate)^(m / 12)."""
    monthly_growth: float = 0.0
    life_months: int = 60
    residual_fraction: Range3 = ZERO
    """What hardware brings at the age `residual_at_month`, as a fraction of its price.

    `high` = the best resale.
    """
    residual_at_month: int | None = None
    """Age at which that holds; None = the horizon.

    Before and after, the value follows a geometric curve from 1.
    """
    cost_scope: Literal["full", "marginal"] = "full"
    """`marginal`: the machines that today needs are bought already; their price and resale don't count."""
    api_price_change_per_year: float = 0.0
    """On variable amounts of the paths api and managed: -0.3 = 30 % lower every year, month by month."""

    def __post_init__(self) -> None:
        if self.horizon_months < 1 or self.life_months < 1:
            raise InputError("Horizon and life are at least one month.")
        if min(self.discount_rate_per_year, self.monthly_growth, self.api_price_change_per_year) <= -1:
            raise InputError("A rate of change must be above -100 %.")

    @property
    def discount_rate_per_month(self) -> float:
        """Return the monthly rate equal to the yearly one. Formula: (1 + r)^(1/12) - 1."""
        return float((1 + self.discount_rate_per_year) ** (1 / 12) - 1)


def machines(component: Component, factor: float) -> int:
    """Return the whole machines needed at a multiple of today's demand."""
    return max(component.min_machines, math.ceil(component.unit_load * factor - STEP_TOLERANCE))


def sunk_machines(component: Component, terms: Terms) -> int:
    """Return the machines whose purchase doesn't count: today's, where only marginal cost is asked."""
    return machines(component, 1.0) if terms.cost_scope == "marginal" else 0


def max_factor(components: Sequence[Component]) -> float:
    """Return the multiple of today's demand at which the first component ends; infinity without a limit."""
    return min((c.max_factor for c in components if c.max_factor is not None), default=math.inf)


def label(components: Sequence[Component]) -> tuple[Basis, str, str | None]:
    """Return (weakest money basis, sources, oldest date) of everything that the components cost."""
    amounts = [amount for component in components for amount in component.amounts]
    if not amounts:
        return Basis.ASSUMED, "no costs", None
    sources = list(dict.fromkeys(amount.source for amount in amounts))
    basis = weaker(amounts[0].basis, *(amount.basis for amount in amounts[1:]))
    return basis, "; ".join(sources), min(amount.as_of for amount in amounts)
