"""Fit the speed model on the published measurements and write `profiles/engines/<id>.fit.toml`.

Run: `python -m planner.validation.fit`. The same tables give the same coefficients; nothing is set by hand.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from planner.domain.engine import Engine
from planner.domain.library import Library
from planner.performance.rates import UNSEEN_WIDENING
from planner.store.folders import shipped_profiles
from planner.validation import cross
from planner.validation.design import PHASES, Array, Effects, Keys, capped, effects_of, keys_of, table_of
from planner.validation.rows import Measurement, load
from planner.validation.solve import solve, weights_of
from planner.workspace import Workspace

PHASE_OF = {
    "decode_per_request": "decode", "tpot": "decode", "aggregate_output": "decode", "prefill": "prefill",
    "ttft": "prefill",
}  # fmt: skip
VENDOR_OF = {"cuda": "nvidia", "rocm": "amd", "apple": "apple", "cpu": "cpu", "intel": "intel"}
BORROWED_WIDENING = 1.5
RELATIVES = {"tgi": "vllm"}
"""Engines without rows and their nearest relative: the same continuous batching on the same kernels."""
FLOOR_SD = 0.05
SHRINK_ROWS = 12.0
"""A class's own scatter counts against the engine's as its rows against this many."""
NEGLIGIBLE = 0.005


@dataclass(frozen=True)
class Fit:
    """Fitted effects and how they did on rows they had not seen."""

    measurements: tuple[Measurement, ...]
    keys: tuple[Keys, ...]
    effects: Effects
    theta: Array
    unseen_device: Array
    unseen_group: Array

    def value(self, coefficient: str, key: Keys) -> float:
        """Return a coefficient for labels, whether or not they occur together; unknown effects are zero."""
        index = {name: place for place, name in enumerate(self.effects.names)}
        total = sum(float(self.theta[index[name]]) for name in effects_of(coefficient, key) if name in index)
        return float(np.exp(capped(coefficient, np.array(total))))

    def mask(self, engine: str, phase: str) -> Array:
        """Return the rows of one engine and phase."""
        pairs = zip(self.measurements, self.keys, strict=True)
        return np.array([float(k.engine == engine and PHASE_OF[m.kind] == phase) for m, k in pairs])


def fit(measurements: Sequence[Measurement]) -> Fit:
    """Return the fit of all measurements without speculative decoding, cross-validated by device and by group."""
    used = tuple(m for m in measurements if m.setup.speculative is None)
    keys = tuple(keys_of(m) for m in used)
    effects, table, weights = Effects(keys), table_of(used), weights_of(used)
    theta = solve(table, effects, weights)
    left = [cross.left_out(used, table, effects, weights, theta, by) for by in ("device", "group")]
    return Fit(used, keys, effects, theta, left[0], left[1])


def _classes(engine: Engine, fitted: Fit) -> list[str]:
    known = sorted({key.hardware_class for key in fitted.keys})
    return [name for name in known if VENDOR_OF.get(name.split("-")[0], "") in engine.vendors]


def _scatter(fitted: Fit, mask: Array, hardware_class: str) -> float:
    """Return a class's scatter on unseen devices, shrunken towards the engine's."""
    good = np.array([m.confidence in ("A", "B") for m in fitted.measurements]) & mask.astype(bool)
    own = good & np.array([key.hardware_class == hardware_class for key in fitted.keys])
    overall = cross.log_sd(fitted.unseen_device[good]) if good.any() else 0.5
    if hardware_class == "*":
        return max(overall * UNSEEN_WIDENING, FLOOR_SD)
    if not own.any():
        return max(overall * UNSEEN_WIDENING, FLOOR_SD)
    share = own.sum() / (own.sum() + SHRINK_ROWS)
    return float(max(share * cross.log_sd(fitted.unseen_device[own]) + (1 - share) * overall, FLOOR_SD))


def _ratio(fitted: Fit, mask: Array, part: Array) -> float:
    """Return how much wider or narrower a part of an engine's rows scatters than all of them."""
    good = np.array([m.confidence in ("A", "B") for m in fitted.measurements]) & mask.astype(bool)
    chosen = good & part
    if chosen.sum() < 8:
        return 1.0 if good.any() else BORROWED_WIDENING
    ratio = cross.log_sd(fitted.unseen_device[chosen]) / cross.log_sd(fitted.unseen_device[good])
    return float(np.clip(ratio, 0.6, 2.0))


