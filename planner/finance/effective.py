"""Cost of a million tokens of a machine: from price and speed, and split between input and output."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.errors import InputError
from planner.domain.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class PerMtok:
    """US dollars per million tokens; None where there are no tokens of the kind."""

    blended: float | None
    input: float | None
    output: float | None


def usd_per_mtok(usd_per_hour: float, tok_per_s: float, utilisation: float = 1.0) -> float:
    """Return the cost of a million tokens of a machine paid by the hour.

    Formula: $/h / (tok/s × 3600 × U) × 10^6. Raises InputError without speed or utilisation.
    """
    if tok_per_s <= 0 or not 0 < utilisation <= 1:
        raise InputError("A cost per token needs a speed above 0 and a utilisation above 0, at most 1.")
    return usd_per_hour / (tok_per_s * SECONDS_PER_HOUR * utilisation) * 1e6


def split_by_time(
    usd: float, input_tokens: float, output_tokens: float, input_seconds: float, output_seconds: float
) -> PerMtok:
    """Return a machine's cost per million tokens, split between input and output by the time each takes.

    Formula: a kind's share = its seconds / all seconds; its price = usd × share / its tokens × 10^6. Idle
    time goes to both in the same proportion. Price × tokens of both kinds add up to `usd`.
    """
    seconds = input_seconds + output_seconds
    if seconds <= 0:
        raise InputError("Splitting a cost by time needs the seconds that input and output take.")
    tokens = input_tokens + output_tokens
    return PerMtok(
        blended=_price(usd, tokens),
        input=_price(usd * input_seconds / seconds, input_tokens),
        output=_price(usd * output_seconds / seconds, output_tokens),
    )


def _price(usd: float, tokens: float) -> float | None:
    return usd / tokens * 1e6 if tokens > 0 else None
