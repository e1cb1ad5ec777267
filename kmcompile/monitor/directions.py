"""Directions along which usual inputs vary little and strange ones much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from kmcompile.numeric.arrays import Float64Array


def directions(
    usual: Float64Array, strange: Sequence[Float64Array], ridge: float, share: float, most: int
) -> Float64Array:
    """Return directions, the most useful first, shape (n_features, most).

    Each is the direction w that maximises the mean of (w z)^2 over the strange inputs that the
    directions before it leave within the limit, divided by its mean over the usual ones plus
    `ridge` times their mean variance: a generalised eigenvector. All are uncorrelated. Each kind
    counts as much as every other, and each input of a kind, however far away it is.

    Parameters
    ----------
    usual : ndarray of shape (n, n_features)
        Samples, less their mean.
    strange : sequence of ndarray of shape (n_kind, n_features)
        Inputs of each kind, less that mean.
    ridge : float
    share : float
        The share of usual inputs that may exceed the limit.
    most : int
    """
    n, d = usual.shape
    spread = usual.T @ usual / n
    spread[np.diag_indices(d)] += ridge * max(np.trace(spread) / d, np.finfo(float).tiny)
    root = np.linalg.cholesky(spread)
    kind = np.repeat(np.arange(len(strange)), [len(rows) for rows in strange])
    far = np.concatenate(strange)
    white = solve_triangular(root, far.T, lower=True).T
    away, near = np.zeros(len(far)), np.zeros(n)
    found = np.zeros((d, most))
    for place in range(most):
        left = np.ones(len(far), dtype=bool)
        if place:
            left = away <= np.quantile(near, 1 - share)
        if not left.any():
            return found[:, :place]
        axis = _longest(white, _weights(white, left, kind, len(strange)))
        found[:, place] = solve_triangular(root.T, axis, lower=False)
        away += (far @ found[:, place]) ** 2
        near += (usual @ found[:, place]) ** 2
        white = white - np.outer(white @ axis, axis)
    return found


def _weights(
    white: Float64Array, left: NDArray[np.bool_], kind: NDArray[np.intp], n_kinds: int
) -> Float64Array:
    """Return the weight of each strange input: a share of its kind's, over its length squared."""
    count = np.maximum(np.bincount(kind, left, minlength=n_kinds), 1)
    weights: Float64Array = left / count[kind] / np.maximum((white**2).sum(axis=1), 1e-300)
    return weights


def _longest(white: Float64Array, weights: Float64Array) -> Float64Array:
    """Return the unit vector along which weighted rows are longest, with its sign fixed."""
    d = white.shape[1]
    _, vectors = eigh((white * weights[:, None]).T @ white, subset_by_index=[d - 1, d - 1])
    longest = vectors[:, 0]
    axis: Float64Array = longest * np.sign(longest[np.argmax(np.abs(longest))])
    return axis
