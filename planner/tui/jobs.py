"""The one child process that may run: a probe or a build, drained by a thread, shown by the Probes screen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from planner.domain.errors import PlannerError, ProbeError
from planner.tui import messages, safe

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

LOG_LINES = 200


@dataclass(frozen=True)
class Job:
    """What is known about the running or the last job."""

    kind: str
    title: str
    running: bool = True
    fraction: float | None = None
    stage: str = "starting"
    remaining_s: float | None = None
    log: tuple[str, ...] = ()
    outcome: str = ""


class JobRunner:
    """Starts at most one job, keeps its state, and cancels it."""

    def __init__(self, app: PlannerApp) -> None:
        self._app = app
        self.job: Job | None = None
        self._run: Any = None
        self._cancelled = threading.Event()

    @property
    def running(self) -> bool:
        """Say whether a job is running."""
        return self.job is not None and self.job.running

    def start(self, kind: str, title: str, begin: Callable[[], Any]) -> None:
        """Start a job; `begin` returns an iterable of events with `cancel()`. Raises ProbeError if one is running."""
        if self.running:
            raise ProbeError("Another probe or build is running.", "Wait for it or cancel it with x.")
        self._cancelled.clear()
        self.job = Job(kind, title)
        # A daemon thread, not a worker: Python waits for workers when it ends, and leaving must not wait for a child.
        threading.Thread(target=self._drain, args=(kind, begin), name="planner-job", daemon=True).start()

    def _drain(self, kind: str, begin: Callable[[], Any]) -> None:
        error: PlannerError | None = None
        try:
            self._run = begin()
            if self._cancelled.is_set():
                self._stop()
            for event in self._run:
                if self._cancelled.is_set() and not hasattr(self._run, "cancel"):
                    break
                self._app.post_message(messages.JobEvent(dict(event)))
        except PlannerError as failure:
            error = failure
        except Exception as failure:  # a thread has nobody above it who could tell the person
            error = ProbeError(f"The {kind} failed: {type(failure).__name__}: {failure}.")
        finally:
            self._close()
        cancelled = self._cancelled.is_set()
        self._app.post_message(messages.JobEnded(kind, None if cancelled else error, cancelled))

    def cancel(self) -> None:
        """End the child; the draining thread then ends by itself."""
        if self.running and not self._cancelled.is_set():
            self._cancelled.set()
            self._stop()

    def _stop(self) -> None:
        stop = getattr(self._run, "cancel", None)
        if stop is not None:
            stop()

    def _close(self) -> None:
        close = getattr(self._run, "close", None)
        if close is not None:
            close()
        self._run = None

    def take(self, event: dict[str, Any]) -> None:
        """Fold one event into the state."""
        if self.job is None:
            return
        job = self.job
        kind = event.get("event")
        if kind == "progress":
            job = replace(
                job,
                fraction=_share(event.get("done", event.get("fraction"))),
                stage=safe.line(event.get("stage") or event.get("text") or event.get("message") or job.stage, 60),
                remaining_s=_remaining(event),
            )
        words = _words(event)
        if words and words != (job.log[-1] if job.log else ""):
            job = replace(job, log=(*job.log[-LOG_LINES + 1 :], words))
        self.job = job

    def ended(self, message: messages.JobEnded) -> None:
        """Note how the job ended."""
        if self.job is not None:
            outcome = "✗ failed" if message.error else "✗ cancelled" if message.cancelled else "✓ done"
            self.job = replace(self.job, running=False, outcome=outcome, remaining_s=None)


def _share(value: Any) -> float | None:
    return min(max(float(value), 0.0), 1.0) if isinstance(value, int | float) else None


def _remaining(event: dict[str, Any]) -> float | None:
    """Return the child's own estimate, else the elapsed time scaled by what is left."""
    told, done, elapsed = event.get("estimate_s"), event.get("done"), event.get("elapsed_s")
    if isinstance(told, int | float):
        return max(float(told), 0.0)
    if isinstance(done, int | float) and isinstance(elapsed, int | float) and 0.02 < done <= 1:
        return elapsed * (1 - done) / done
    return None


def _words(event: dict[str, Any]) -> str:
    """Return a line for the log: the message, else the event's plain values."""
    kind = str(event.get("event", ""))
    if kind == "record":
        record = event.get("record") or {}
        return safe.line(f"record {record.get('id', '')} {record.get('status', '')}")
    message = event.get("message") or event.get("text")
    if kind == "progress":
        return safe.line(message or event.get("stage") or "")
    if kind == "sample" and "metric" in event and "ms" in event:
        depth = event.get("context_tokens", event.get("prompt_tokens", ""))
        return safe.line(f"{event['metric']} at {depth}: {event['ms']} ms", 200)
    if message:
        return safe.line(f"{kind}: {message}" if kind in ("warning", "error") else message)
    plain = [f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in event.items()
             if key not in ("event", "schema") and isinstance(value, str | int | float)]  # fmt: skip
    return safe.line(f"{kind}: {', '.join(plain)}", 200)
