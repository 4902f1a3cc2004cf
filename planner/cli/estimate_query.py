"""One question to the estimator, read from flags or from a CSV row: the same columns, the same defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from planner.domain.engine import Engine
from planner.domain.errors import InputError
from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.quant import parse_kv_quant, parse_quant
from planner.performance.estimate import KINDS, kind_of
from planner.performance.setup import PARALLELS, Setup

PREFERRED_ENGINES = ("llama.cpp", "vllm", "mlx", "sglang")
"""Which engine an empty cell means: the first of these that runs the quantisation on the device."""
_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off"}


@dataclass(frozen=True)
class Query:
    """A set-up, a kind of figure and the conditions it is wanted for."""

    setup: Setup
    kind: str
    conditions: Mapping[str, Any]
    """Keyword arguments of the estimator."""


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
    Column("kind", f"what to estimate: {', '.join(KINDS)} (also: decode, aggregate)", metavar="KIND"),
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
_SETUP = ("count", "file_gib", "gpu_layers", "cpu_experts_layers", "host_memory_bandwidth_gb_s", "flash_attention",
          "speculative", "engine_version", "backend")  # fmt: skip
_CONDITIONS = {
    "context": "context_tokens", "prompt": "prompt_tokens", "output": "output_tokens", "concurrency": "concurrency",
    "cached_prefix": "cached_prefix_tokens", "request_rate": "request_rate",
}  # fmt: skip
SETUP_NAMES = tuple(name for name in NAMES if name != "kind" and name not in _CONDITIONS)


class Reader:
    """Reads questions against one library; equal set-ups are one object, because the estimator remembers them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._setups: dict[tuple[object, ...], Setup] = {}

    def read(self, cells: Mapping[str, str | None]) -> Query:
        """Return the question that named texts ask; empty texts take the default.

        Raises InputError naming the column and the nearest valid value.
        """
        values = _values(cells)
        key = tuple(values[name] for name in SETUP_NAMES)
        if key not in self._setups:
            self._setups[key] = _setup(values, self.library)
        conditions = {key: values[name] for name, key in _CONDITIONS.items() if values[name] is not None}
        return Query(self._setups[key], kind_of(values["kind"].casefold().replace("-", "_")), conditions)


def _values(cells: Mapping[str, str | None]) -> dict[str, Any]:
    values = {column.name: _value(column, cells.get(column.name)) for column in COLUMNS}
    for name in ("hardware", "model", "kind"):
        if values[name] is None:
            raise InputError(f"{name} is empty.", "hardware, model and kind are always needed.")
    for name in ("count", "concurrency"):
        if values[name] == 0:
            raise InputError(f"{name}: 0 is not a number of at least 1.")
    return values


def _setup(values: Mapping[str, Any], library: Library) -> Setup:
    hardware, model = library.find_hardware(values["hardware"]), library.find_model(values["model"])
    quant = parse_quant(values["quant"] or model.native_quant).name
    engine = library.find_engine(values["engine"]) if values["engine"] else default_engine(library, hardware, quant)
    given = {name: values[name] for name in _SETUP if values[name] is not None}
    return Setup(
        hardware=hardware, model=model, engine=engine, quant=quant,
        parallel=_parallel(values["parallel"]), kv_quant=parse_kv_quant(values["kv_quant"] or ""), **given,
    )  # fmt: skip


def default_engine(library: Library, hardware: Hardware, quant: str) -> Engine:
    """Return the usual engine for a quantisation on a device; raises InputError where none is known."""
    family = parse_quant(quant).family
    rest = sorted(set(library.engines) - set(PREFERRED_ENGINES))
    for name in (*PREFERRED_ENGINES, *rest):
        engine = library.engines.get(name)
        if engine and family in engine.quant_families and hardware.vendor in engine.vendors:
            # llama.cpp runs plain floats too, but who names a float means a server's engine.
            if family == "float" and name == "llama.cpp" and hardware.vendor in _served(library):
                continue
            return engine
    raise InputError(f"engine is empty, and no engine is known to run {quant} on {hardware.id}.", "Name one.")


def _served(library: Library) -> tuple[str, ...]:
    vllm = library.engines.get("vllm")
    return vllm.vendors if vllm else ()


def _parallel(text: str | None) -> Any:
    name = (text or "none").casefold()
    if name not in PARALLELS:
        raise InputError(f"parallel: {text!r} is unknown.", f"Choose from: {', '.join(PARALLELS)}.")
    return name


def _value(column: Column, text: str | None) -> Any:
    text = (text or "").strip()
    if not text:
        return None
    try:
        return column.read(text)
    except (ValueError, OverflowError):
        raise InputError(f"{column.name}: {text!r} is not {column.wanted}.") from None
