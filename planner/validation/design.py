"""Measurements as arrays, and the coefficients of the speed model as sums of effects for each of them.

Every coefficient is exp(base + engine + hardware class + quantisation family), and every time is multiplied by
exp(device + model + backend). The effects are shrunk towards zero, so that a class with few rows stays near the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.performance import core
from planner.performance.classes import backend_name, hardware_class
from planner.performance.core import DecodeRates, Numbers, PrefillRates
from planner.performance.memory import max_sequences
from planner.performance.mixes import quant_of
from planner.performance.prepared import Prepared, prepare
from planner.performance.rates import DECODE_DEFAULTS, PREFILL_DEFAULTS
from planner.validation.rows import Measurement

Array = NDArray[np.float64]
PHASES: dict[str, tuple[type[Any], dict[str, float]]] = {
    "decode": (DecodeRates, DECODE_DEFAULTS),
    "prefill": (PrefillRates, PREFILL_DEFAULTS),
}
PRIOR_SD = {
    "base": 1.5, "engine": 0.5, "class": 0.5, "family": 0.35, "cell": 0.25, "device": 0.15, "model": 0.15,
    "backend": 0.3,
}  # fmt: skip
"""How far an effect may lie from zero, as a log: the shrinkage."""
BY_FAMILY = frozenset({"decode.bandwidth", "decode.compute", "prefill.compute", "prefill.expert_compute"})
BY_CLASS = frozenset(
    {
        "decode.bandwidth", "decode.expert_bandwidth", "decode.kv_bandwidth", "decode.compute",
        "decode.layer_s", "decode.moe_s",
        "decode.step_s", "prefill.compute", "prefill.expert_compute", "prefill.attention", "prefill.half_tokens",
        "prefill.layer_s", "prefill.chunk_s",
    }
)  # fmt: skip
CEILING = {"decode.bandwidth": 0.97, "decode.kv_bandwidth": 1.2, "decode.host_bandwidth": 1.0}
SHARP = 8.0


@dataclass(frozen=True)
class Keys:
    """What a measurement shares with others."""

    engine: str
    hardware_class: str
    family: str
    device: str
    model: str
    backend: str


def keys_of(measurement: Measurement) -> Keys:
    """Return a measurement's labels."""
    setup = measurement.setup
    family = quant_of(setup.quant).family
    device_class = hardware_class(setup.hardware)
    backend = backend_name(setup.backend, device_class)
    return Keys(setup.engine.id, device_class, family, setup.hardware.id, setup.model.id, backend)


class Effects:
    """The list of effects, and for each coefficient which of them add up in each row."""

    def __init__(self, keys: Sequence[Keys]) -> None:
        self.names: list[str] = []
        self._index: dict[str, int] = {}
        self.rows: dict[str, NDArray[np.intp]] = {}
        for phase, (kind, _) in PHASES.items():
            for name in (field.name for field in fields(kind)):
                coefficient = f"{phase}.{name}"
                table = [[self._of(effect) for effect in effects_of(coefficient, key)] for key in keys]
                self.rows[coefficient] = np.array(table, dtype=np.intp)

    def _of(self, name: str) -> int:
        if name not in self._index:
            self._index[name] = len(self.names)
            self.names.append(name)
        return self._index[name]

    def prior_sd(self) -> Array:
        """Return the prior standard deviation of each effect."""
        return np.array([PRIOR_SD[name.split("|")[1].split("=")[0]] for name in self.names])

    def base(self) -> Array:
        """Return the starting point: rough defaults, no effects."""
        out = np.zeros(len(self.names))
        for phase, (_, defaults) in PHASES.items():
            for name, value in defaults.items():
                out[self._index[f"{phase}.{name}|base"]] = math.log(value)
        return out


def effects_of(coefficient: str, key: Keys) -> list[str]:
    """Return the names of the effects that add up to a coefficient's logarithm for one set of labels."""
    if coefficient.endswith(".scale"):
        # Offsets belong to an engine: what slows a device down under one does not under another.
        return [
            f"{coefficient}|device={key.engine}/{key.device}", f"{coefficient}|model={key.engine}/{key.model}",
            f"{coefficient}|backend={key.engine}/{key.backend}",
        ]  # fmt: skip
    names = [f"{coefficient}|base", f"{coefficient}|engine={key.engine}"]
    if coefficient in BY_CLASS:
        names.append(f"{coefficient}|class={key.hardware_class}")
    if coefficient in BY_FAMILY:
        names.append(f"{coefficient}|family={key.family}")
        names.append(f"{coefficient}|cell={key.engine}/{key.hardware_class}/{key.family}")
    return names


