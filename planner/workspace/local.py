"""The id `local`: this machine as a device, from what it says about itself and what a probe measured."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.domain.hardware import Hardware
from planner.domain.probe import ProbeRecord
from planner.domain.units import BYTES_PER_GIB

LOCAL = "local"


@dataclass(frozen=True)
class Seen:
    """What the operating system says: the CPU's name and the memory that may be used."""

    cpu: str
    memory_gib: float | None
    system: str


def detect() -> Seen:
    """Return what can be known without a probe; unknown memory is None."""
    return Seen(cpu=_cpu_name(), memory_gib=_memory_gib(), system=f"{platform.system()} {platform.release()}")


def local_hardware(seen: Seen, probes: Sequence[ProbeRecord], today: str) -> Hardware:
    """Return this machine as a CPU device; its bandwidth is the newest measured one, else unknown."""
    bandwidth, as_of = _measured_bandwidth(probes)
    source = "this machine's operating system" + ("; memory bandwidth by a probe" if bandwidth else "")
    return Hardware(
        id=LOCAL,
        name=f"This machine ({seen.cpu})",
        vendor="cpu",
        kind="cpu",
        aliases=("this machine",),
        memory_gb=round(seen.memory_gib, 2) if seen.memory_gib else None,
        memory_bandwidth_gb_s=bandwidth,
        notes=seen.system,
        source=source,
        as_of=as_of or today,
    )


def _measured_bandwidth(probes: Sequence[ProbeRecord]) -> tuple[float | None, str | None]:
    for record in probes:
        if record.hardware != LOCAL:
            continue
        values = [figure.value for figure in record.figures if figure.unit == "GB/s" and figure.value]
        if values:
            return max(values), record.finished_at[:10]
    return None, None


def _cpu_name() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model", "Hardware") and value.strip():
                return value.strip()
    if platform.system() == "Darwin":
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
            if done.stdout.strip():
                return done.stdout.strip()
    return platform.processor() or platform.machine() or "unknown CPU"


def _memory_gib() -> float | None:
    """Return RAM, or what a container may use of it if that is less."""
    total = _ram_bytes()
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            limit = int(Path(path).read_text())
            total = min(total, limit) if total else limit
    return total / BYTES_PER_GIB if total and total > 0 else None


def _ram_bytes() -> int | None:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if platform.system() == "Windows":
        return _windows_ram_bytes()
    return None


def _windows_ram_bytes() -> int | None:
    import ctypes  # noqa: PLC0415

    class Status(ctypes.Structure):
        # MEMORYSTATUSEX of the Windows API (sysinfoapi.h).
        _fields_ = (
            ("length", ctypes.c_ulong), ("load", ctypes.c_ulong), ("total", ctypes.c_ulonglong),
            ("available", ctypes.c_ulonglong), ("total_page", ctypes.c_ulonglong),
            ("available_page", ctypes.c_ulonglong), ("total_virtual", ctypes.c_ulonglong),
            ("available_virtual", ctypes.c_ulonglong), ("available_extended", ctypes.c_ulonglong),
        )  # fmt: skip

    status = Status()
    status.length = ctypes.sizeof(status)
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - exists on Windows only
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None
