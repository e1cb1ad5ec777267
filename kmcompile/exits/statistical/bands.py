"""The band of a test: the interval around an estimate of 0 in which the test decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.risk import LEAST_SCALE
from kmcompile.numeric.arrays import Float32Array, Float64Array

LEAST_SPREAD, LARGEST_SPREAD = 0.8, 1.6
"""Limits of a query's spread, the size of its error relative to others, that a reduced set may
estimate."""

_MARGIN = 1.0
_FEWEST = 10
_MORE = 1.001
"""Floors are wider than the estimates that they must hold by this factor: the C sums estimates in
another order than the trials, in float32."""
_LEAST_NEAR = 50
"""Fewest samples that count as near the boundary: with fewer inside the machine's margin, the
nearest ones are taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The estimate that a test computes from the values it sees, and the band of its error.

    E = own * value + earlier * E' + constant, where E' is the estimate of the reduced set before.
    At a scale lambda, E decides where |E| > half-width * spread of the query, with the half-width
    max(lambda * reach * deviation, floor). Below the least scale, lambda stands still, and the
    floor shrinks with the scale (`shares`).

    Parameters
    ----------
    own, earlier, constant : ndarray of shape (n_decisions,), float64
    deviation : ndarray of shape (n_decisions,), float64
        Standard deviation of (f - E) / spread near the boundary. Samples far from the boundary do
        not count: their sign is clear anyway.
    reach : ndarray of shape (n_decisions,), float64
        Largest |E| / (deviation * spread) of a sample on the wrong side, and at least the reach
        that this kind of test is given.
    floor : ndarray of shape (n_decisions,), float64
        Least half-width at any of `risk.SCALES`; 0 where no generated point misleads the test.
    """

    own: Float64Array
    earlier: Float64Array
    constant: Float64Array
    deviation: Float64Array
    reach: Float64Array
    floor: Float64Array

    def estimate(self, values: Float32Array, earlier: Float64Array) -> Float64Array:
        """Return the estimates E, shape (n_samples, n_decisions)."""
        found: Float64Array = self.own * values + self.earlier * earlier + self.constant
        return found

    def is_widened(self, scale: float) -> bool:
        """Return whether the floor makes the band wider at a scale."""
        return is_widened(scale, self.reach * self.deviation, self.floor)

    def half_width(self, scale: float) -> Float64Array:
        """Return the half-width of the band for a query with spread 1, shape (n_decisions,)."""
        return width(scale, self.reach * self.deviation, self.floor)


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
        The earlier estimates E'. With them, `own`, `earlier` and `constant` are fitted by least
        squares. Without them, E is the value plus its mean error.
    spread : ndarray of shape (n_samples,), float64
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's decisions f.
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    least_reach : float
    """
    n = decisions.shape[1]
    own, before, constant, deviation = np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n)
    reach = np.full(n, least_reach)
    for p in range(n):
        near = near_boundary(decisions[:, p], relevant[:, p])
        if len(near) < _FEWEST:  # too few samples: the test never decides this decision
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
        # A stage that estimates without any error would otherwise have no band.
        smallest = 1e-6 * float(np.abs(decisions[:, p]).max())
        deviation[p] = max(float((error / spread[near]).std()), smallest)
        if deviation[p] == 0:  # the decision is 0 for every sample: it has no sign to be sure of
            deviation[p] = np.inf
            continue
        wrong = -np.sign(f) * (f - error) / (deviation[p] * spread[near])
        reach[p] = max(least_reach, float(wrong.max(initial=0.0)))
    return Bands(own, before, constant, deviation, reach, np.zeros(n))


def width(
    scale: float | Float64Array, unscaled: float | Float64Array, floor: float | Float64Array
) -> Float64Array:
    """Return the half-width of a band at a scale of `risk.PATH`, given that at 1 and its floor.

    It is the larger of scale * unscaled and the floor. Below the least of `risk.SCALES`, s, it is
    the larger of s * unscaled and scale / s * floor. It does not grow as the scale falls.
    """
    found: Float64Array = np.maximum(
        np.maximum(scale, LEAST_SCALE) * unscaled, np.minimum(1.0, scale / LEAST_SCALE) * floor
    )
    return found


def is_widened(scale: float, unscaled: float | Float64Array, floor: float | Float64Array) -> bool:
    """Return whether the floor of a band makes it wider at a scale."""
    return bool((width(scale, unscaled, floor) > width(scale, unscaled, 0.0)).any())


def least_width(sizes: Float64Array, unscaled: float, most: float) -> float:
    """Return the floor of a band that keeps wrong estimates from deciding.

    Parameters
    ----------
    sizes : ndarray of shape (n,), float64
        Half-widths of the band at which an estimate on the wrong side just decides nothing.
    unscaled : float
        Half-width of the band at a scale of 1.
    most : float
        The scale of the largest floor.

    Returns
    -------
    float
        0 if the band is wide enough at every scale.
    """
    floor = min(_MORE * float(sizes.max(initial=0.0)), most * unscaled)
    return floor if floor > _MORE * LEAST_SCALE * unscaled else 0.0


def near_boundary(f: Float64Array, relevant: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the indices of the relevant samples inside the margin, or of the nearest few."""
    rows = np.flatnonzero(relevant)
    distance = np.abs(f[rows])
    nearest = np.sort(distance)[min(_LEAST_NEAR, len(rows)) - 1] if len(rows) else 0.0
    near: NDArray[np.intp] = rows[distance <= max(_MARGIN, nearest)]
    return near


def fit_spread(
    raw: Float32Array, error: Float64Array, decisions: Float64Array, relevant: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return (a, b) so that a + b raw is the size of a sample's error relative to the mean.

    Parameters
    ----------
    raw : ndarray of shape (n_samples,), float32
        A value that grows with the magnitudes of the sum's terms.
    error, decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool

    Returns
    -------
    tuple of float
        (1, 0) if the error does not grow with `raw`.
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
    """Return the spread, limited to [LEAST_SPREAD, LARGEST_SPREAD]."""
    return np.clip(spread, LEAST_SPREAD, LARGEST_SPREAD)
