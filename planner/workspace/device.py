"""Support for the device probe: is llama-cpp-python there, and how would it be built on this machine?"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.errors import EnvironmentFault

DISTRIBUTION = "inference-planner"
FALLBACK_REQUIREMENT = "llama-cpp-python>=0.3.36,<0.4"
CORE_MINUTES = (8.0, 25.0)
"""CPU minutes that compiling llama.cpp without GPU backends takes on recent and on slow cores."""
_STEP = re.compile(r"\[\s*(\d+)\s*/\s*(\d+)\s*\]")
_PERCENT = re.compile(r"\[\s*(\d+)%\]")
_TAIL_LINES = 60


@dataclass(frozen=True)
class DeviceSupport:
    """Whether the device probe can run, and what it would take."""

    available: bool
    version: str | None
    compiler: str | None
    command: tuple[str, ...]
    """What installs it into this very environment; empty when nothing can."""
    minutes: tuple[float, float]
    """Fewest and most minutes the build is expected to take."""
    advice: str
    """One sentence: what to do, or what to install first."""

    @property
    def can_build(self) -> bool:
        """Say whether a build can be started."""
        return bool(self.command) and self.compiler is not None


def device_support() -> DeviceSupport:
    """Return the state of device support without importing the engine."""
    importlib.invalidate_caches()
    available = importlib.util.find_spec("llama_cpp") is not None
    compiler, command = find_compiler(), install_command()
    cores = max(1, os.cpu_count() or 1)
    minutes = (CORE_MINUTES[0] / cores, CORE_MINUTES[1] / cores)
    return DeviceSupport(
        available=available,
        version=_version("llama-cpp-python") if available else None,
        compiler=compiler,
        command=command,
        minutes=minutes,
        advice=_advice(available, compiler, command, minutes),
    )


class DeviceBuild:
    """The build of llama-cpp-python: iterate for its events, `cancel()` from any thread.

    Events: {"event": "progress", "text", "seconds", "estimate_s", "fraction"}, at last {"event": "done", …}.
    Iterating raises EnvironmentFault naming what to install, or quoting the build's last error.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._cancelled = False
        self._events = self._run()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._events

    def cancel(self) -> None:
        """End the build and the compilers it started; the iteration then stops."""
        self._cancelled = True
        if self._child is not None:
            _end(self._child)

    def close(self) -> None:
        """End the build if it still runs."""
        self.cancel()

    def _run(self) -> Iterator[dict[str, Any]]:
        support = device_support()
        if support.available:
            text = f"llama-cpp-python {support.version} is installed."
            yield {"event": "done", "text": text, "seconds": 0.0}
            return
        if not support.can_build:
            raise EnvironmentFault("Device support cannot be built here.", support.advice)
        self._child = _start(support.command)
        try:
            yield from _watched(self._child, support)
        except EnvironmentFault:
            if not self._cancelled:
                raise


def build_device_support() -> DeviceBuild:
    """Return the build of llama-cpp-python; it starts when iterated."""
    return DeviceBuild()


def find_compiler() -> str | None:
    """Return the C++ compiler a build would use, or None."""
    named = os.environ.get("CXX", "").split()
    for name in (*named[:1], "c++", "g++", "clang++"):
        path = shutil.which(name)
        if path and not (platform.system() == "Darwin" and path.startswith("/usr/bin/") and not _xcode()):
            return path
    return _visual_studio() if platform.system() == "Windows" else None


def compiler_advice() -> str:
    """Return one sentence naming what to install to get a C++ compiler on this system."""
    system = platform.system()
    if system == "Darwin":
        return "Install Apple's command line tools with `xcode-select --install`, then try again."
    if system == "Windows":
        return "Install Visual Studio Build Tools with the C++ workload, then try again."
    distribution = _linux_family()
    commands = {
        "debian": "sudo apt install build-essential",
        "fedora": "sudo dnf install gcc-c++ make",
        "suse": "sudo zypper install gcc-c++ make",
        "arch": "sudo pacman -S base-devel",
        "alpine": "apk add build-base linux-headers",
    }
    command = commands.get(distribution)
    return f"Install a C++ compiler with `{command}`, then try again." if command else (
        "Install a C++ compiler (g++ or clang++), then try again."
    )  # fmt: skip


def install_command() -> tuple[str, ...]:
    """Return the command that installs device support into this environment; empty when there is none."""
    wanted = requirement()
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv and Path(uv).is_file():
        return (uv, "pip", "install", "--verbose", "--python", sys.executable, wanted)
    if importlib.util.find_spec("uv") is not None:
        return (sys.executable, "-m", "uv", "pip", "install", "--verbose", "--python", sys.executable, wanted)
    if importlib.util.find_spec("pip") is not None and not _externally_managed():
        return (sys.executable, "-m", "pip", "install", "--verbose", "--no-input", wanted)
    return ()


