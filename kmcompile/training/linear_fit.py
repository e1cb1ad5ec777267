"""Linear machines with squared loss or squared hinge loss, by Newton steps."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from kmcompile.numeric.arrays import Float64Array

MOST_STEPS = 50
INTERCEPT_PENALTY = 1e-6
"""Instead of 0, so that the equations have one solution."""


def fit_linear(
    features: Float64Array, Y: Float64Array, base: Float64Array, C: float, hinge: bool
) -> Float64Array:
    """Minimise |w|^2 / 2 + C sum of (y - b - w z)^2 for each column of targets.

    With `hinge` the targets are -1 and 1 and the sum goes over y (b + w z) < 1: the squared hinge
    loss.
    The last feature is the constant 1, whose weight has almost no penalty.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features), float64
    Y : ndarray of shape (n_rows, n_decisions), float64
    base : ndarray of shape (n_rows, n_decisions), float64
        b, decisions that the weights' are added to.
    C : float
    hinge : bool

    Returns
    -------
    ndarray of shape (n_features, n_decisions), float64
    """
    penalty = np.ones(features.shape[1])
    penalty[-1] = INTERCEPT_PENALTY
    if not hinge:
        return _ridge(features, Y - base, C, penalty)
    columns = [_squared_hinge(features, y, b, C, penalty) for y, b in zip(Y.T, base.T, strict=True)]
    return np.stack(columns, axis=1)


def _ridge(
    features: Float64Array, Y: Float64Array, C: float, penalty: Float64Array
) -> Float64Array:
    normal = 2.0 * C * (features.T @ features)
    normal[np.diag_indices_from(normal)] += penalty
    solution: Float64Array = linalg.solve(normal, 2.0 * C * (features.T @ Y), assume_a="pos")
    return solution


def _squared_hinge(
    features: Float64Array,
    y: Float64Array,
    base: Float64Array,
    C: float,
    penalty: Float64Array,
) -> Float64Array:
    """Newton steps on the active rows; the loss is finite in number of pieces, so few suffice."""
    weights = np.zeros(features.shape[1])
    decision = base
    value = _objective(decision, y, C, penalty, weights)
    for _ in range(MOST_STEPS):
        active = y * decision < 1.0
        part = features[active]
        direction = _ridge(part, (y - base)[active][:, None], C, penalty)[:, 0] - weights
        change = features @ direction
        step, new = 1.0, value
        while step > 1e-6:
            new = _objective(decision + step * change, y, C, penalty, weights + step * direction)
            if new < value:
                break
            step /= 2.0
        if not new < value:
            break
        weights, decision = weights + step * direction, decision + step * change
        if value - new <= 1e-9 * abs(value):
            break
        value = new
    return weights


def _objective(
    decision: Float64Array, y: Float64Array, C: float, penalty: Float64Array, weights: Float64Array
) -> float:
    short = np.maximum(0.0, 1.0 - y * decision)
    return float(0.5 * (penalty * weights**2).sum() + C * (short**2).sum())
