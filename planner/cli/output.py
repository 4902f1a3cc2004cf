"""Data to stdout, talk to stderr, and questions only where a person sits."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

from planner.report.safe import clean

NARROW, WIDE = 80, 110


def data(text: str) -> None:
    """Write text to stdout at once, so that stderr can't overtake it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def say(text: str) -> None:
    """Write one harmless line to stderr."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def is_terminal(*streams: TextIO | None) -> bool:
    """Say whether all streams are terminals; a missing or closed one is not."""
    try:
        return all(stream is not None and stream.isatty() for stream in streams)
    except ValueError:
        return False


def width() -> int:
    """Return the columns to write for: 80 into files and pipes, the terminal's own within limits."""
    if not is_terminal(sys.stdout):
        return NARROW
    return min(WIDE, max(60, shutil.get_terminal_size((NARROW, 24)).columns))


def ask(question: str) -> bool:
    """Ask a yes/no question on stderr; anything but yes is no. Only call where `can_ask()`."""
    sys.stderr.write(f"{clean(question)} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    return answer.strip().casefold() in {"y", "yes", "s", "si", "sí"}


def can_ask() -> bool:
    """Say whether a person can read a question and answer it."""
    return is_terminal(sys.stdin, sys.stderr)


class Status:
    """One line on stderr that is rewritten on a terminal, and written now and then elsewhere."""

    def __init__(self) -> None:
        self._live = is_terminal(sys.stderr)
        self._last = ""

    def show(self, text: str, key: str = "") -> None:
        """Show where things stand; off a terminal only when `key` (or the text) has changed."""
        line = clean(text, width() - 1)
        if self._live:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
        elif (key or line) != self._last:
            self._last = key or line
            say(line)

    def done(self) -> None:
        """Leave the line, so that whatever comes next starts on its own."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
