"""A robust, shrunken least-squares fit in log space: Gauss-Newton with a numerical derivative per coefficient."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from planner.validation.design import Array, Effects, Table, coefficients, predict
from planner.validation.rows import Measurement

ROW_SD = 0.12
"""Scatter between publishers for the same device and model (measurements/README.md: 5 to 15 %)."""
HUBER = 1.5
STEPS = 25
CONFIDENCE = {"A": 1.0, "B": 1.0, "C": 0.15}
DELTA = 1e-4


def weights_of(measurements: Sequence[Measurement]) -> Array:
    """Return row weights: each hardware × model group counts for the root of its rows; doubtful rows for little."""
    sizes = Counter((m.group, m.kind) for m in measurements)
    return np.array([CONFIDENCE.get(m.confidence, 0.15) / sizes[(m.group, m.kind)] ** 0.5 for m in measurements])


def solve(table: Table, effects: Effects, weights: Array, warm: Array | None = None) -> Array:
    """Return the effects that minimise the robust weighted squared log error plus the shrinkage."""
    start = effects.base()
    theta = start if warm is None else warm
    precision = 1.0 / effects.prior_sd() ** 2
    damping = 1.0
    loss, residual, jacobian, scale = _evaluate(table, effects, theta, weights, start, precision)
    for _ in range(STEPS):
        left = (jacobian * scale[:, None]).T @ jacobian + np.diag(precision * (1.0 + damping))
        right = (jacobian * scale[:, None]).T @ residual - precision * (theta - start)
        step = np.clip(np.linalg.solve(left, right), -1.0, 1.0)
        trial = theta + step
        new = _evaluate(table, effects, trial, weights, start, precision)
        if new[0] < loss:
            done = loss - new[0] < 1e-5 * loss
            theta, (loss, residual, jacobian, scale) = trial, new
            damping = max(damping / 5.0, 1e-6)
            if done:
                break
        else:
            damping = max(damping * 5.0, 0.01)
            if damping > 1e8:
                break
    return theta


def _evaluate(
    table: Table, effects: Effects, theta: Array, weights: Array, start: Array, precision: Array
) -> tuple[float, Array, Array, Array]:
    logs = coefficients(effects, theta)
    predicted = predict(table, logs)
    residual = table.log_measured - predicted
    jacobian = np.zeros((len(predicted), len(theta)))
    rows = np.arange(len(predicted))
    for name, index in effects.rows.items():
        shifted = dict(logs)
        shifted[name] = logs[name] + DELTA
        slope = (predict(table, shifted) - predicted) / DELTA
        for column in index.T:
            jacobian[rows, column] += slope
    size = np.abs(residual) / ROW_SD
    robust = np.where(size <= HUBER, 1.0, HUBER / np.maximum(size, 1e-9))
    scale = weights * robust / ROW_SD**2
    huber = np.where(size <= HUBER, 0.5 * size**2, HUBER * size - 0.5 * HUBER**2)
    loss = float((weights * huber).sum() + 0.5 * (precision * (theta - start) ** 2).sum())
    return loss, residual, jacobian, scale
