"""One DuckDB connection per operation: opened late, closed at once, and every failure in plain words."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.domain.errors import EnvironmentFault
from planner.store.files import disk_fault

if TYPE_CHECKING:
    import duckdb

RETRY_SECONDS = 3.0
_PAUSE_SECONDS = 0.05
_SAFE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    # Otherwise SELECT … FROM x reads Python variables of the caller.
    "python_enable_replacements": "false",
}
_LOCKED_DOWN = {**_SAFE, "enable_external_access": "false", "lock_configuration": "true"}
# DuckDB refuses two configurations of one file within a process, so operations take turns.
_turns: dict[str, threading.RLock] = {}
_turns_guard = threading.Lock()


class DatabaseLocked(EnvironmentFault):
    """Another process holds the database; everything but stored records is still available."""


class DatabaseUnwritable(EnvironmentFault):
    """The data folder cannot be written, or the disk is full."""


@contextmanager
def connected(
    path: Path, *, read_only: bool = False, locked_down: bool = False, retry_s: float = RETRY_SECONDS
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the database file and close it.

    `locked_down` also cuts off the file system and freezes the settings, for queries typed by people.
    Raises DatabaseLocked when another process keeps the file, EnvironmentFault for a damaged one.
    """
    with _turn(path):
        connection = _open(path, read_only, _LOCKED_DOWN if locked_down else _SAFE, retry_s)
        try:
            yield connection
        except Exception as error:
            told = translated(error, path)
            if told is error:
                raise
            raise told from error
        finally:
            connection.close()


def translated(error: Exception, path: Path) -> Exception:
    """Return the planner's error for a DuckDB failure of storage; any other error as it is."""
    import duckdb  # noqa: PLC0415

    if not isinstance(error, duckdb.Error):
        return error
    text = str(error)
    if "No space left" in text or "disk is full" in text.casefold():
        return DatabaseUnwritable(
            f"The disk is full; nothing was stored in {path}.",
            "Free some space and try again; what was there is kept.",
        )
    if "Corrupt database" in text or "Could not read enough bytes" in text or "not a valid DuckDB" in text:
        return corrupt(path, text)
    if isinstance(error, duckdb.IOException):
        return EnvironmentFault(f"The database {path} cannot be used: {_first_line(text)}")
    if isinstance(error, (duckdb.InternalException, duckdb.FatalException, duckdb.SerializationException)):
        return corrupt(path, text)
    return error


def corrupt(path: Path, why: str) -> EnvironmentFault:
    """Return the error for a database that cannot be read; nothing is ever overwritten."""
    return EnvironmentFault(
        f"The database {path} is damaged or is not a planner database ({_first_line(why, 160)}).",
        f"Move it away, with {path.name}.wal if there is one: mv '{path}' '{path}.damaged'.",
    )


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    with _turns_guard:
        lock = _turns.setdefault(str(path), threading.RLock())
    with lock:
        yield


def _open(path: Path, read_only: bool, config: dict[str, str], retry_s: float) -> duckdb.DuckDBPyConnection:
    import duckdb  # noqa: PLC0415 - 0.2 s that `planner --help` need not pay

    _check_place(path, read_only)
    deadline = time.monotonic() + retry_s
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=dict[str, Any](config))
        except duckdb.Error as error:
            text = str(error)
            if _is_lock(text):
                if time.monotonic() < deadline:
                    time.sleep(_PAUSE_SECONDS)
                    continue
                raise DatabaseLocked(
                    f"Another program keeps the database {path} open{_holder(text)}.",
                    "Wait until it has finished or close it, then try again.",
                ) from error
            raise _opening_fault(error, path) from error


def _check_place(path: Path, read_only: bool) -> None:
    if path.is_dir():
        raise EnvironmentFault(f"{path} is a folder, not a database.", "Move it away.")
    if read_only:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fault = disk_fault(error, path.parent)
        raise DatabaseUnwritable(fault.message, fault.hint) from error


def _opening_fault(error: Exception, path: Path) -> Exception:
    text = str(error)
    if ("version number" in text and "can only read" in text) or "newer version" in text:
        return newer(path, _first_line(text, 160))
    if "Permission denied" in text or "Read-only file system" in text:
        return DatabaseUnwritable(
            f"The database {path} cannot be opened: permission denied.",
            "Check the folder's rights, or set PLANNER_HOME to a folder that can be written.",
        )
    return translated(error, path)


def newer(path: Path, detail: str) -> EnvironmentFault:
    """Return the error for a database written by a later version of the planner or of DuckDB."""
    return EnvironmentFault(
        f"The database {path} was written by a newer version ({detail}); it was left as it is.",
        f"Update the planner, or move the file away to start a new one: mv '{path}' '{path}.newer'.",
    )


def _is_lock(text: str) -> bool:
    return "Could not set lock" in text or "being used by another process" in text


def _holder(text: str) -> str:
    _, found, rest = text.partition("(PID ")
    pid = rest.split(")")[0]
    return f" (process {pid})" if found and pid.isdigit() else ""


def _first_line(text: str, width: int = 300) -> str:
    lines = text.strip().splitlines() or [""]
    return lines[0].strip()[:width]
