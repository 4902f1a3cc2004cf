"""How many threads a probe should use here: physical cores that this process may run on."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from pathlib import Path

_CPU = Path("/sys/devices/system/cpu")
_CGROUP = Path("/sys/fs/cgroup")


def allowed_cpus() -> tuple[int, ...]:
    """Return the logical processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def physical_cores(cpus: tuple[int, ...], root: Path = _CPU) -> int | None:
    """Return the number of distinct cores behind logical processors; None where the system does not tell."""
    cores: set[tuple[str, str]] = set()
    for cpu in cpus:
        package = read_text(root / f"cpu{cpu}/topology/physical_package_id")
        core = read_text(root / f"cpu{cpu}/topology/core_id")
        if package is None or core is None:
            return _sysctl("hw.perflevel0.physicalcpu") or _sysctl("hw.physicalcpu")
        cores.add((package, core))
    return len(cores) or None


def cgroup_cpus(root: Path = _CGROUP) -> float | None:
    """Return the processors that the container's quota allows, such as 1.5; None without a quota."""
    quota_v2 = read_text(root / "cpu.max")
    if quota_v2:
        quota, _, period = quota_v2.partition(" ")
        return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None
    quota = read_text(root / "cpu/cpu.cfs_quota_us") or ""
    period = read_text(root / "cpu/cpu.cfs_period_us") or ""
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None


def default_threads() -> int:
    """Return the thread count for a probe: physical cores, within affinity and the container's quota."""
    cpus = allowed_cpus()
    # Without topology, assume two hardware threads a core, as llama.cpp's own bindings do.
    cores = physical_cores(cpus) or max(1, len(cpus) // 2)
    quota = cgroup_cpus()
    limit = math.ceil(quota) if quota else len(cpus)
    return max(1, min(cores, limit, len(cpus)))


def read_text(path: Path) -> str | None:
    """Return a small system file's text, or None when it is not there or may not be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _sysctl(name: str) -> int | None:
    if platform.system() != "Darwin":
        return None
    text = run_tool(["sysctl", "-n", name])
    return int(text) if text and text.strip().isdigit() else None


def run_tool(command: list[str], timeout_s: float = 5.0) -> str | None:
    """Return a system tool's output, or None when it is missing, fails or is slow."""
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=timeout_s, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
