"""What thread workers tell the app: workers post these, only handlers change state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.message import Message

from planner.domain.errors import PlannerError
from planner.domain.library import Library
from planner.domain.plan import Plan
from planner.domain.workload import Workload


@dataclass
class Opened(Message):
    """The store was read: profiles and the first workload are there."""

    library: Library
    profiles: tuple[Any, ...]
    workload: Workload
    path: str | None


@dataclass
class Reloaded(Message):
    """Profiles and measurements were read again."""

    library: Library
    profiles: tuple[Any, ...]


@dataclass
class Planned(Message):
    """A plan is ready; `generation` tells whether it still answers the current workload."""

    generation: int
    plan: Plan


@dataclass
class Failed(Message):
    """Something a person asked for went wrong."""

    error: PlannerError
    generation: int | None = None


@dataclass
class JobEvent(Message):
    """One line from a running probe or build."""

    event: dict[str, Any]

    def can_replace(self, message: Message) -> bool:
        """Let a newer progress line replace an older one, so that a fast probe can't flood the screen."""
        both = isinstance(message, JobEvent) and message.event.get("event") == "progress"
        return both and self.event.get("event") == "progress"


@dataclass
class JobEnded(Message):
    """A probe or build ended by itself, by cancel, or with an error."""

    kind: str
    error: PlannerError | None = None
    cancelled: bool = False


@dataclass
class WorkloadEdited(Message):
    """The form holds another valid workload (`workload`), or an invalid draft with the count of problems."""

    workload: Workload | None
    problems: int = 0
