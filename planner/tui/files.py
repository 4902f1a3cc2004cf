"""Writing files that a person names on the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from planner.domain.errors import EnvironmentFault, InputError, nearest
from planner.domain.plan import Plan


def _writers() -> dict[str, Callable[[Plan], str]]:
    # Formats are imported when somebody exports, not at the first paint.
    from planner.report import csv, json, markdown, text  # noqa: PLC0415

    return {".md": markdown.render, ".csv": csv.render, ".json": json.render, ".txt": text.render}


def export_plan(plan: Plan, name: str) -> Path:
    """Write a plan to a file in the format of its ending and return the path.

    Raises InputError for an unknown ending, EnvironmentFault when the file can't be written.
    """
    path = Path(name).expanduser()
    writers = _writers()
    writer = writers.get(path.suffix.lower())
    if writer is None:
        known = ", ".join(writers)
        hint = f"Use one of {known}. {nearest(path.suffix, writers)}".strip()
        raise InputError(f"{name!r} has no known ending.", hint)
    write_text(path, writer(plan))
    return path


def write_text(path: Path, text: str) -> None:
    """Write a text file; raises EnvironmentFault when that fails."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as failure:
        message = f"{path} could not be written: {failure.strerror or failure}."
        raise EnvironmentFault(message, "Choose another file.") from failure
