"""Facts of this machine that a measurement depends on. What the system does not tell is None."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from planner.domain.units import gib
from probes import gpus
from probes.processors import allowed_cpus, cgroup_cpus, physical_cores, read_text, run_tool

_POWER = Path("/sys/class/power_supply")


def environment() -> dict[str, Any]:
    """Return operating system, processor, memory, GPUs, power and load; no names of machine or users."""
    cpus = allowed_cpus()
    return {
        "os": _os_name(),
        "kernel": platform.release() or None,
        "arch": platform.machine() or None,
        "cpu": cpu_name(),
        "cores": physical_cores(cpus),
        "logical_cpus": len(cpus),
        "cgroup_cpus": cgroup_cpus(),
        "ram_gib": _rounded_gib(total_memory()),
        "ram_available_gib": _rounded_gib(available_memory()),
        "virtual_machine": _virtual(),
        "gpu": gpus.gpus(),
        "driver": gpus.driver(),
        "power": power_source(),
        "governor": read_text(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "load_average": load_average(),
        "python": platform.python_version(),
    }


def cpu_name() -> str | None:
    """Return the processor's marketing name."""
    info = read_text(Path("/proc/cpuinfo")) or ""
    found = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", info, re.MULTILINE)
    if found:
        return found.group(1).strip()
    text = run_tool(["sysctl", "-n", "machdep.cpu.brand_string"]) if sys.platform == "darwin" else None
    return (text or platform.processor()).strip() or None


def load_average() -> float | None:
    """Return the one-minute load average, or None where there is none."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def total_memory() -> int | None:
    """Return the bytes of memory that this process may use at most, container limit included."""
    limits = [size for size in (_meminfo("MemTotal"), _cgroup_limit(), _other_total()) if size]
    return min(limits, default=None)


def available_memory() -> int | None:
    """Return the bytes that can be allocated now without swapping, container limit included."""
    free = _meminfo("MemAvailable")
    limit, used = _cgroup_limit(), _cgroup_used()
    if limit is not None and used is not None:
        free = min(free if free is not None else limit, max(0, limit - used))
    return free if free is not None else _other_available()


def power_source(root: Path = _POWER) -> str | None:
    """Return `mains`, `battery`, or None when the system does not tell."""
    if sys.platform == "darwin":
        text = run_tool(["pmset", "-g", "batt"]) or ""
        return "battery" if "Battery Power" in text else "mains" if "AC Power" in text else None
    kinds = [(read_text(supply / "type"), supply) for supply in _supplies(root)]
    if any(kind in ("Mains", "USB") and read_text(supply / "online") == "1" for kind, supply in kinds):
        return "mains"
    # A battery of a mouse or keyboard has the scope "Device".
    if any(kind == "Battery" and read_text(supply / "scope") != "Device" for kind, supply in kinds):
        return "battery"
    return None


def _supplies(root: Path) -> list[Path]:
    try:
        return sorted(root.iterdir())
    except OSError:
        return []


def _os_name() -> str:
    if sys.platform == "linux":
        release = read_text(Path("/etc/os-release")) or ""
        found = re.search(r'^PRETTY_NAME="?([^"\n]+)', release, re.MULTILINE)
        return found.group(1) if found else "Linux"
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}".strip()
    return f"{platform.system()} {platform.version()}".strip()


def _virtual() -> bool | None:
    info = read_text(Path("/proc/cpuinfo"))
    if info is None or "flags" not in info:
        return None
    flags = re.search(r"^flags\s*:.*$", info, re.MULTILINE)
    return bool(flags and "hypervisor" in flags.group(0))


def _meminfo(key: str) -> int | None:
    found = re.search(rf"^{key}:\s+(\d+) kB", read_text(Path("/proc/meminfo")) or "", re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def _cgroup_limit() -> int | None:
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        text = read_text(Path("/sys/fs/cgroup") / name) or ""
        # Version 1 writes "no limit" as a number near 2^63.
        if text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def _cgroup_used() -> int | None:
    for name in ("memory.current", "memory/memory.usage_in_bytes"):
        text = read_text(Path("/sys/fs/cgroup") / name) or ""
        if text.isdigit():
            stats = read_text(Path("/sys/fs/cgroup") / Path(name).parent / "memory.stat") or ""
            found = re.search(r"^(?:total_)?inactive_file (\d+)$", stats, re.MULTILINE)
            # Page cache that the kernel drops on demand is not in the way.
            return int(text) - (int(found.group(1)) if found else 0)
    return None


class _MemoryStatus(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("page_total", ctypes.c_uint64),
        ("page_available", ctypes.c_uint64),
        ("virtual_total", ctypes.c_uint64),
        ("virtual_available", ctypes.c_uint64),
        ("extended", ctypes.c_uint64),
    )


def _windows_memory() -> _MemoryStatus | None:
    if sys.platform != "win32":
        return None
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent from the type stubs elsewhere
    return status if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _other_total() -> int | None:
    if sys.platform == "darwin":
        text = run_tool(["sysctl", "-n", "hw.memsize"]) or ""
        return int(text) if text.strip().isdigit() else None
    status = _windows_memory()
    return int(status.total) if status else None


def _other_available() -> int | None:
    if sys.platform == "darwin":
        return _vm_stat(run_tool(["vm_stat"]) or "")
    status = _windows_memory()
    return int(status.available) if status else None


def _vm_stat(text: str) -> int | None:
    page = re.search(r"page size of (\d+) bytes", text)
    pages = re.findall(r"^Pages (?:free|inactive|purgeable|speculative):\s+(\d+)\.", text, re.MULTILINE)
    return int(page.group(1)) * sum(int(count) for count in pages) if page and pages else None


def _rounded_gib(n_bytes: int | None) -> float | None:
    return None if n_bytes is None else round(gib(n_bytes), 2)
