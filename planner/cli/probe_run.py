"""One probe run on the command line: events become lines, the record becomes a summary and an exit code."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

from typing import Any

from planner.cli.output import Status, data, say, width
from planner.domain.errors import ExitCode, InputError, ProbeError
from planner.domain.probe import ProbeRecord
from planner.workspace import Workspace

Event = dict[str, Any]


class ConsentError(InputError):
    """The probe would spend money and was not told that it may; `estimate` says how much."""

    def __init__(self, message: str, hint: str, estimate: Event) -> None:
        super().__init__(message, hint)
        self.estimate = estimate


def measure(workspace: Workspace, arguments: list[str], as_json: bool) -> int:
    """Run a probe to its end; returns 4 for a failed one and 130 for a cancelled one.

    Raises ProbeError or InputError when the child ends without a record, ConsentError when it would spend money.
    """
    status = Status()
    try:
        with workspace.run_probe(arguments) as run:
            for event in run:
                consent_given(event)
                if as_json:
                    _print(event)
                else:
                    tell(status, event)
            record = run.record
    except KeyboardInterrupt:
        status.done()
        if run.record is not None:
            say(f"planner: what was measured so far is kept as {run.record.id}")
        raise
    finally:
        status.done()
    if record is None:
        raise ProbeError("The probe ended without a record.")
    if not as_json:
        _summarise(record)
    return exit_code(record)


def consent_given(event: Event) -> None:
    """Raise ConsentError for the event with which a probe refuses to spend money unasked."""
    estimate = event.get("estimate")
    if event.get("event") == "error" and isinstance(estimate, dict):
        raise ConsentError(str(event.get("message", "")), str(event.get("hint", "")), estimate)


def exit_code(record: ProbeRecord) -> int:
    """Return the exit code of a finished probe."""
    codes = {"failed": ExitCode.PROBE_FAILED, "cancelled": ExitCode.INTERRUPTED}
    return codes.get(record.status, ExitCode.OK)


def tell(status: Status, event: Event) -> None:
    """Show one event of a probe or a build on stderr."""
    kind = event.get("event")
    if kind == "progress":
        done = event.get("done", event.get("fraction"))
        share = f"{done:.0%} " if isinstance(done, int | float) else ""
        words = event.get("stage") or event.get("text") or ""
        status.show(f"{share}{words}{_left(event)}", key=str(words))
    elif kind == "warning":
        status.done()
        say(f"warning: {event.get('message', '')}")


def _left(event: Event) -> str:
    """Return the time left: as told, else by the pace so far."""
    told, done, elapsed = event.get("estimate_s"), event.get("done"), event.get("elapsed_s")
    if told is None and isinstance(done, int | float) and isinstance(elapsed, int | float) and 0.05 < done < 1:
        told = elapsed * (1 - done) / done
    return f", about {duration(told)} left" if isinstance(told, int | float) and told >= 1 else ""


def duration(seconds: float) -> str:
    """Return a time in words: seconds below two minutes, minutes above."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _print(event: Event) -> None:
    from planner.report import json

    data(json.line(event) + "\n")


def _summarise(record: ProbeRecord) -> None:
    from planner.report import probe

    data(probe.render(record, width(), warnings=False))
    if record.status == "failed":
        say(f"planner: error: {record.errors[-1] if record.errors else 'the probe failed'}")
    say(f"stored as {record.id}; `planner probe list` shows all")
