"""One probe in progress: events out, record together, whatever ends it."""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, TextIO

from planner.domain.errors import ExitCode, PlannerError
from planner.domain.figures import Figure
from planner.domain.probe import ProbeEngine, ProbeKind, ProbeModel, ProbeRecord

Status = Literal["complete", "partial", "failed", "cancelled"]
EndedBy = Literal["precision", "time_cap", "user", "error", "budget"]


def tool_version() -> str:
    """Return the installed version of this program."""
    try:
        return version("inference-planner")
    except PackageNotFoundError:
        return "0"


class RefusalError(PlannerError):
    """The probe was refused before it loaded or spent anything."""

    exit_code = ExitCode.WRONG_INPUT
    title = "Refused"

    def __init__(self, code: str, message: str, hint: str = "", **details: Any) -> None:
        super().__init__(message, hint)
        self.code, self.details = code, details


class Emitter:
    """Writes one JSON object a line and nothing after the record."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.lock = threading.Lock()
        self.closed = False
        self.secret: str | None = None
        """A key that must not be written, even where a server repeats it in an error."""

    def emit(self, event: str, **fields: Any) -> None:
        """Write one event; a reader that went away ends the process, for nobody is left to measure for."""
        line = json.dumps({"event": event, **fields}, ensure_ascii=False, allow_nan=False, default=str)
        if self.secret:
            line = line.replace(json.dumps(self.secret)[1:-1], "[key]")
        with self.lock:
            if self.closed:
                return
            self.closed = event == "record"
            try:
                self.out.write(line + "\n")
                self.out.flush()
            except (BrokenPipeError, ValueError, OSError):
                os._exit(ExitCode.INTERRUPTED)


def private_stdout() -> TextIO:
    """Return a stream to the real stdout, and send whatever native code prints there to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8", newline="\n")


@dataclass
class Session:
    """The growing record. `record()` may be called at any moment, from any thread."""

    kind: ProbeKind
    emitter: Emitter
    hardware: str = "local"
    model: ProbeModel = field(default_factory=lambda: ProbeModel(id="none"))
    engine: ProbeEngine = field(default_factory=lambda: ProbeEngine(name="none"))
    environment: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = datetime.now(UTC)
        self.clock_start = time.perf_counter()
        self.id = f"{self.kind}-{self.started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"

    @property
    def today(self) -> str:
        """Return the date of the measurement, for figures."""
        return self.started.date().isoformat()

    def elapsed(self) -> float:
        """Return seconds since the start."""
        return time.perf_counter() - self.clock_start

    def start(self, **fields: Any) -> None:
        """Announce the probe."""
        self.emitter.emit("start", id=self.id, kind=self.kind, started_at=_stamp(self.started), **fields)

    def progress(self, stage: str, done: float, **fields: Any) -> None:
        """Tell how far the probe is: `done` from 0 to 1."""
        share = round(min(1.0, max(0.0, done)), 3)
        self.emitter.emit("progress", stage=stage, done=share, elapsed_s=round(self.elapsed(), 2), **fields)

    def sample(self, **fields: Any) -> None:
        """Keep and send one raw sample."""
        self.samples.append(fields)
        self.emitter.emit("sample", **fields)

    def warn(self, code: str, message: str) -> None:
        """Send a warning and keep it with the settings, so that the stored record still carries it."""
        self.settings.setdefault("warnings", []).append({"code": code, "message": message})
        self.emitter.emit("warning", code=code, message=message)

    def error(self, code: str, message: str, hint: str = "", **fields: Any) -> None:
        """Send an error and keep it in the record."""
        self.errors.append(f"{message} {hint}".strip())
        self.emitter.emit("error", code=code, message=message, hint=hint, **fields)

    def record(self, status: Status, ended_by: EndedBy) -> ProbeRecord:
        """Return the record as far as it got."""
        return ProbeRecord(
            schema="planner.probe/1",
            id=self.id,
            kind=self.kind,
            started_at=_stamp(self.started),
            finished_at=_stamp(datetime.now(UTC)),
            status=status,
            ended_by=ended_by,
            tool_version=tool_version(),
            environment=dict(self.environment),
            hardware=self.hardware,
            model=self.model,
            engine=self.engine,
            settings=dict(self.settings),
            figures=tuple(self.figures),
            samples=tuple(self.samples),
            errors=tuple(self.errors),
        )

    def finish(self, status: Status, ended_by: EndedBy) -> None:
        """Send the record as the last line."""
        record = self.record(status, ended_by)
        self.emitter.emit("record", record=record.model_dump(mode="json", by_alias=True))


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
