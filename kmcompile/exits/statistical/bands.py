"""The band around an estimate within which it decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array

LEAST_SPREAD, LARGEST_SPREAD = 0.8, 1.6
"""Of a query's error relative to others: limits of what a reduced set may say of it."""

_MARGIN = 1.0
_FEWEST = 10
_LEAST_NEAR = 50
"""Samples near the boundary: inside the machine's margin, or the nearest so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """What makes a decision of the values that one test sees, and its error.

    E = own * value + earlier * E' + constant, E' being the estimate of the reduced set before. At
    a scale lambda, E decides where |E| > lambda * reach * deviation * spread of the query.

    Parameters
    ----------
    own, earlier, constant : ndarray of shape (n_decisions,), float64
    deviation : ndarray of shape (n_decisions,), float64
        Standard deviation of (f - E) / spread near the boundary: far from it, a sign is clear
        anyway.
    reach : ndarray of shape (n_decisions,), float64
        How far E / (deviation * spread) goes on the wrong side, and at least what this kind of
        test is given.
    """

    own: Float64Array
    earlier: Float64Array
    constant: Float64Array
    deviation: Float64Array
    reach: Float64Array

    def estimate(self, values: Float32Array, earlier: Float64Array) -> Float64Array:
        """Return E, shape (n_samples, n_decisions)."""
        found: Float64Array = self.own * values + self.earlier * earlier + self.constant
        return found

    def half_width(self, scale: float) -> Float64Array:
        """Return the half-width of a query with a spread of 1, shape (n_decisions,)."""
        return scale * self.reach * self.deviation


def fit_bands(
    values: Float32Array,
    earlier: Float64Array | None,
    spread: Float64Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    least_reach: float,
) -> Bands:
    """Return the bands of one test.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_decisions), float32
    earlier : ndarray of shape (n_samples, n_decisions), float64, or None
        E'. With it the shares are those of least squares, without it E is the value and its mean
        error.
    spread : ndarray of shape (n_samples,), float64
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's, f.
    relevant : ndarray of shape (n_samples, n_decisions), bool
        The samples that a decision is about: of one of the pair's two classes.
    least_reach : float
    """
    n = decisions.shape[1]
    own, before, constant, deviation = np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n)
    reach = np.full(n, least_reach)
    for p in range(n):
        near = near_boundary(decisions[:, p], relevant[:, p])
        if len(near) < _FEWEST:  # too few to say anything: this decision is never sure here
            deviation[p] = np.inf
            continue
        f, value = decisions[near, p], values[near, p].astype(np.float64)
        if earlier is None:
            constant[p] = (f - value).mean()
            error = f - value - constant[p]
        else:
            features = np.column_stack([value, earlier[near, p], np.ones(len(f))])
            own[p], before[p], constant[p] = np.linalg.lstsq(features, f, rcond=None)[0]
            error = f - features @ (own[p], before[p], constant[p])
        # Of a stage that estimates without any error no band would be left.
        smallest = 1e-6 * float(np.abs(decisions[:, p]).max())
        deviation[p] = max(float((error / spread[near]).std()), smallest)
        if deviation[p] == 0:  # the decision is 0 for every sample: it has no sign to be sure of
            deviation[p] = np.inf
            continue
        wrong = -np.sign(f) * (f - error) / (deviation[p] * spread[near])
        reach[p] = max(least_reach, float(wrong.max(initial=0.0)))
    return Bands(own, before, constant, deviation, reach)


def near_boundary(f: Float64Array, relevant: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the relevant samples inside the margin, or the nearest so many: indices."""
    rows = np.flatnonzero(relevant)
    distance = np.abs(f[rows])
    nearest = np.sort(distance)[min(_LEAST_NEAR, len(rows)) - 1] if len(rows) else 0.0
    near: NDArray[np.intp] = rows[distance <= max(_MARGIN, nearest)]
    return near


def fit_spread(
    raw: Float32Array, error: Float64Array, decisions: Float64Array, relevant: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return (a, b): a + b raw is how large a sample's error is, relative to the mean.

    Parameters
    ----------
    raw : ndarray of shape (n_samples,), float32
        What follows the size of the sum's terms.
    error, decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool

    Returns
    -------
    tuple of float
        (1, 0) where the error does not grow with it.
    """
    sizes, raws = [], []
    for p in range(decisions.shape[1]):
        near = near_boundary(decisions[:, p], relevant[:, p])
        if len(near) < _FEWEST:
            continue
        size = np.abs(error[near, p])
        sizes.append(size / max(float(size.mean()), 1e-300))
        raws.append(raw[near].astype(np.float64))
    if not sizes:
        return 1.0, 0.0
    size, value = np.concatenate(sizes), np.concatenate(raws)
    features = np.column_stack([np.ones(len(value)), value])
    a, b = np.linalg.lstsq(features, size, rcond=None)[0]
    return (float(a), float(b)) if b > 0 else (1.0, 0.0)


def limited(spread: Float64Array) -> Float64Array:
    """Return the spread within its limits."""
    return np.clip(spread, LEAST_SPREAD, LARGEST_SPREAD)
