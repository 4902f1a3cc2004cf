"""A probe in a child process: native crashes, log noise and blocking exits stay there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from planner.domain.errors import InputError, PlannerError, ProbeError
from planner.domain.probe import ProbeRecord

Event = dict[str, Any]
_TAIL_LINES = 40
_MAX_LINE = 32 * 1024 * 1024
_GRACE_SECONDS = 0.5
_CANCEL_SECONDS = 4.0
"""How long a cancelled probe may take to send its record before it is killed."""


class ProbeRun:
    """One run of `python -m probes`: iterate for its events, `cancel()` at any time from any thread.

    The child ends when its stdin closes, so it never outlives the planner. The record is stored before its event
    is yielded, also that of a failed probe. Raises ProbeError when the child crashed or sent no record, InputError
    when it refused.
    """

    def __init__(
        self, args: Sequence[str], store: Callable[[ProbeRecord], ProbeRecord], program: Sequence[str] = ()
    ) -> None:
        self.record: ProbeRecord | None = None
        self._store = store
        self._cancelled = False
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._error: tuple[str, str] | None = None
        command = [*(program or (sys.executable, "-m", "probes")), *args]
        try:
            self._child = subprocess.Popen(
                command, env=child_environment(),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                # Ctrl-C goes to the planner, which then ends the child in order and stores what it has.
                start_new_session=os.name == "posix",
            )  # fmt: skip
        except OSError as error:
            raise ProbeError(f"The probe could not be started: {error.strerror or error}.") from error
        self._drain = threading.Thread(target=self._read_stderr, name="probe-stderr", daemon=True)
        self._drain.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        assert self._child.stdout is not None
        try:
            for line in iter(lambda: self._child.stdout.readline(_MAX_LINE), b""):  # type: ignore[union-attr]
                event = _event(line)
                if event is None:
                    continue
                if event["event"] == "record":
                    self._take(event)
                elif event["event"] == "error":
                    self._error = str(event.get("message") or "unknown error"), str(event.get("hint") or "")
                yield event
        except KeyboardInterrupt:
            self.cancel()
            self._collect_rest()
            raise
        self._finish()

    def cancel(self) -> None:
        """Ask the child to stop and to send what it has; it is killed if it doesn't. Safe to call twice."""
        self._cancelled = True
        if self._child.poll() is None:
            # Its stdin stays open: closing that ends the child without a record.
            with contextlib.suppress(ProcessLookupError):
                self._child.terminate()
            threading.Thread(target=self._kill_later, name="probe-kill", daemon=True).start()

    def close(self) -> None:
        """End the child at once, without a record, and free its pipes."""
        self._close_stdin()
        if self._child.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(_GRACE_SECONDS)
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        self._drain.join(1)
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    @property
    def log(self) -> str:
        """Return the last lines the child wrote to stderr."""
        return "\n".join(self._tail)

    def _take(self, event: Event) -> None:
        try:
            self.record = ProbeRecord.model_validate(event.get("record"))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ProbeError(f"The probe's record cannot be read: {where}: {first['msg']}.") from error
        self.record = self._store(self.record)
        event["record"] = self.record.model_dump(mode="json", by_alias=True)

    def _collect_rest(self) -> None:
        """Read what a cancelled child still says; its partial record is worth keeping."""
        assert self._child.stdout is not None
        with contextlib.suppress(OSError, ValueError, PlannerError):
            for line in iter(lambda: self._child.stdout.readline(_MAX_LINE), b""):  # type: ignore[union-attr]
                event = _event(line)
                if event is not None and event["event"] == "record":
                    self._take(event)

    def _finish(self) -> None:
        code = self._child.wait()
        self._drain.join(2)
        self._close_stdin()
        if self._cancelled or self.record is not None:
            return
        message, hint = self._error or ("", "")
        if code < 0:
            raise ProbeError(f"The probe crashed ({signal_words(-code)}).", hint or _last(self._tail))
        if code == InputError.exit_code:
            raise InputError(message or "The probe was refused.", hint or _last(self._tail))
        if message:
            raise ProbeError(message, hint)
        raise ProbeError(f"The probe ended without a record (exit code {code}).", _last(self._tail))

    def _read_stderr(self) -> None:
        assert self._child.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for line in iter(lambda: self._child.stderr.readline(8192), b""):  # type: ignore[union-attr]
                text = line.decode("utf-8", "replace").strip()
                if text:
                    self._tail.append(text[:500])

    def _close_stdin(self) -> None:
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()

    def _kill_later(self) -> None:
        try:
            self._child.wait(_CANCEL_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()


def child_environment() -> dict[str, str]:
    """Return an environment in which the child finds `probes`, in a checkout as in an installed wheel."""
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "")
    paths = [root, *(part for part in known.split(os.pathsep) if part and part != root)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
    }


def signal_words(number: int) -> str:
    """Return what a deadly signal means to a person."""
    words = {
        "SIGSEGV": "it touched memory that is not its own: often a model file the engine cannot handle",
        "SIGILL": "this CPU lacks an instruction the build uses: rebuild llama-cpp-python on this machine",
        "SIGKILL": "the system killed it: usually too little memory",
        "SIGABRT": "the engine gave up on an internal check",
        "SIGBUS": "a mapped file could not be read: truncated model file or full disk",
        "SIGTERM": "it was told to stop",
    }
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name}: {words[name]}" if name in words else name


def _event(line: bytes) -> Event | None:
    """Return a line's event; noise between events (a library printing to stdout) is skipped."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("event"), str) else None


def _last(tail: Sequence[str]) -> str:
    return f"Its last words: {tail[-1]}" if tail else ""
