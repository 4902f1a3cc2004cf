"""An option before it is written out: which ways serve which parts, and what that costs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from planner.domain.plan import Feasible, Path
from planner.finance.costs import Component
from planner.finance.levels import CostLevels
from planner.finance.ranges import Range3
from planner.planning.machine_ways import MachineWay
from planner.planning.token_ways import TokenWay


@dataclass(frozen=True)
class Draft:
    """One option with its components, not yet written out."""

    path: Path
    id: str
    name: str
    tokens: tuple[TokenWay, ...] = ()
    machines: tuple[MachineWay, ...] = ()
    components: tuple[Component, ...] = ()
    kwh_per_month: Range3 | None = None
    feasible: Feasible = "yes"
    reasons: tuple[str, ...] = ()
    unpriced: str | None = None
    same_weights: bool = True
    levels: CostLevels | None = field(default=None, compare=False)

    @property
    def cost(self) -> float:
        """Return the all-in monthly cost today, infinity where it is not priced."""
        return float(self.levels.all_in(1.0)[1]) if self.levels and not self.unpriced else float("inf")

    def but(self, **changes: Any) -> Draft:
        """Return this draft with some fields changed."""
        return dataclasses.replace(self, **changes)


def by_cost(draft: Draft) -> float:
    """Return what drafts are sorted by."""
    return draft.cost