@dataclass(frozen=True)
class Table:
    """Measurements as arrays."""

    numbers: Numbers
    kv_read: Array
    batch: Array
    prompt: Array
    prompt_new: Array
    depth: Array
    window_seen: Array
    chunk: Array
    output: Array
    kinds: dict[str, NDArray[np.intp]]
    log_measured: Array


def table_of(measurements: Sequence[Measurement]) -> Table:
    """Return measurements as arrays, ready for `predict`."""
    prepared = [prepare(m.setup) for m in measurements]
    stacked = {f.name: np.array([float(getattr(p.numbers, f.name)) for p in prepared]) for f in fields(Numbers)}
    batch = np.array([_batch(m, p) for m, p in zip(measurements, prepared, strict=True)])
    prompt = np.array([max(m.prompt_tokens or 1.0, 1.0) for m in measurements])
    output = np.array([m.output_tokens or 1.0 for m in measurements])
    depth = np.array([m.context_tokens for m in measurements])
    mean = np.array(
        [
            m.context_tokens + (m.prompt_tokens or 0.0) + (m.output_tokens or 0.0) / 2.0
            if m.kind != "decode_per_request" else m.context_tokens
            for m in measurements
        ]
    )  # fmt: skip
    read = np.array([p.cache.read(float(tokens)) for p, tokens in zip(prepared, mean, strict=True)])
    chunk = np.minimum(prompt, np.array([p.chunk for p in prepared]))
    places = {kind: [i for i, m in enumerate(measurements) if m.kind == kind] for kind in ANSWERS}
    kinds = {kind: np.array(found, dtype=np.intp) for kind, found in places.items()}
    return Table(
        numbers=Numbers(**stacked), kv_read=read, batch=batch, prompt=prompt, prompt_new=prompt, depth=depth,
        window_seen=np.minimum(depth + prompt / 2.0, stacked["window"]), chunk=chunk, output=output, kinds=kinds,
        log_measured=np.log(np.array([m.measured for m in measurements])),
    )  # fmt: skip


ANSWERS = ("decode_per_request", "prefill", "tpot", "ttft", "aggregate_output")


def _batch(measurement: Measurement, prepared: Prepared) -> float:
    if measurement.concurrency:
        return measurement.concurrency
    tokens = (measurement.prompt_tokens or 0.0) + (measurement.output_tokens or 0.0)
    return max(min(max_sequences(prepared, tokens), float(prepared.setup.engine.max_batch)), 1.0)


def coefficients(effects: Effects, theta: Array) -> dict[str, Array]:
    """Return the logarithm of every coefficient for every row, before the ceiling."""
    return {name: theta[index].sum(axis=1) for name, index in effects.rows.items()}


def capped(name: str, log_value: Array) -> Array:
    """Return a coefficient under its soft ceiling: nothing reads faster than the memory delivers."""
    if name not in CEILING:
        return log_value
    return -np.logaddexp(-SHARP * log_value, -SHARP * math.log(CEILING[name])) / SHARP


def predict(table: Table, logs: dict[str, Array]) -> Array:
    """Return the logarithm of the predicted answer for every row."""
    values = {name: np.exp(capped(name, value)) for name, value in logs.items()}
    decode = DecodeRates(**{f.name: values[f"decode.{f.name}"] for f in fields(DecodeRates)})
    prefill = PrefillRates(**{f.name: values[f"prefill.{f.name}"] for f in fields(PrefillRates)})
    step = core.decode_step_s(table.numbers, decode, table.kv_read, table.batch)
    first = core.decode_step_s(table.numbers, decode, table.kv_read, np.ones_like(table.batch))
    prompt = core.prefill_s(table.numbers, prefill, table.prompt, table.depth, table.window_seen, table.chunk)
    answers = {
        "decode_per_request": 1.0 / step,
        "prefill": table.prompt / prompt,
        "tpot": core.tpot_s(step, prompt, table.output, table.batch),
        "ttft": core.closed_ttft_s(prefill, prompt, step, first, table.output, table.batch),
        "aggregate_output": core.requests_per_s(step, prompt, table.output, table.batch) * table.output,
    }
    out: Array = np.empty_like(table.log_measured)
    for kind, rows in table.kinds.items():
        out[rows] = np.log(answers[kind][rows])
    return out
