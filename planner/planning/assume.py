"""Shipped default ranges and the workload's own numbers, as amounts with basis and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.domain.errors import InputError
from planner.domain.figures import Basis
from planner.domain.prices import Assumption, Tariff
from planner.domain.workload import Money
from planner.finance.ranges import Range3


@dataclass(frozen=True)
class Known:
    """A number with its range and label, on its way into an amount."""

    range: Range3
    basis: Basis
    source: str
    as_of: str


def known(
    assumptions: Mapping[str, Assumption], name: str, typed: float | None = None, key: str = "", today: str = ""
) -> Known:
    """Return the number typed in the workload, else the shipped default range; raises InputError without both."""
    if typed is not None:
        return Known(Range3.of(typed), Basis.ASSUMED, f"typed in the workload as {key or name}", today)
    default = assumptions.get(name)
    if default is None:
        raise InputError(f"The default {name!r} is missing from the assumptions.", "Restore profiles/assumptions.")
    source = f"default range {name}: {default.source}"
    return Known(Range3(default.low, default.value, default.high), Basis.ASSUMED, source, default.as_of)


def electricity(money: Money, tariffs: Mapping[str, Tariff], today: str) -> Known | None:
    """Return USD per kWh: typed, else the country's tariff of the kind asked for, else None."""
    if money.tariff_usd_per_kwh is not None:
        return known({}, "tariff", money.tariff_usd_per_kwh, "money.tariff_usd_per_kwh", today)
    tariff = tariffs.get(money.country.casefold())
    if tariff is None:
        return None
    if money.tariff_kind == "household":
        price, what, source = tariff.household_usd_per_kwh, "household, with taxes", tariff.household_source
    else:
        price, what, source = tariff.business_usd_per_kwh, tariff.business_definition, tariff.source
    if price is None:
        return None
    text = f"electricity in {tariff.country}, {money.tariff_kind} ({what}): {source or tariff.source}"
    return Known(Range3.of(price), Basis.LISTED, text, tariff.as_of)
