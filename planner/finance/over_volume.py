"""The demand at which one option overtakes another: every crossing of two staircases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.domain.plan import BreakEvenPoint, Crossing
from planner.finance.crossings import Change, SignChanges, sign_changes
from planner.finance.levels import CostLevels
from planner.finance.sides import Pair, Today

LOW, MID, HIGH = 0, 1, 2
DEFAULT_HIGHEST_TOKENS = 1e12
"""Tokens a month up to which crossings are searched."""
LOWEST_FACTOR = 1e-6
MOST_STEPS = 20_000
"""Machines of one kind up to which the search goes, so that its time stays bounded."""
MOST_CROSSINGS = 100


@dataclass(frozen=True, slots=True)
class Staircases:
    """The monthly cost of two options over demand, as multiples of today's."""

    a: CostLevels
    b: CostLevels

    def changes(self, lo: float, hi: float, case_a: int = MID, case_b: int = MID) -> SignChanges:
        """Return where cost of `a` - cost of `b` changes sign in (lo, hi): positive = `b` is cheaper."""
        edges = np.unique(np.concatenate(((lo, hi), self.a.steps(lo, hi), self.b.steps(lo, hi))))
        left, right = edges[:-1], edges[1:]
        a, b = self.a.all_in_between(left, right), self.b.all_in_between(left, right)
        size = np.maximum(np.abs(a[1][case_a]), np.abs(b[1][case_b]))
        return sign_changes(left, right, a[0][case_a] - b[0][case_b], a[1][case_a] - b[1][case_b], size)

    def range(self, highest: float) -> tuple[float, float]:
        """Return the multiples of today's demand that can be searched."""
        limits = (self.a.max_factor, self.b.max_factor, self.a.reach(MOST_STEPS), self.b.reach(MOST_STEPS))
        hi = min(highest, *limits)
        return min(LOWEST_FACTOR, hi / 2), hi


def volume_point(
    pair: Pair, curves: Staircases, today: Today, highest_tokens: float = DEFAULT_HIGHEST_TOKENS
) -> tuple[BreakEvenPoint, Change | None]:
    """Return all crossings in tokens a month, and the first to `b` as a multiple of today."""
    tokens = today.tokens_per_month
    if tokens <= 0:
        return pair.missed("never", "there are no tokens to scale", None), None
    lo, hi = curves.range(highest_tokens / tokens)
    likely = curves.changes(lo, hi)
    searched = (lo * tokens, hi * tokens)
    if not likely.changes:
        return _no_crossing(pair, curves, likely, searched, (lo, hi)), None
    bounds = (curves.changes(lo, hi, HIGH, LOW), curves.changes(lo, hi, LOW, HIGH))
    shown = likely.changes[:MOST_CROSSINGS]
    crossings = tuple(_crossing(pair, change, bounds, tokens) for change in shown)
    up = next((change for change in likely.changes if change.upward), None)
    reason = _told(pair, likely, tokens)
    if len(likely.changes) > MOST_CROSSINGS:
        reason += f" ({len(likely.changes)} crossings, the first {MOST_CROSSINGS} are listed)"
    point = BreakEvenPoint(status="reached", reason=reason, searched=searched, crossings=crossings)
    return point, up


def utilisation_point(pair: Pair, curves: Staircases) -> BreakEvenPoint:
    """Return the utilisation of the machines `b` starts with at which it costs no more than `a`.

    Demand grows from nothing to what those machines carry; utilisation is the load over the machines of the
    busiest part.
    """
    parts = [c for c in pair.b.components if c.unit_load > 0]
    if not parts:
        return pair.missed("never", f"{pair.b.name} has no machine to fill", None)
    full = min(max(1, c.min_machines) / c.unit_load for c in parts)
    full = min(full, curves.a.max_factor, curves.b.max_factor)
    busiest = max(parts, key=lambda c: c.unit_load / max(1, c.min_machines))
    scale = busiest.unit_load / max(1, busiest.min_machines)
    found = curves.changes(full * LOWEST_FACTOR, full)
    up = next((change.at for change in found.changes if change.upward), None)
    searched = (0.0, min(1.0, full * scale))
    if up is not None:
        low = curves.changes(full * LOWEST_FACTOR, full, HIGH, LOW).up_near(up, before=True)
        high = curves.changes(full * LOWEST_FACTOR, full, LOW, HIGH).up_near(up, before=False)
        scaled = [None if bound is None else bound * scale for bound in (low, high)]
        reason = f"above this utilisation {pair.b.name} is cheaper than {pair.a.name}"
        return pair.reached(up * scale, "fraction", reason, searched, low=scaled[0], high=scaled[1])
    if found.first_sign > 0:
        return pair.missed("never", f"{pair.b.name} is cheaper at any utilisation", searched)
    reason = f"even fully used, the machines that {pair.b.name} starts with cost more than {pair.a.name}"
    return pair.missed("never", reason, searched)