def _common(fitted: Fit, engine: str, phase: str, mask: Array) -> dict[str, float]:
    """Return the parameters that hold for all classes: offsets, and how scatter differs by what is known."""
    out: dict[str, float] = {}
    good = np.array([m.confidence in ("A", "B") for m in fitted.measurements]) & mask.astype(bool)
    if good.any():
        ratio = cross.log_sd(fitted.unseen_group[good]) / cross.log_sd(fitted.unseen_device[good])
        out["known_device_sd_ratio"] = float(np.clip(ratio, 0.3, 1.0))
    for name in ("dense", "moe", "hybrid", "cpu"):
        part = np.array([m.sort == name for m in fitted.measurements])
        out[f"{name}_sd_ratio"] = _ratio(fitted, mask, part)
    for name, value in zip(fitted.effects.names, fitted.theta, strict=True):
        start, _, effect = name.partition("|")
        label, _, where = effect.partition("=")
        owner, _, which = where.partition("/")
        if start == f"{phase}.scale" and owner == engine and which and abs(value) > NEGLIGIBLE:
            out[f"{label}:{which}"] = float(value)
    return out


def entries(fitted: Fit, engine: Engine) -> Iterator[dict[str, object]]:
    """Yield the efficiencies of one engine as plain tables."""
    total = len(fitted.measurements)
    for phase, (kind, _) in PHASES.items():
        mask = fitted.mask(engine.id, phase)
        names = [field.name for field in fields(kind) if field.name != "scale"]
        newest = max((m.date for m, hit in zip(fitted.measurements, mask, strict=True) if hit), default="")
        if not mask.any():
            continue
        families = ["*", *engine.quant_families]
        for hardware_class in ["*", *_classes(engine, fitted)]:
            for family in families:
                key = Keys(engine.id, hardware_class, family, "", "", "")
                cell = [
                    hit and hardware_class in ("*", k.hardware_class) and family in ("*", k.family)
                    for k, hit in zip(fitted.keys, mask, strict=True)
                ]
                rows = int(sum(bool(hit) for hit in cell))
                sd = _scatter(fitted, mask, hardware_class) * (1.0 if rows else UNSEEN_WIDENING)
                values = {name: fitted.value(f"{phase}.{name}", key) for name in names}
                if hardware_class == "*" and family == "*":
                    values |= _common(fitted, engine.id, phase, mask)
                yield {
                    "hardware_class": hardware_class, "quant_family": family, "phase": phase, "log_sd": sd,
                    "rows": rows,
                    "source": f"planner.validation.fit on {total} published rows (profiles/measurements)",
                    "as_of": newest or engine.as_of, "parameters": values,
                }  # fmt: skip


def borrowed(rows: Sequence[Mapping[str, object]], relative: str) -> list[dict[str, object]]:
    """Return a relative's efficiencies with a wider interval and without its offsets' claim to be seen here."""
    out = []
    for row in rows:
        sd, source = row["log_sd"], row["source"]
        assert isinstance(sd, float)
        told = f"borrowed from {relative}: {source}"
        out.append({**row, "log_sd": sd * BORROWED_WIDENING, "rows": 0, "source": told})
    return out


def _toml(rows: Sequence[Mapping[str, object]]) -> str:
    lines = ["# Written by `python -m planner.validation.fit`; do not edit.", ""]
    for row in rows:
        lines.append("[[efficiencies]]")
        for name, value in row.items():
            if name == "parameters":
                assert isinstance(value, dict)
                inner = ", ".join(f'"{key}" = {_plain(number)}' for key, number in value.items())
                lines.append(f"parameters = {{ {inner} }}")
            else:
                lines.append(f"{name} = {_plain(value)}")
        lines.append("")
    return "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, float):
        text = f"{value:.4g}"
        return text if any(mark in text for mark in ".en") else f"{text}.0"
    if isinstance(value, int):
        return str(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(fitted: Fit, library: Library, folder: Path) -> list[Path]:
    """Write one file for every engine with rows or a relative, and return the paths."""
    written, tables = [], {}
    for engine in library.engines.values():
        tables[engine.id] = list(entries(fitted, engine))
    for engine_id, relative in RELATIVES.items():
        if not tables.get(engine_id) and tables.get(relative):
            tables[engine_id] = borrowed(tables[relative], relative)
    for engine_id, rows in tables.items():
        if rows:
            path = folder / f"{engine_id}.fit.toml"
            path.write_text(_toml(rows), encoding="utf-8")
            written.append(path)
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m planner.validation.fit", description=__doc__)
    root = shipped_profiles()
    parser.add_argument("--measurements", type=Path, default=root / "measurements", help="folder with the tables")
    parser.add_argument("--out", type=Path, default=root / "engines", help="folder for the .fit.toml files")
    options = parser.parse_args(arguments)
    # The user's own overrides must not leak into shipped coefficients.
    with tempfile.TemporaryDirectory() as empty:
        library = Workspace(Path(empty)).library()
        measurements, skipped = load(options.measurements, library)
        fitted = fit(measurements)
        paths = write(fitted, library, options.out)
    out = sys.stdout
    out.write(f"{len(fitted.measurements)} rows fitted, {sum(skipped.values())} left out:\n")
    out.writelines(f"  {count:4d}  {reason}\n" for reason, count in sorted(skipped.items()))
    out.writelines(f"wrote {path}\n" for path in paths)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
