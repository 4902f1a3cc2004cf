"""User files on disk: bounded reads, atomic writes, and one sentence for all that can be wrong with them."""

from __future__ import annotations

import errno
import math
import os
import tempfile
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from planner.domain.errors import EnvironmentFault, InputError, nearest

MAX_TOML_BYTES = 2 * 1024 * 1024
_MAX_INT = 2**63 - 1


def read_text(path: Path, *, limit: int = MAX_TOML_BYTES, what: str = "a profile") -> str:
    """Return the UTF-8 text of a regular file; raises InputError naming the file and what is wrong."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a file.")
        if not path.exists():
            raise InputError(f"{path} does not exist.", _nearest_file(path))
        if not path.is_file():
            raise InputError(f"{path} is not a regular file.")
        size = path.stat().st_size
        if size > limit:
            raise InputError(f"{path} has {size:,} bytes; {what} may have at most {limit:,}.")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {_words(error)}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from error


def read_toml(path: Path, *, what: str = "a profile") -> dict[str, Any]:
    """Return a TOML file as plain values, dates as ISO text; raises InputError naming file and line."""
    text = read_text(path, what=what)
    try:
        table = tomllib.loads(text)
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply.") from error
    except ValueError as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from error
    plain: dict[str, Any] = _plain(table, str(path), "", 0)
    return plain


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a crash leaves the old or the new one, never half of it.

    Raises EnvironmentFault when the disk is full or the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                temporary.chmod(path.stat().st_mode & 0o777)
            else:
                temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise disk_fault(error, path) from error


def disk_fault(error: OSError, path: Path) -> EnvironmentFault:
    """Return the error of a failed write: full disk, missing right, or the system's own words."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EnvironmentFault(f"The disk is full; {path} was not written.", "Free some space and try again.")
    return EnvironmentFault(
        f"{path} cannot be written: {_words(error)}.",
        "Check the folder's rights, or set PLANNER_HOME to a folder that can be written.",
    )


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def _nearest_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix == path.suffix][:500]
    except (OSError, ValueError):
        return ""
    return nearest(path.name, names)


def _plain(value: Any, file: str, where: str, depth: int) -> Any:
    if depth > 32:
        raise InputError(f"{file}: {where} is nested too deeply.")
    if isinstance(value, dict):
        return {key: _plain(item, file, f"{where}.{key}" if where else key, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, file, f"{where}.{index}", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{file}: {where} = {value} is not a number one can compute with.")
    if isinstance(value, int) and abs(value) > _MAX_INT:
        raise InputError(f"{file}: {where} is too large a number.")
    return value
