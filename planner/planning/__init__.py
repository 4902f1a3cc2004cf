"""Options for a workload, their comparison and the verdict: the one evaluation behind every view."""

from planner.planning.plan import plan

__all__ = ["plan"]
