"""Units and their conversions, declared once: a slip of 1000 is the typical silent fault of this field."""

from __future__ import annotations

BYTES_PER_GIB = 1024**3
TOKENS_PER_MTOK = 1_000_000
SECONDS_PER_HOUR = 3600.0
HOURS_PER_YEAR = 8760.0
MONTHS_PER_YEAR = 12
HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR
"""730 hours: the cloud vendors' month; 720 is a frequent error in published figures."""


def gib(n_bytes: float) -> float:
    """Convert bytes to GiB (2^30 bytes)."""
    return n_bytes / BYTES_PER_GIB


def kwh(watts: float, hours: float) -> float:
    """Convert watts over hours to kWh."""
    return watts * hours / 1000.0


def mtok(tokens: float) -> float:
    """Convert tokens to millions of tokens."""
    return tokens / TOKENS_PER_MTOK
