"""Where two piecewise-linear curves change places: jumps between pieces included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.finance.ranges import Array

Point = tuple[float, float]
RELATIVE_ZERO = 1e-11
"""Fraction of the curves' own size below which a difference is a tie, so that rounding makes no crossing."""


@dataclass(frozen=True, slots=True)
class Change:
    """A place where the sign of a difference changes."""

    at: float
    upward: bool
    """True = from negative to positive."""
    jump: bool = False
    """True = at a step, such as a further machine, not by two lines meeting."""


@dataclass(frozen=True, slots=True)
class SignChanges:
    """All changes of sign along a curve, and the sign it starts and ends with (0 = a tie throughout)."""

    first_sign: int
    last_sign: int
    changes: tuple[Change, ...]

    def up_near(self, at: float, *, before: bool) -> float | None:
        """Return the last upward change at or before a place, or the first at or after it."""
        places = [change.at for change in self.changes if change.upward]
        fitting = [place for place in places if (place <= at if before else place >= at)]
        if not fitting:
            return None
        return max(fitting) if before else min(fitting)


def sign_changes(left: Array, right: Array, at_left: Array, at_right: Array, size: Array) -> SignChanges:
    """Return where a difference changes sign over adjoining pieces.

    Piece i runs straight from `at_left[i]` just after x = `left[i]` to `at_right[i]` at x = `right[i]`;
    between pieces it may jump. `size[i]` is the size of the compared curves, against which a tie is judged.
    Inside a piece the place is exact, as two straight lines meet.
    """
    x = np.column_stack((left, right)).ravel()
    y = np.column_stack((at_left, at_right)).ravel()
    tolerance = np.repeat(RELATIVE_ZERO * size, 2)
    sign = np.where(np.abs(y) <= tolerance, 0, np.sign(y)).astype(int)
    kept = np.flatnonzero(sign)
    if kept.size == 0:
        return SignChanges(0, 0, ())
    turns = np.flatnonzero(sign[kept][:-1] != sign[kept][1:])
    changes = tuple(_change(x, y, sign, int(kept[i]), int(kept[i + 1])) for i in turns)
    return SignChanges(int(sign[kept[0]]), int(sign[kept[-1]]), changes)


def bisect(difference: Callable[[float], float], lo: float, hi: float, pieces: int = 256) -> SignChanges:
    """Return where any function changes sign, by halving inside each of equal pieces of a range.

    A pair of changes within one piece is missed; use `sign_changes` where the pieces are known.
    """
    grid = [float(point) for point in np.linspace(lo, hi, pieces + 1)]
    points = [(x, difference(x)) for x in grid]
    signed = [(x, y) for x, y in points if y != 0]
    if not signed:
        return SignChanges(0, 0, ())
    changes = [
        Change(_halve(difference, a, b), upward=b[1] > 0)
        for a, b in pairwise(signed)
        if (a[1] > 0) != (b[1] > 0)
    ]
    return SignChanges(1 if signed[0][1] > 0 else -1, 1 if signed[-1][1] > 0 else -1, tuple(changes))


def _halve(difference: Callable[[float], float], start: Point, end: Point) -> float:
    left, right = start[0], end[0]
    for _ in range(100):
        middle = (left + right) / 2
        if (difference(middle) > 0) == (start[1] > 0):
            left = middle
        else:
            right = middle
    return (left + right) / 2


def _change(x: Array, y: Array, sign: np.typing.NDArray[np.int_], before: int, after: int) -> Change:
    upward = bool(sign[after] > 0)
    if after == before + 1 and before % 2 == 0:
        share = y[before] / (y[before] - y[after])
        return Change(float(x[before] + share * (x[after] - x[before])), upward)
    # The first point after `before` is where it touches zero or where the next piece starts.
    return Change(float(x[before + 1]), upward, jump=after == before + 1)
