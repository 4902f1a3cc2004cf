"""`planner doctor`: what works here, what doesn't, and what to do about it."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from planner.domain.errors import PlannerError
from planner.workspace.device import compiler_advice, device_support

Status = Literal["ok", "warn", "fail"]
OLD_PRICES_DAYS = 90
LITTLE_DISK_GB = 1.0


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: Status
    detail: str
    hint: str = ""


def machine_checks() -> tuple[Check, ...]:
    """Return the checks that need neither files nor the database."""
    return (_python(), _terminal(), *_device(), *_gpu_tools())


def folder_check(name: str, folder: Path) -> Check:
    """Check that a folder can be written, without leaving anything in it."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".planner-doctor-"):
            pass
    except OSError as error:
        hint = "Check its rights, or set PLANNER_HOME to a folder that can be written."
        return Check(name, "fail", f"{folder}: {error.strerror or error}", hint)
    state = "" if folder.exists() else " (made when first needed)"
    return Check(name, "ok", f"{folder}{state}")


def disk_check(folder: Path) -> Check:
    """Check that there is room for the database and for a build of the device support."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free_gb = shutil.disk_usage(folder).free / 1e9
    if free_gb < LITTLE_DISK_GB:
        return Check("disk space", "warn", f"{free_gb:.2f} GB free at {folder}", "Free some space.")
    return Check("disk space", "ok", f"{free_gb:.0f} GB free at {folder}")


def prices_check(version: str, as_of: str, count: int, today: date) -> Check:
    """Check how old the API prices are."""
    age = (today - date.fromisoformat(as_of)).days
    detail = f"genai-prices {version}, {count} models, as of {as_of} ({age} days ago)"
    if age > OLD_PRICES_DAYS:
        return Check("API prices", "warn", detail, "Update with `pip install -U genai-prices` (or uv's equivalent).")
    return Check("API prices", "ok", detail)


def guarded(name: str, check: Callable[[], Check]) -> Check:
    """Run a check; an expected failure of the planner becomes its result."""
    try:
        return check()
    except PlannerError as error:
        return Check(name, "fail", error.message, error.hint)


def _python() -> Check:
    version = platform.python_version()
    where = f"{version} at {sys.executable}"
    if sys.version_info < (3, 11):  # noqa: UP036 - a person may start an older one by hand
        return Check("Python", "fail", where, "Use Python 3.11 or newer.")
    return Check("Python", "ok", where)


def _terminal() -> Check:
    if not sys.stdout.isatty():
        return Check("terminal", "ok", "no terminal: plans are printed as text")
    size = shutil.get_terminal_size()
    colours = os.environ.get("COLORTERM") or os.environ.get("TERM") or "unknown"
    detail = f"{size.columns}×{size.lines}, {colours}" + (", NO_COLOR" if os.environ.get("NO_COLOR") else "")
    if size.columns < 80 or size.lines < 24:
        return Check("terminal", "warn", detail, "The screens are made for 80×24 and more.")
    return Check("terminal", "ok", detail)


def _device() -> tuple[Check, ...]:
    support = device_support()
    if support.available:
        probe = Check("device probe", "ok", f"llama-cpp-python {support.version or '?'}")
    else:
        how = "`planner probe device` offers to build it. " if support.can_build else ""
        probe = Check("device probe", "warn", "llama-cpp-python is not installed", how + support.advice)
    if support.compiler:
        return probe, Check("C++ compiler", "ok", support.compiler)
    status: Status = "ok" if support.available else "warn"
    return probe, Check("C++ compiler", status, "none found", compiler_advice())


def _gpu_tools() -> tuple[Check, ...]:
    found = []
    for tool, driver, vendor in (
        ("nvidia-smi", Path("/proc/driver/nvidia/version"), "NVIDIA"),
        ("rocm-smi", Path("/dev/kfd"), "AMD"),
    ):
        path = shutil.which(tool)
        present = False
        with contextlib.suppress(OSError):
            present = driver.exists()
        if path:
            found.append(Check(tool, "ok", path))
        elif present:
            hint = f"Install {vendor}'s tools so that a probe can record clocks and power."
            found.append(Check(tool, "warn", f"an {vendor} driver is loaded but {tool} is not found", hint))
        else:
            found.append(Check(tool, "ok", f"no {vendor} driver seen"))
    return tuple(found)
