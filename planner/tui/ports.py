"""What the screens need from the workspace; the real one and the tests' stand-in both fit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from planner.domain.library import Library
from planner.domain.plan import Plan
from planner.domain.probe import ProbeRecord
from planner.domain.workload import Workload


class WorkspacePort(Protocol):
    """The part of `planner.workspace.Workspace` that the screens use."""

    def library(self) -> Library:
        """Return all profiles."""

    def profiles(self) -> Sequence[Any]:
        """Return every profile with its kind, origin and file."""

    def refresh(self) -> None:
        """Forget what was read before."""

    def workload_names(self) -> Sequence[str]:
        """Return the names of the shipped workloads."""

    def load_workload(self, name_or_path: str) -> Workload:
        """Read a shipped workload by name, or a file."""

    def plan(self, workload: Workload, today: date) -> Plan:
        """Evaluate a workload."""

    def save_workload(self, workload: Workload, path: Path) -> Any:
        """Write a workload file."""

    def last_workload(self) -> Any:
        """Return the name or path of the workload that was open last, if any."""

    def remember_workload(self, path: str) -> None:
        """Remember which workload was open."""

    def profile_path(self, kind: str, id: str) -> Path | None:
        """Return the file a profile comes from."""

    def override(self, kind: str, id: str, field: str, value: Any) -> Any:
        """Set the user's own value for one field."""

    def clear_override(self, kind: str, id: str, field: str) -> Any:
        """Take the user's own value back."""

    def overrides(self) -> Any:
        """Return the user's own values."""

    def probes(self) -> Sequence[ProbeRecord]:
        """Return the records, newest first."""

    def run_probe(self, args: list[str]) -> Any:
        """Start a probe in a child process."""

    def device_support(self) -> Any:
        """Say whether models can run on this machine."""

    def build_device_support(self) -> Any:
        """Build llama-cpp-python, yielding events."""

