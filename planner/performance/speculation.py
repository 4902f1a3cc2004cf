"""Speculative decoding: what drafting several tokens a step gains, and how unsure that is."""

from __future__ import annotations

import math

from planner.performance.setup import Setup

OFF = frozenset({"", "off", "none", "no", "false", "0"})
TYPICAL_GAIN = 1.5
"""Median of the paired runs on and off in profiles/measurements (llama.cpp and MLX, 1.2 to 1.9)."""
GAIN_LOG_SD = 0.2
HALF_BATCH = 8.0
"""Requests in flight at which half the gain is left: verifying drafts stops being free once steps are full."""


def gain(setup: Setup, batch: float) -> tuple[float, float]:
    """Return (factor on decode speed, additional log sd); (1, 0) without speculation."""
    if setup.speculative is None or setup.speculative.casefold() in OFF:
        return 1.0, 0.0
    share = 1.0 / (1.0 + max(batch - 1.0, 0.0) / HALF_BATCH)
    return math.exp(math.log(TYPICAL_GAIN) * share), GAIN_LOG_SD
