"""Electricity and carbon: what a machine draws doing nothing, and what work adds."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.errors import InputError
from planner.domain.units import HOURS_PER_MONTH
from planner.finance.ranges import Range3

JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True)
class Energy:
    """A month's electricity of one machine, split into what it draws anyway and what the work adds."""

    idle_kwh: Range3
    load_kwh: Range3
    idle_usd: Range3
    load_usd: Range3

    @property
    def kwh(self) -> Range3:
        """Return all kWh of the month."""
        return self.idle_kwh + self.load_kwh


def machine_energy(
    idle_w: Range3,
    load_w: Range3,
    *,
    utilisation: float,
    pue: Range3,
    usd_per_kwh: Range3,
    hours_on: float = HOURS_PER_MONTH,
) -> Energy:
    """Return a machine's electricity of a month, at the wall of the building.

    Formula: kWh = W / 1000 × hours × PUE; idle W over all hours the machine is on, (load - idle) W over
    utilisation × those hours. Raises InputError for a utilisation outside 0..1.
    """
    if not 0 <= utilisation <= 1:
        raise InputError(f"Utilisation is between 0 and 1, not {utilisation:g}.")
    pairs = zip(_cases(load_w), _cases(idle_w), strict=True)
    added_w = Range3(*(max(0.0, load - idle) for load, idle in pairs))
    idle_kwh = idle_w.product(pue).times(hours_on / 1000)
    load_kwh = added_w.product(pue).times(hours_on * utilisation / 1000)
    return Energy(idle_kwh, load_kwh, idle_kwh.product(usd_per_kwh), load_kwh.product(usd_per_kwh))


def kwh_per_mtok(watts: float, tok_per_s: float, pue: float = 1.0) -> float:
    """Return kWh for a million tokens.

    Formula: W / (tok/s) is J per token; × 10^6 / 3.6·10^6 J per kWh × PUE.
    """
    if tok_per_s <= 0:
        raise InputError("Energy per token needs a speed above 0 tok/s.")
    return watts / tok_per_s * 1e6 / JOULES_PER_KWH * pue


def monthly_kwh_per_mtok(kwh_per_month: float, tokens_per_month: float) -> float:
    """Return kWh for a million tokens from a month's totals, so that idle hours count."""
    if tokens_per_month <= 0:
        raise InputError("Energy per token needs tokens.")
    return kwh_per_month / (tokens_per_month / 1e6)


def gco2e_per_mtok(kwh_for_mtok: float, grid_gco2e_per_kwh: float) -> float:
    """Return grams of CO2 equivalent for a million tokens. Formula: kWh × g/kWh of the grid."""
    return kwh_for_mtok * grid_gco2e_per_kwh


def _cases(cases: Range3) -> tuple[float, float, float]:
    return cases.low, cases.mid, cases.high
