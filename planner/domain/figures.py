"""Labelled figures: a number with its interval, unit, basis, source and date; a speed also with its axes."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import model_serializer, model_validator

from planner.domain.base import Frozen
from planner.domain.errors import InputError


class Basis(StrEnum):
    """Where a figure comes from, on one of three scales, each ordered from strong to weak."""

    MEASURED = "measured"
    CALIBRATED = "calibrated"
    PUBLISHED = "published"
    ESTIMATED = "estimated"
    CLAIMED = "claimed"
    BILLED = "billed"
    LISTED = "listed"
    ASSUMED = "assumed"
    STATED = "stated"


SPEED_SCALE = (Basis.MEASURED, Basis.CALIBRATED, Basis.PUBLISHED, Basis.ESTIMATED, Basis.CLAIMED)
MONEY_SCALE = (Basis.BILLED, Basis.LISTED, Basis.ASSUMED)
DEMAND_SCALE = (Basis.MEASURED, Basis.STATED)

SpeedKind = Literal["prefill", "decode_per_request", "aggregate_output", "aggregate_total"]


def weaker(first: Basis, *others: Basis) -> Basis:
    """Return the weakest basis of several on the same scale.

    Raises InputError when the bases stand on different scales, such as a speed and a price.
    """
    bases = (first, *others)
    for scale in (SPEED_SCALE, MONEY_SCALE, DEMAND_SCALE):
        if all(basis in scale for basis in bases):
            return scale[max(scale.index(basis) for basis in bases)]
    raise InputError(f"Bases of different scales cannot be combined: {', '.join(bases)}.")


class Figure(Frozen):
    """A number with its label. `low`..`high` is an 80 % interval; an unknown is `value=None` with a reason."""

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str
    basis: Basis
    source: str
    as_of: str | None = None
    reason: str | None = None

    @model_validator(mode="after")
    def _known_or_explained(self) -> Self:
        if self.value is None and not self.reason:
            raise ValueError("an unknown figure needs a reason")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self

    @model_serializer(mode="wrap")
    def _without_empty_reason(self, handler: Any) -> dict[str, Any]:
        out: dict[str, Any] = handler(self)
        if out.get("reason") is None:
            out.pop("reason", None)
        return out

    @property
    def known(self) -> bool:
        """Say whether there is a number."""
        return self.value is not None

    @property
    def number(self) -> float:
        """Return the number; raises InputError with the reason when it is unknown."""
        if self.value is None:
            raise InputError(f"No figure: {self.reason}")
        return self.value

    @property
    def range(self) -> tuple[float, float, float]:
        """Return (low, value, high), with the value standing in for a missing bound."""
        mid = self.number
        return (mid if self.low is None else self.low, mid, mid if self.high is None else self.high)

    def times(self, factor: float, unit: str | None = None, source: str | None = None) -> Figure:
        """Return this figure scaled by a plain positive factor, in another unit if given."""
        if self.value is None:
            return Figure(**{**self._label(), "value": None, "unit": unit or self.unit})
        low, mid, high = (bound * factor for bound in self.range)
        label = {**self._label(), "unit": unit or self.unit, "source": source or self.source}
        return Figure(**{**label, "value": mid, "low": min(low, high), "high": max(low, high)})

    def plus(self, other: Figure) -> Figure:
        """Return the sum of two figures of one unit; an unknown part makes the sum unknown.

        Raises InputError for different units, or for speeds, which do not add.
        """
        if isinstance(self, Speed) or isinstance(other, Speed):
            raise InputError("Speeds are not added; convert to times or to one aggregate first.")
        if self.unit != other.unit:
            raise InputError(f"{self.unit} and {other.unit} cannot be added.")
        basis = weaker(self.basis, other.basis)
        source = self.source if self.source == other.source else f"{self.source}; {other.source}"
        for part in (self, other):
            if part.value is None:
                return unknown(self.unit, basis, part.reason or "unknown", source=source)
        low, mid, high = (a + b for a, b in zip(self.range, other.range, strict=True))
        dates = [date for date in (self.as_of, other.as_of) if date]
        as_of = min(dates) if dates else None
        return Figure(value=mid, low=low, high=high, unit=self.unit, basis=basis, source=source, as_of=as_of)

    def _label(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("unit", "basis", "source", "as_of", "reason")}


def unknown(unit: str, basis: Basis, reason: str, source: str = "none", as_of: str | None = None) -> Figure:
    """Return a figure without a number and with the reason why."""
    return Figure(value=None, unit=unit, basis=basis, source=source, as_of=as_of, reason=reason)


class Axes(Frozen):
    """The conditions under which a speed holds; without them it is a claim, not a figure."""

    context_tokens: int = 0
    """Tokens already in the KV cache when the step or the prompt starts."""
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    concurrency: int = 1
    """Requests in flight; 1 = single stream."""
    cached_prefix_tokens: int = 0
    """Prompt tokens that were not processed again."""
    model: str
    quant: str
    kv_quant: str = "f16"
    engine: str
    engine_build: str | None = None
    speculative: str | None = None
    hardware: str
    count: int = 1
    parallel: Literal["tensor", "layer", "none"] = "none"


class Speed(Figure):
    """Tokens per second of one kind, under stated axes."""

    kind: SpeedKind
    axes: Axes
    unit: str = "tok/s"


def same_kind(first: Speed, second: Speed) -> None:
    """Raise InputError unless two speeds may be compared at all."""
    if first.kind != second.kind:
        raise InputError(f"{first.kind} and {second.kind} are different numbers and cannot be compared.")


def unknown_speed(kind: SpeedKind, axes: Axes, basis: Basis, reason: str, source: str = "none") -> Speed:
    """Return a speed without a number and with the reason why."""
    return Speed(value=None, kind=kind, axes=axes, basis=basis, reason=reason, source=source)
