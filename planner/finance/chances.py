"""How often each option is the cheapest when every assumption may lie anywhere in its range."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np

from planner.finance.costs import Amount, Component, Terms
from planner.finance.levels import cost_levels
from planner.finance.ranges import Array, Range3
from planner.finance.sides import Side

DRAWS = 4000
SEED = 20_261_201
RESIDUAL = "residual value"


def cheapest_share(sides: Sequence[Side], terms: Terms, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, float]:
    """Return for each option the share of draws in which its even monthly cost is the lowest.

    Each assumption is drawn once per draw from a triangular distribution over its low, likely and high value, and an
    assumption that two options share (same name and source) takes the same place in its range in both. Demand and
    speed are held at today's. Ties count for the first.
    """
    costs = np.array([_costs(side, terms, draws, seed) for side in sides])
    winners = np.argmin(costs, axis=0)
    return {side.id: float(np.mean(winners == place)) for place, side in enumerate(sides)}


def triangular(cases: Range3, place: Array) -> Array:
    """Return values at the given cumulative probabilities of a triangular distribution.

    Formula: for u < (m-l)/(h-l): l + √(u (h-l)(m-l)); else h - √((1-u)(h-l)(h-m)).
    """
    low, mid, high = cases.low, cases.mid, cases.high
    if high <= low:
        return np.full_like(place, mid)
    turn = (mid - low) / (high - low)
    rising = low + np.sqrt(place * (high - low) * (mid - low))
    falling = high - np.sqrt((1 - place) * (high - low) * (high - mid))
    return np.where(place < turn, rising, falling)


def _costs(side: Side, terms: Terms, draws: int, seed: int) -> Array:
    total = np.zeros(draws)
    resale = _places(RESIDUAL, draws, seed)
    for component in side.components:
        for amount, weight in _weights(component, terms):
            usd = triangular(amount.usd, _places(f"{amount.name}|{amount.source}", draws, seed))
            # A good resale is the cheapest case, so its place runs the other way.
            total = total + usd * np.interp(1 - resale, (0.0, 0.5, 1.0), weight)
    return total


def _weights(component: Component, terms: Terms) -> list[tuple[Amount, Array]]:
    """Return the even monthly cost of one dollar of each amount, for the best, likely and worst resale."""
    bare = dataclasses.replace(
        component, upfront_per_machine=(), monthly_per_machine=(), monthly_fixed=(), variable=()
    )
    found: list[tuple[Amount, Array]] = []
    for amount in component.upfront_per_machine:
        found.append((amount, _alone(dataclasses.replace(bare, upfront_per_machine=(_one(amount),)), terms)))
    for amount in component.monthly_per_machine:
        found.append((amount, _alone(dataclasses.replace(bare, monthly_per_machine=(_one(amount),)), terms)))
    for amount in component.monthly_fixed:
        found.append((amount, _alone(dataclasses.replace(bare, monthly_fixed=(_one(amount),)), terms)))
    for amount in component.variable:
        found.append((amount, _alone(dataclasses.replace(bare, variable=(_one(amount),)), terms)))
    return found


def _one(amount: Amount) -> Amount:
    return dataclasses.replace(amount, usd=Range3.of(1.0))


def _alone(component: Component, terms: Terms) -> Array:
    return cost_levels((component,), terms).all_in(1.0)


def _places(key: str, draws: int, seed: int) -> Array:
    """Return the same random places for the same key, whatever the order of options."""
    return np.random.default_rng((seed, zlib.crc32(key.encode()))).random(draws)


