"""Errors that a person can act on: what happened, where, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line, as promised in the README."""

    OK = 0
    NO_ANSWER = 1
    WRONG_INPUT = 2
    REGRESSION = 3
    PROBE_FAILED = 4
    ENVIRONMENT = 5
    INTERRUPTED = 130


class PlannerError(Exception):
    """An expected failure: one sentence, a hint with the way out, and an exit code."""

    exit_code: ExitCode = ExitCode.NO_ANSWER
    title: str = "No answer"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class NoAnswerError(PlannerError):
    """The question is well put but has no answer, such as an estimate that can't be made."""


class InputError(PlannerError):
    """A file, key, flag or id that the person gave is wrong."""

    exit_code = ExitCode.WRONG_INPUT
    title = "Wrong input"


class ProbeError(PlannerError):
    """A probe or an endpoint failed."""

    exit_code = ExitCode.PROBE_FAILED
    title = "Probe failed"


class EnvironmentFault(PlannerError):
    """Storage or environment: a database that is corrupt, locked or newer, a full disk."""

    exit_code = ExitCode.ENVIRONMENT
    title = "Storage or environment"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint naming the nearest known words, or an empty string when nothing is near."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold(), name)
    found = [folded[name] for name in difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=0.6)]
    return f"Did you mean {' or '.join(repr(name) for name in found)}?" if found else ""
