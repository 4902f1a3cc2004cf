"""The columns of an estimate: the flags of the command and the head of its table; light, because help shows them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KIND_NAMES = (
    "decode_per_request", "prefill", "aggregate_output", "aggregate_total", "ttft", "tpot", "weights", "kv",
    "memory_total", "kv_capacity", "fits",
)  # fmt: skip
_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off"}


def whole(text: str) -> int:
    """Return a whole number of at least 0; raises ValueError."""
    value = float(text)
    if value != int(value) or value < 0:
        raise ValueError(text)
    return int(value)


def layers(text: str) -> int | None:
    """Return a count of layers; any negative number means all of them, which is the default."""
    return None if float(text) < 0 else whole(text)


def positive(text: str) -> float:
    """Return a finite number above 0; raises ValueError."""
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        raise ValueError(text)
    return value


def switch(text: str) -> bool | None:
    """Return on or off; `auto` is the engine's own choice. Raises ValueError."""
    word = text.casefold()
    if word not in _YES | _NO | {"auto"}:
        raise ValueError(text)
    return None if word == "auto" else word in _YES


@dataclass(frozen=True)
class Column:
    """One column of the CSV and one flag of the command."""

    name: str
    help: str
    read: Callable[[str], Any] = str
    wanted: str = "text"
    metavar: str = "N"

    @property
    def flag(self) -> str:
        """Return the option: the name with dashes."""
        return "--" + self.name.replace("_", "-")


_N = "a whole number of at least 0"
_X = "a number above 0"
COLUMNS = (
    Column("hardware", "device id or alias; `local` is this machine; a CPU id for CPU only", metavar="ID"),
    Column("count", "devices (default: 1)", whole, _N),
    Column("parallel", "how several devices share the model: tensor, layer or none", metavar="HOW"),
    Column("model", "model id, repository or alias", metavar="ID"),
    Column("quant", "quantisation of the weights (default: as published)", metavar="Q"),
    Column("kv_quant", "KV cache type (default: f16)", metavar="Q"),
    Column("file_gib", "size of the weight file, where known", positive, _X, "GIB"),
    Column("engine", "engine id (default: the usual one for this quantisation and device)", metavar="ID"),
    Column("engine_version", "engine version or build", metavar="V"),
    Column("backend", "backend of the engine, such as CUDA, Metal, Vulkan", metavar="NAME"),
    Column("kind", f"what to estimate: {', '.join(KIND_NAMES)} (also: decode, aggregate)", metavar="KIND"),
    Column("context", "tokens already in the KV cache when the step or prompt starts (default: 0)", whole, _N),
    Column("prompt", "prompt tokens", whole, _N),
    Column("output", "output tokens", whole, _N),
    Column("concurrency", "requests in flight (default: 1)", whole, _N),
    Column("request_rate", "requests a second arriving", positive, _X, "R"),
    Column("cached_prefix", "prompt tokens that need not be processed again (default: 0)", whole, _N),
    Column("gpu_layers", "layers on the device, the rest in host memory (default: all that fit)", layers, _N),
    Column("cpu_experts_layers", "layers whose experts stay in host memory", layers, _N),
    Column("host_memory_bandwidth_gb_s", "of the host, for offloaded layers", positive, _X, "GB_S"),
    Column("flash_attention", "on, off or auto", switch, "on, off or auto", "SWITCH"),
    Column("speculative", "speculative decoding, such as mtp or eagle3", metavar="KIND"),
)
NAMES = tuple(column.name for column in COLUMNS)
