"""The band around an estimate within which it decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import Float32Array, Float64Array

LEAST_REACH = 2.0
"""Standard deviations that a band covers at least at a scale of 1: no violators, no evidence."""

_MARGIN = 1.0
_LEAST_NEAR = 50
"""Samples near the boundary: inside the machine's margin, or the nearest so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """What is left of the decision after an estimate, for one test of a stage.

    At a scale lambda an estimate e decides for the positive side if
    e + mean > lambda * above * deviation, for the negative side if
    e + mean < -lambda * below * deviation (math.md section 2).

    Parameters
    ----------
    mean, deviation : ndarray of shape (n_decisions,), float64
        Of f - e, of samples near the boundary: far from it, a sign is clear anyway.
    above, below : ndarray of shape (n_decisions,), float64
        The largest (e + mean) / deviation of a sample with f < 0, and the same for the other
        side; at least LEAST_REACH.
    """

    mean: Float64Array
    deviation: Float64Array
    above: Float64Array
    below: Float64Array

    def limits(self, scale: float) -> tuple[Float64Array, Float64Array]:
        """Return the middle of the band and half of its width, each of shape (n_decisions,)."""
        if np.isinf(scale):
            return np.zeros_like(self.mean), np.full_like(self.mean, np.inf)
        high = scale * self.above * self.deviation
        low = -scale * self.below * self.deviation
        return (high + low) / 2 - self.mean, (high - low) / 2


def fit_bands(
    estimates: Float32Array, decisions: Float64Array, relevant: NDArray[np.bool_]
) -> Bands:
    """Return the bands of one test.

    Parameters
    ----------
    estimates : ndarray of shape (n_samples, n_decisions), float32
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's, f.
    relevant : ndarray of shape (n_samples, n_decisions), bool
        The samples that a decision is about: of one of the pair's two classes.
    """
    n = decisions.shape[1]
    mean, deviation = np.zeros(n), np.zeros(n)
    above, below = np.full(n, LEAST_REACH), np.full(n, LEAST_REACH)
    for p in range(n):
        e = estimates[relevant[:, p], p].astype(np.float64)
        f = decisions[relevant[:, p], p]
        near = _near_boundary(f)
        mean[p] = (f - e)[near].mean()
        # Of a stage that estimates without any error no band would be left.
        deviation[p] = max((f - e)[near].std(), 1e-6 * np.abs(f).max())
        z = (e + mean[p]) / deviation[p]
        above[p] = LEAST_REACH
        below[p] = LEAST_REACH
    return Bands(mean, deviation, above, below)


def _near_boundary(f: Float64Array) -> NDArray[np.bool_]:
    distance = np.abs(f)
    nearest = np.sort(distance)[min(_LEAST_NEAR, len(f)) - 1]
    near: NDArray[np.bool_] = distance <= max(_MARGIN, nearest)
    return near
