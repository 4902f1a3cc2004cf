"""What the vendors' tools say about the GPUs; an empty list when there are none or no tool tells."""

from __future__ import annotations

import json
import platform
from functools import cache
from typing import Any

from probes.processors import run_tool

_NVIDIA_FIELDS = (
    "name", "memory.total", "memory.free", "driver_version", "power.limit", "temperature.gpu", "clocks.sm",
    "clocks.mem", "utilization.gpu", "persistence_mode",
)  # fmt: skip


@cache
def gpus() -> list[dict[str, Any]]:
    """Return one description a GPU: name, memory in MiB, power limit in W, temperature, clocks."""
    return nvidia() or amd() or apple()


def driver() -> str | None:
    """Return the GPU driver's version, where a tool tells."""
    return next((found for gpu in gpus() if (found := gpu.get("driver"))), None)


def free_bytes() -> int | None:
    """Return the free memory of all GPUs together; None when it is unknown."""
    sizes = [gpu.get("memory_free_mib") for gpu in gpus()]
    known = [size for size in sizes if size is not None]
    return int(sum(known) * 1024**2) if known and len(known) == len(sizes) else None


def nvidia() -> list[dict[str, Any]]:
    """Ask nvidia-smi."""
    query = f"--query-gpu={','.join(_NVIDIA_FIELDS)}"
    text = run_tool(["nvidia-smi", query, "--format=csv,noheader,nounits"])
    return parse_nvidia(text) if text else []


def parse_nvidia(text: str) -> list[dict[str, Any]]:
    """Parse nvidia-smi's CSV; `[N/A]` and `[Not Supported]` become None."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(_NVIDIA_FIELDS):
            continue
        row = dict(zip(_NVIDIA_FIELDS, cells, strict=True))
        found.append(
            {
                "vendor": "nvidia",
                "name": row["name"],
                "memory_total_mib": number(row["memory.total"]),
                "memory_free_mib": number(row["memory.free"]),
                "driver": row["driver_version"] or None,
                "power_limit_w": number(row["power.limit"]),
                "temperature_c": number(row["temperature.gpu"]),
                "clock_sm_mhz": number(row["clocks.sm"]),
                "clock_memory_mhz": number(row["clocks.mem"]),
                "utilisation_percent": number(row["utilization.gpu"]),
            }
        )
    return found


def amd() -> list[dict[str, Any]]:
    """Ask rocm-smi."""
    flags = ["--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json"]
    text = run_tool(["rocm-smi", *flags])
    return parse_amd(text) if text else []


def parse_amd(text: str) -> list[dict[str, Any]]:
    """Parse rocm-smi's JSON, whose keys differ by version."""
    try:
        document = json.loads(text)
    except ValueError:
        return []
    if not isinstance(document, dict):
        return []
    system = document.get("system")
    version = system.get("Driver version") if isinstance(system, dict) else None
    found = []
    for key, card in sorted(document.items()):
        if not key.startswith("card") or not isinstance(card, dict):
            continue
        total = number(card.get("VRAM Total Memory (B)"))
        used = number(card.get("VRAM Total Used Memory (B)"))
        found.append(
            {
                "vendor": "amd",
                "name": card.get("Card Series") or card.get("Card series") or card.get("Card model"),
                "memory_total_mib": None if total is None else total / 1024**2,
                "memory_free_mib": None if total is None or used is None else (total - used) / 1024**2,
                "driver": version,
            }
        )
    return found


def apple() -> list[dict[str, Any]]:
    """Ask system_profiler; the memory is the machine's."""
    if platform.system() != "Darwin":
        return []
    text = run_tool(["system_profiler", "-json", "SPDisplaysDataType"], timeout_s=15)
    try:
        displays = json.loads(text or "{}").get("SPDisplaysDataType", [])
    except (ValueError, AttributeError):
        return []
    return [{"vendor": "apple", "name": item.get("sppci_model"), "driver": None} for item in displays]


def number(text: object) -> float | None:
    """Return a tool's cell as a number, or None."""
    try:
        return float(str(text))
    except ValueError:
        return None
