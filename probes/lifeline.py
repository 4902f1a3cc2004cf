"""Ends the process when its parent goes away or a person interrupts, even while native code is running."""

from __future__ import annotations

import os
import signal
import socket
import stat
import threading
import time
from collections.abc import Callable

from planner.domain.errors import ExitCode

GRACE_S = 1.5
"""How long a running step may still finish after an interrupt before the record is sent without it."""


SIGNAL_S = 0.2
"""How long a signal sent just before may take to arrive."""


class Interrupted(BaseException):
    """Raised at the first safe point after SIGINT or SIGTERM."""


def watch_stdin(guard: InterruptGuard) -> None:
    """End the process when stdin reaches its end, if stdin is a pipe or a socket (not a terminal or file).

    A parent that first interrupts and then closes stdin still gets its record: then the guard ends the process.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        threading.Thread(target=_wait_for_end, args=(guard,), name="stdin-watch", daemon=True).start()


def _wait_for_end(guard: InterruptGuard) -> None:
    while True:
        try:
            if not os.read(0, 4096):
                break
        except InterruptedError:
            continue
        except OSError:
            break
    if not guard.signalled.wait(SIGNAL_S):
        os._exit(ExitCode.INTERRUPTED)


class InterruptGuard:
    """Remembers an interrupt for the next safe point, and speaks up itself when native code does not return.

    Python runs signal handlers only between bytecodes, so a long native call would delay them; the wake-up
    descriptor is written at once, and a thread waits on it.
    """

    def __init__(self, last_words: Callable[[], None]) -> None:
        self.last_words = last_words
        self.requested = False
        self.on_request: Callable[[], object] | None = None
        """Called once in the main thread, such as to cancel an event loop's task."""
        self.signalled = threading.Event()
        """Set as soon as the signal arrives, even while native code runs."""
        self.delivering = threading.Event()
        """Set by the main thread when it begins to send the record."""

    def install(self) -> None:
        """Install handlers for SIGINT and SIGTERM; must be called in the main thread."""
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._sockets = (reader, writer)
        threading.Thread(target=self._watch, args=(reader,), name="interrupt-watch", daemon=True).start()

    def check(self) -> None:
        """Raise Interrupted if a person asked to stop."""
        if self.requested:
            raise Interrupted

    def _handle(self, number: int, frame: object) -> None:
        if not self.requested:
            self.requested = True
            if self.on_request is not None:
                self.on_request()

    def _watch(self, reader: socket.socket) -> None:
        wanted = {int(signal.SIGINT), int(signal.SIGTERM)}
        while data := reader.recv(16):
            if wanted.intersection(data):
                break
        else:
            return
        self.signalled.set()
        if not self.delivering.wait(GRACE_S):
            self.last_words()
        else:
            time.sleep(GRACE_S)
        os._exit(ExitCode.INTERRUPTED)
