"""Chart series of a plan, named for a legend; the points are the plan's own."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.plan import Curve, Path, Plan
from planner.report.format import Currency
from planner.report.safe import clean
from planner.report.tables import PATH_NAMES


@dataclass(frozen=True)
class Series:
    """One line of a chart; y in the currency shown."""

    option: str
    path: Path
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def by_month(plan: Plan, currency: Currency) -> tuple[Series, ...]:
    """Return cumulative cost by month for the best option of each path."""
    return _series(plan, plan.curves_by_month, currency)


def by_volume(plan: Plan, currency: Currency) -> tuple[Series, ...]:
    """Return cost a month by tokens a month for the best option of each path."""
    return _series(plan, plan.curves_by_volume, currency)


def _series(plan: Plan, curves: tuple[Curve, ...], currency: Currency) -> tuple[Series, ...]:
    out = []
    for curve in curves:
        option = plan.option(curve.option)
        if option is None:
            continue
        label = f"{PATH_NAMES[option.path]}: {clean(option.name, 40)}"
        y = tuple(value * currency.rate for value in curve.y)
        out.append(Series(curve.option, option.path, label, curve.x, y))
    return tuple(out)