def users_point(pair: Pair, volume: BreakEvenPoint, first: Change | None, today: Today) -> BreakEvenPoint:
    """Return the users, each asking as much as today, at whom `b` first becomes cheaper."""
    if today.users <= 0 or today.tokens_per_month <= 0:
        return pair.missed("never", "no users are described", None)
    scale = today.users / today.tokens_per_month
    searched = None if volume.searched is None else (volume.searched[0] * scale, volume.searched[1] * scale)
    if first is None:
        status = "never" if volume.status == "reached" else volume.status
        return pair.missed(status, volume.reason, searched)
    crossing = next(c for c in volume.crossings or () if c.winner_above == pair.b.id)
    low, high = (None if bound is None else bound * scale for bound in (crossing.low, crossing.high))
    return pair.reached(first.at * today.users, "users", volume.reason, searched, low=low, high=high)


def _crossing(pair: Pair, change: Change, bounds: tuple[SignChanges, SignChanges], tokens: float) -> Crossing:
    """Return a crossing and where it lies in the extreme cases, None where they have none in the range."""
    favourable, unfavourable = bounds
    if change.upward:
        low, high = favourable.up_near(change.at, before=True), unfavourable.up_near(change.at, before=False)
    else:
        low, high = _down(unfavourable, change.at, before=True), _down(favourable, change.at, before=False)
    return Crossing(
        value=change.at * tokens,
        low=None if low is None else low * tokens,
        high=None if high is None else high * tokens,
        winner_above=pair.b.id if change.upward else pair.a.id,
    )


def _down(found: SignChanges, at: float, *, before: bool) -> float | None:
    flipped = tuple(Change(change.at, not change.upward) for change in found.changes)
    return SignChanges(-found.first_sign, -found.last_sign, flipped).up_near(at, before=before)


def _no_crossing(
    pair: Pair,
    curves: Staircases,
    found: SignChanges,
    searched: tuple[float, float],
    factors: tuple[float, float],
) -> BreakEvenPoint:
    a, b = pair.a.name, pair.b.name
    if found.first_sign == 0:
        return pair.missed("never", f"{b} and {a} cost the same at every volume", searched)
    if found.first_sign > 0:
        return pair.missed("never", f"{b} is cheaper than {a} at every volume searched", searched)
    reason = f"{b} costs more than {a} at every volume searched"
    if _gains(curves, factors):
        return pair.missed("not_reached", f"{reason}, though the gap narrows", searched)
    return pair.missed("never", reason, searched)


def _gains(curves: Staircases, factors: tuple[float, float]) -> bool:
    """Say whether a token more costs less with `b` than with `a` in the long run, machines included."""
    lo, hi = factors
    middle = math.sqrt(lo * hi)
    gap_hi = curves.b.all_in(hi)[MID] - curves.a.all_in(hi)[MID]
    gap_middle = curves.b.all_in(middle)[MID] - curves.a.all_in(middle)[MID]
    return bool(gap_hi < gap_middle)


def _told(pair: Pair, found: SignChanges, tokens: float) -> str:
    """Return the first crossings in words."""
    first, *rest = found.changes[:3]
    winner, loser = (pair.b, pair.a) if first.upward else (pair.a, pair.b)
    text = f"{winner.name} wins over {loser.name} from {_millions(first.at * tokens)} tokens a month"
    for change in rest:
        verb = "wins again" if change.upward == first.upward else "loses"
        because = " when a further machine is needed" if change.jump and verb == "loses" else ""
        text += f", {verb} from {_millions(change.at * tokens)}{because}"
    return text + (", and so on" if len(found.changes) > 3 else "")


def _millions(tokens: float) -> str:
    for size, name in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if tokens >= size:
            return f"{tokens / size:.4g} {name}"
    return f"{tokens:.4g}"
