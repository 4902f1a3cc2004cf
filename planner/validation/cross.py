"""Cross-validation: how wrong the model is about devices, models or groups that it was not fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from planner.validation.design import Array, Effects, Table, coefficients, predict
from planner.validation.rows import Measurement
from planner.validation.solve import solve

FOLDS = 5
SEED = 20261201
BY: dict[str, Callable[[Measurement], str]] = {
    "device": lambda m: m.device,
    "model": lambda m: m.model,
    "group": lambda m: m.group,
}


def folds(measurements: Sequence[Measurement], by: str, count: int = FOLDS) -> list[Array]:
    """Return masks of the rows to leave out: each device (or model, or group) is left out whole, once."""
    names = sorted({BY[by](m) for m in measurements})
    order = np.random.default_rng(SEED).permutation(len(names))
    fold = {names[place]: position % count for position, place in enumerate(order)}
    return [np.array([fold[BY[by](m)] == k for m in measurements]) for k in range(count)]


def left_out(
    measurements: Sequence[Measurement], table: Table, effects: Effects, weights: Array, warm: Array, by: str
) -> Array:
    """Return log(measured / predicted) of every row, predicted by a fit that has not seen its device or model."""
    out: Array = np.zeros(len(measurements))
    for mask in folds(measurements, by):
        theta = solve(table, effects, np.where(mask, 0.0, weights), warm)
        residual = table.log_measured - predict(table, coefficients(effects, theta))
        out[mask] = residual[mask]
    return out


def log_sd(residuals: Array) -> float:
    """Return the spread whose ±1.2816 holds 80 % of the residuals."""
    return float(np.quantile(np.abs(residuals), 0.8)) / 1.2816 if len(residuals) else float("nan")
