"""Points to fit a reduced set to: samples, support vectors and mixtures of near ones."""

from __future__ import annotations

import numpy as np

from kmcompile.calibrate.nearest import totals
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.stages import ExactSum

_SEED = 20021128
_NEIGHBOURS = 30
"""Candidates of which a point is mixed with the nearest."""

_BLOCK_VALUES = 1 << 22


def fit_points(
    exact: ExactSum, x: Float32Array, least: int, most: int
) -> tuple[Float64Array, Float64Array]:
    """Return points and decisions: the samples, then support vectors, then mixtures of these.

    The machine can be asked anywhere, so few samples are no limit. A vector's decision is
    without its own term, which no other point has. A mixture is of a point and the nearest of
    some others, at random; points that all have one length are mixed on that sphere.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples.
    least, most : int
        Points that there are at least and at most.

    Returns
    -------
    points : ndarray of shape (n_points, n_features), float64
    decisions : ndarray of shape (n_points, n_decisions), float64
    """
    rng = np.random.default_rng(_SEED)
    beta = exact.slot_decisions()
    slots = rng.permutation(np.flatnonzero((beta != 0).any(axis=1)))[: max(0, most - len(x))]
    vectors = exact.columns().T[slots]
    points = np.concatenate([x, vectors]).astype(np.float64)
    n_more = max(0, least - len(points))
    points = np.concatenate([points, _mixtures(points, n_more, rng)])
    decisions = decisions_at(exact, points)
    own = (vectors**2).sum(axis=1) * (not exact.kernel.uses_distance)
    decisions[len(x) : len(x) + len(slots)] -= beta[slots] * exact.kernel.value(own)[:, None]
    return points, decisions


def _mixtures(points: Float64Array, n_more: int, rng: np.random.Generator) -> Float64Array:
    if not n_more:
        return points[:0]
    one = rng.integers(len(points), size=n_more)
    others = rng.integers(len(points), size=(n_more, _NEIGHBOURS))
    distance = np.stack(
        [((points[one] - points[others[:, k]]) ** 2).sum(axis=1) for k in range(_NEIGHBOURS)],
        axis=1,
    )
    distance[distance == 0] = np.inf
    other = np.take_along_axis(others, distance.argmin(axis=1)[:, None], axis=1)[:, 0]
    share = rng.uniform(0.5, 1.0, size=(n_more, 1))
    mixed = share * points[one] + (1 - share) * points[other]
    length = np.sqrt((points**2).sum(axis=1))
    if length.std() <= 1e-5 * length.mean():
        mixed *= length.mean() / np.sqrt((mixed**2).sum(axis=1, keepdims=True))
    return mixed


def decisions_at(exact: ExactSum, points: Float64Array) -> Float64Array:
    """Return the machine's decisions at prepared points, shape (n_points, n_decisions)."""
    vectors = exact.columns().T.astype(np.float64)
    beta = exact.slot_decisions().astype(np.float64)
    decisions = np.empty((len(points), beta.shape[1]))
    rows = max(1, _BLOCK_VALUES // len(vectors))
    for start in range(0, len(points), rows):
        part = slice(start, start + rows)
        total = totals(exact.kernel.uses_distance, points[part], vectors)
        decisions[part] = exact.kernel.value(total.astype(np.float32)) @ beta + exact.intercept
    return decisions
