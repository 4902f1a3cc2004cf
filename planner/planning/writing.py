"""What all options of a plan share while they are written out, and labels of a draft's money."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from planner.domain.figures import Basis, Figure
from planner.domain.library import Library
from planner.domain.workload import Workload
from planner.finance.costs import Component, Terms, label
from planner.finance.ranges import Array, Range3
from planner.planning.demand import MonthDemand
from planner.planning.drafts import Draft
from planner.planning.machine_ways import MachineWay

SOURCES_SHOWN = 3
SOURCE_LENGTH = 140


@dataclass(frozen=True)
class Writing:
    """What all options of a plan share while they are written out."""

    workload: Workload
    library: Library
    month: MonthDemand
    terms: Terms
    today: datetime.date
    reference: Array | None = None
    """Cash flow of the cheapest option by the token, against which IRR and payback are counted."""
    reference_id: str | None = None


def money_basis(draft: Draft) -> Basis:
    """Return the weakest basis of everything a draft costs."""
    return label(draft.components)[0] if draft.components else Basis.ASSUMED


def labelled(draft: Draft, value: Range3, unit: str, how: str = "") -> Figure:
    """Return a money figure with the basis, sources and oldest date of what a draft costs."""
    basis, source, as_of = label(draft.components)
    return value.figure(unit, basis, how + _short(source), as_of)


def _short(sources: str) -> str:
    """Return the first sources, cut: each amount keeps its whole source in the explanations."""
    parts = sources.split("; ")
    shown = [part if len(part) <= SOURCE_LENGTH else part[: SOURCE_LENGTH - 1] + "…" for part in parts[:SOURCES_SHOWN]]
    more = len(parts) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def component_of(draft: Draft, machine: MachineWay) -> Component | None:
    """Return the component that pays for a machine of a draft."""
    return next((c for c in draft.components if c.unit_load == machine.work.unit_load), None)
