"""Looks up an engine's fitted coefficients for a device, a quantisation family and a phase.

The fit (`planner.validation.fit`) writes them to `profiles/engines/<id>.fit.toml`. Phases are `decode` and `prefill`;
`parameters` hold the fields of `DecodeRates` and `PrefillRates`, and in the entry for `*` × `*` also offsets
`device:<id>`, `model:<id>` and `backend:<name>`, the logarithm of the time these take beyond the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from planner.domain.engine import Efficiency, Engine
from planner.performance.core import DecodeRates, PrefillRates

DECODE_DEFAULTS: dict[str, float] = {
    "bandwidth": 0.7, "expert_bandwidth": 0.7, "kv_bandwidth": 0.5, "compute": 0.15, "layer_s": 1.5e-5, "moe_s": 2e-5,
    "linear_s": 1e-5, "step_s": 2e-4, "sequence_s": 1e-5, "reduce_s": 1.5e-5, "host_bandwidth": 0.6, "host_s": 5e-5,
}  # fmt: skip
PREFILL_DEFAULTS: dict[str, float] = {
    "compute": 0.4, "expert_compute": 0.6, "attention": 0.3, "bandwidth": 0.7, "half_tokens": 64.0, "layer_s": 3e-5,
    "chunk_s": 5e-4, "reduce_s": 2e-5, "host_bandwidth": 0.3, "host_compute": 10.0, "linear_s": 1e-4,
    "burst": 0.25,
}  # fmt: skip
DEFAULT_LOG_SD = 0.5
"""Spread of the rough defaults above: they serve an engine without any fit, and say so."""
UNSEEN_WIDENING = 1.25
"""An interval for a class or family without rows is this much wider than the one it borrows."""


@dataclass(frozen=True, slots=True)
class Found:
    """Coefficients with their scatter and where they come from."""

    values: dict[str, float]
    scale: float
    log_sd: float
    rows: int
    source: str
    as_of: str | None


def _defaults(phase: str) -> dict[str, float]:
    return DECODE_DEFAULTS if phase == "decode" else PREFILL_DEFAULTS


_TABLES: dict[int, tuple[Engine, dict[tuple[str, str, str], Efficiency]]] = {}
_VALUES: dict[int, tuple[Efficiency, dict[str, float]]] = {}
"""Kept by identity together with the profile itself, so that an id is never another profile's."""


def _table(engine: Engine) -> dict[tuple[str, str, str], Efficiency]:
    found = _TABLES.get(id(engine))
    if found is None:
        table = {(e.phase, e.hardware_class, e.quant_family): e for e in engine.efficiencies}
        found = _TABLES[id(engine)] = (engine, table)
    return found[1]


def _values(entry: Efficiency, phase: str) -> dict[str, float]:
    """Return an entry's coefficients over the defaults, offsets of devices and models and widenings left out."""
    found = _VALUES.get(id(entry))
    if found is None:
        own = {k: v for k, v in entry.parameters.items() if ":" not in k and not k.endswith("_ratio")}
        found = _VALUES[id(entry)] = (entry, {**_defaults(phase), **own})
    return found[1]


def _pick(engine: Engine, hardware_class: str, family: str, phase: str) -> tuple[Efficiency | None, str]:
    table = _table(engine)
    tries = (
        ((hardware_class, family), ""),
        ((hardware_class, "*"), f"no rows for {family} on {hardware_class}: the class's mean"),
        (("*", family), f"no rows on {hardware_class}: the family's mean over other classes"),
        (("*", "*"), f"no rows for {family} or {hardware_class}: the engine's mean"),
    )
    for key, note in tries:
        entry = table.get((phase, *key))
        if entry is not None:
            return entry, note
    return None, ""


def lookup(
    engine: Engine,
    hardware_class: str,
    family: str,
    phase: str,
    device: str,
    model: str,
    backend: str = "",
    sort: str = "dense",
) -> Found:
    """Return the coefficients for one phase, falling back from class × family to wider means, each with a note."""
    entry, note = _pick(engine, hardware_class, family, phase)
    if entry is None:
        text = f"{engine.id}: no fit, rough default efficiencies"
        return Found(_defaults(phase), 1.0, DEFAULT_LOG_SD, 0, text, engine.as_of)
    common, _ = _pick(engine, "*", "*", phase)
    offsets = common.parameters if common else {}
    device_offset = offsets.get(f"device:{device}")
    other = offsets.get(f"model:{model}", 0.0) + offsets.get(f"backend:{backend}", 0.0)
    log_sd = entry.log_sd * (UNSEEN_WIDENING if note else 1.0)
    if device_offset is not None and "known_device_sd_ratio" in offsets:
        log_sd *= offsets["known_device_sd_ratio"]
    log_sd *= offsets.get(f"{sort}_sd_ratio", 1.0)
    values = _values(entry, phase)
    where = f"{entry.hardware_class} × {entry.quant_family}"
    source = f"{engine.id} {phase} fit, {entry.rows} rows ({where}): {entry.source}"
    scale = math.exp((device_offset or 0.0) + other)
    return Found(values, scale, log_sd, entry.rows, f"{source}; {note}" if note else source, entry.as_of)


def _fill(kind: type[Any], found: Found) -> Any:
    names = {field.name for field in fields(kind)} - {"scale"}
    return kind(**{name: found.values[name] for name in names}, scale=found.scale)


def decode_rates(found: Found) -> DecodeRates:
    """Return found coefficients as the decode step's rates."""
    rates: DecodeRates = _fill(DecodeRates, found)
    return rates


def prefill_rates(found: Found) -> PrefillRates:
    """Return found coefficients as the prompt's rates."""
    rates: PrefillRates = _fill(PrefillRates, found)
    return rates
