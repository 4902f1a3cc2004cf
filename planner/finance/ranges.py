"""A number with its bounds: the cheapest, the likely and the dearest case of one amount of money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from planner.domain.errors import InputError
from planner.domain.figures import Basis, Figure

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Range3:
    """Three cases side by side: low = cheapest, mid = likely, high = dearest; arithmetic stays within a case.
    """

    low: float
    mid: float
    high: float

    @classmethod
    def of(cls, value: float) -> Self:
        """Return a range without spread."""
        return cls(value, value, value)

    @classmethod
    def spanning(cls, low: float, mid: float, high: float) -> Self:
        """Return a checked range; raises InputError unless low <= mid <= high."""
        if not low <= mid <= high:
            raise InputError(f"A range runs from low to high, not {low:g} / {mid:g} / {high:g}.")
        return cls(low, mid, high)

    @classmethod
    def from_figure(cls, figure: Figure) -> Self:
        """Return the bounds of a known figure; raises InputError with the reason of an unknown one."""
        return cls(*figure.range)

    @classmethod
    def from_array(cls, cases: Array) -> Self:
        """Return a range from an array of shape (3,), put in order."""
        first, mid, last = (float(case) for case in cases)
        return cls(min(first, mid, last), mid, max(first, mid, last))

    @property
    def array(self) -> Array:
        """Return the cases as an array of shape (3,)."""
        return np.array((self.low, self.mid, self.high), dtype=np.float64)

    def __add__(self, other: Range3) -> Range3:
        return Range3(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def times(self, factor: float) -> Range3:
        """Return this range scaled by a factor that is not negative; raises InputError otherwise."""
        if factor < 0:
            raise InputError(f"A range of costs is not scaled by the negative factor {factor:g}.")
        return Range3(self.low * factor, self.mid * factor, self.high * factor)

    def product(self, other: Range3) -> Range3:
        """Return the product case by case, of two ranges that are both not negative."""
        return Range3(self.low * other.low, self.mid * other.mid, self.high * other.high)

    def figure(self, unit: str, basis: Basis, source: str, as_of: str | None = None) -> Figure:
        """Return a labelled figure for the edge of this package."""
        low, high = min(self.low, self.mid), max(self.high, self.mid)
        return Figure(value=self.mid, low=low, high=high, unit=unit, basis=basis, source=source, as_of=as_of)


ZERO = Range3(0.0, 0.0, 0.0)


def total(ranges: tuple[Range3, ...]) -> Range3:
    """Return the sum of ranges; of none, zero."""
    out = ZERO
    for part in ranges:
        out = out + part
    return out
