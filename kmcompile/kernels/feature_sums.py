"""Sums over features of a term of a vector's feature and an input's feature, in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kmcompile.numeric.arrays import Float64Array

_BLOCK_BYTES = 1 << 21


def feature_sums(
    support_vectors: Float64Array,
    X: Float64Array,
    term: Callable[[Float64Array, Float64Array], Float64Array],
) -> Float64Array:
    """Return sum_j term(x_qj, s_ij), shape (n_queries, n_sv), a block of queries at a time.

    Parameters
    ----------
    support_vectors : ndarray of shape (n_sv, n_features), float64
    X : ndarray of shape (n_queries, n_features), float64
    term : callable
        Function of two arrays of shapes (n, 1) and (1, n_sv), which returns shape (n, n_sv).
    """
    result = np.zeros((len(X), len(support_vectors)))
    columns = np.ascontiguousarray(support_vectors.T)
    rows = max(1, _BLOCK_BYTES // (8 * max(1, len(support_vectors))))
    for start in range(0, len(X), rows):
        block = result[start : start + rows]
        for x, s in zip(X[start : start + rows].T, columns, strict=True):
            block += term(x[:, None], s[None, :])
    return result
