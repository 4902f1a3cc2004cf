"""The two options of a break-even and what is known of today's demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from planner.domain.figures import Basis, Figure, weaker
from planner.domain.plan import BreakEvenPoint
from planner.finance.costs import Component, Terms, label


@dataclass(frozen=True, slots=True)
class Side:
    """An option as a break-even sees it."""

    id: str
    name: str
    components: tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class Today:
    """Today's demand, by which a multiple is told as tokens, users or hours, and today's token price."""

    tokens_per_month: float
    users: float = 0.0
    hours_per_day: float = 0.0
    api_usd_per_mtok: float | None = None
    """Blended price per million tokens of what is paid by the token; None where nothing is."""


Status = Literal["reached", "not_reached", "never"]
CostsAt = Callable[[float], tuple[tuple[Component, ...], tuple[Component, ...]]]


@dataclass(frozen=True, slots=True)
class Pair:
    """From one option to another, under the same terms."""

    a: Side
    b: Side
    terms: Terms

    def reached(
        self,
        value: float,
        unit: str,
        reason: str,
        searched: tuple[float, float] | None,
        *,
        low: float | None = None,
        high: float | None = None,
    ) -> BreakEvenPoint:
        """Return a point with its value; `low` and `high` are put around it."""
        low = None if low is None else min(low, value)
        high = None if high is None else max(high, value)
        figure = self._figure(value, unit, low, high)
        return BreakEvenPoint(
            status="reached", reason=reason, searched=searched, value=figure, low=low, high=high
        )

    def missed(
        self, status: Status, reason: str, searched: tuple[float, float] | None, low: float | None = None
    ) -> BreakEvenPoint:
        """Return a point without a value; `low` is where the favourable case would reach it."""
        return BreakEvenPoint(status=status, reason=reason, searched=searched, low=low)

    def _figure(self, value: float, unit: str, low: float | None, high: float | None) -> Figure:
        basis, source, as_of = self._label()
        return Figure(
            value=value, low=low, high=high, unit=unit, basis=basis, source=source, as_of=as_of
        )

    def _label(self) -> tuple[Basis, str, str | None]:
        parts = (label(self.a.components), label(self.b.components))
        dates = [as_of for _, _, as_of in parts if as_of]
        return (
            weaker(parts[0][0], parts[1][0]),
            "; ".join(dict.fromkeys(part for _, text, _ in parts for part in text.split("; "))),
            min(dates) if dates else None,
        )