def requirement() -> str:
    """Return the `device` extra's requirement on llama-cpp-python as this installation declares it."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for line in importlib.metadata.requires(DISTRIBUTION) or ():
            spec, _, marker = line.partition(";")
            if spec.startswith("llama-cpp-python") and "device" in marker:
                return spec.strip()
    return FALLBACK_REQUIREMENT


def _watched(child: subprocess.Popen[bytes], support: DeviceSupport) -> Iterator[dict[str, Any]]:
    started = time.monotonic()
    expected = sum(support.minutes) / 2 * 60
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    try:
        yield _progress("Building llama-cpp-python …", 0.0, expected, None)
        fraction: float | None = None
        for raw in _lines(child):
            line = raw.decode("utf-8", "replace").strip()
            if not line:
                continue
            tail.append(line[:400])
            seen = build_fraction(line)
            if seen is None:
                continue
            fraction = max(fraction or 0.0, seen)
            elapsed = time.monotonic() - started
            # Early steps say little about the whole: the core count's guess counts until a tenth is done.
            total = elapsed / fraction if fraction > 0.1 else expected
            yield _progress(line[:160], elapsed, max(total - elapsed, 0.0), fraction)
        code = child.wait()
    finally:
        _end(child)
    elapsed = time.monotonic() - started
    if code != 0:
        raise EnvironmentFault(
            f"Building llama-cpp-python failed: {build_error(tail)}",
            f"The command was: {' '.join(support.command)}",
        )
    if not device_support().available:
        raise EnvironmentFault("llama-cpp-python was built but cannot be found by this Python.")
    yield {"event": "done", "text": "Device support is ready.", "seconds": round(elapsed, 1)}


def _lines(child: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield output until the end, which a cancel may bring by closing the pipe."""
    with contextlib.suppress(ValueError):
        yield from child.stdout or ()


def build_fraction(line: str) -> float | None:
    """Return how much of a build a line of ninja (`[12/345]`) or make (`[ 12%]`) reports as done."""
    step = _STEP.search(line)
    if step and int(step[2]) > 0:
        return min(1.0, int(step[1]) / int(step[2]))
    percent = _PERCENT.search(line)
    return min(1.0, int(percent[1]) / 100) if percent else None


def build_error(tail: deque[str]) -> str:
    """Return the line of a failed build's output that says most."""
    for word in ("fatal error", "CMake Error", "No space left", "error:", "ERROR", "failed"):
        for line in reversed(tail):
            if word in line:
                return line
    return tail[-1] if tail else "it gave no reason."


def _start(command: tuple[str, ...]) -> subprocess.Popen[bytes]:
    arguments = " ".join(filter(None, (os.environ.get("CMAKE_ARGS"), "-DLLAVA_BUILD=OFF")))
    # Vision support doubles the build time and no probe uses it.
    environment = {**os.environ, "CMAKE_ARGS": arguments}
    try:
        return subprocess.Popen(
            command, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=os.name == "posix",
        )  # fmt: skip
    except OSError as error:
        raise EnvironmentFault(f"{command[0]} could not be started: {error.strerror or error}.") from error


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the build and the compilers it started."""
    if child.poll() is None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(child.pid, 15)
            else:
                child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.5)
    if child.poll() is None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(child.pid, 9)
            else:
                child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _progress(text: str, seconds: float, left: float, fraction: float | None) -> dict[str, Any]:
    done = None if fraction is None else round(fraction, 3)
    return {
        "event": "progress", "text": text, "seconds": round(seconds, 1), "estimate_s": round(left, 1),
        "fraction": done,
    }  # fmt: skip


def _advice(available: bool, compiler: str | None, command: tuple[str, ...], minutes: tuple[float, float]) -> str:
    if available:
        return "Device support is installed."
    if compiler is None:
        return compiler_advice()
    if not command:
        return "This Python has neither uv nor a usable pip: run `pip install uv`, or use a virtual environment."
    low, high = (max(1, round(value)) for value in minutes)
    return f"It has to be compiled once, about {low} to {high} minutes on this machine."


def _version(distribution: str) -> str | None:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(distribution)
    return None


def _externally_managed() -> bool:
    """Say whether the system forbids pip here (PEP 668)."""
    outside = sys.prefix == sys.base_prefix
    return outside and (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists()


def _xcode() -> bool:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(["xcode-select", "-p"], capture_output=True, timeout=5, check=False).returncode == 0
    return False


def _visual_studio() -> str | None:
    if shutil.which("cl"):
        return shutil.which("cl")
    roots = (os.environ.get("PROGRAMFILES(X86)"), os.environ.get("PROGRAMFILES"))
    for root in filter(None, roots):
        found = sorted(Path(root).glob("Microsoft Visual Studio/*/*/VC/Tools/MSVC/*/bin/Host*/*/cl.exe"))
        if found:
            return str(found[-1])
    return None


def _linux_family() -> str:
    words: set[str] = set()
    with contextlib.suppress(OSError):
        for line in Path("/etc/os-release").read_text(errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key in ("ID", "ID_LIKE"):
                words |= set(value.strip('"').casefold().split())
    families = {
        "debian": {"debian", "ubuntu"}, "fedora": {"fedora", "rhel", "centos"},
        "suse": {"suse", "opensuse", "sles"},
        "arch": {"arch"}, "alpine": {"alpine"},
    }  # fmt: skip
    return next((family for family, names in families.items() if words & names), "")
