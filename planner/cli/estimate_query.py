"""One question to the estimator, read from flags or from a CSV row: the same columns, the same defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.cli.estimate_columns import COLUMNS, NAMES, Column
from planner.domain.engine import Engine
from planner.domain.errors import InputError
from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.quant import parse_kv_quant, parse_quant
from planner.performance.estimate import kind_of
from planner.performance.setup import PARALLELS, Setup

PREFERRED_ENGINES = ("llama.cpp", "vllm", "mlx", "sglang")
"""Which engine an empty cell means: the first of these that runs the quantisation on the device."""
_SETUP = ("count", "file_gib", "gpu_layers", "cpu_experts_layers", "host_memory_bandwidth_gb_s", "flash_attention",
          "speculative", "engine_version", "backend")  # fmt: skip
_CONDITIONS = {
    "context": "context_tokens", "prompt": "prompt_tokens", "output": "output_tokens", "concurrency": "concurrency",
    "cached_prefix": "cached_prefix_tokens", "request_rate": "request_rate",
}  # fmt: skip


@dataclass(frozen=True)
class Query:
    """A set-up, a kind of figure and the conditions it is wanted for."""

    setup: Setup
    kind: str
    conditions: Mapping[str, Any]
    """Keyword arguments of the estimator."""


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
