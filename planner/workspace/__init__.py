"""The one place that joins store and planning: open, plan, record, import."""

from planner.workspace.device import DeviceSupport
from planner.workspace.doctor import Check
from planner.workspace.facade import Workspace
from planner.workspace.probe_run import ProbeRun
from planner.workspace.workloads import apply_sets

__all__ = ["Check", "DeviceSupport", "ProbeRun", "Workspace", "apply_sets"]
