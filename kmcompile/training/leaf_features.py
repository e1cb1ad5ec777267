"""The features of a leaf: landmark kernels, their products, and the approximate kernel's factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from kmcompile.numeric.arrays import Float64Array

LEAST_SINGULAR_VALUE = 1e-6
"""Of the features' largest: directions below it are left out of the pseudo-inverse."""


def kernel_values(X: NDArray[Any], vectors: NDArray[Any], gammas: NDArray[Any]) -> NDArray[Any]:
    """Return exp(-gamma_i |x - u_i|^2), shape (n_rows, n_vectors); also of complex arguments."""
    values: NDArray[Any] = np.exp(-gammas * squared_distances(X, vectors))
    return values


def squared_distances(X: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    """Return |x - u|^2 of all rows and vectors, not below 0 for real arguments."""
    squared: NDArray[Any] = (
        (X**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1) - 2.0 * (X @ vectors.T)
    )
    return squared if np.iscomplexobj(squared) else np.maximum(squared, 0.0)


def expanded(values: NDArray[Any], products: bool) -> NDArray[Any]:
    """Return [c] or, with products, [c, c_i c_j for all i <= j] (Hsieh et al., equation 7)."""
    if not products:
        return values
    i, j = np.triu_indices(values.shape[1])
    return np.hstack([values, values[:, i] * values[:, j]])


def back_from_expanded(values: NDArray[Any], slope: NDArray[Any], products: bool) -> NDArray[Any]:
    """Return the derivative by the kernel values from the one by the expanded features."""
    m = values.shape[1]
    if not products:
        return slope
    by_values = slope[:, :m].copy()
    start = m
    for i in range(m):
        block = slope[:, start : start + m - i]
        by_values[:, i] += (block * values[:, i:]).sum(axis=1)
        by_values[:, i:] += block * values[:, i : i + 1]
        start += m - i
    return by_values


def kernel_factor(features: Float64Array, gram: Float64Array) -> Float64Array:
    """Return L with L L^T = W, the best W for gram = C W C^T.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features), float64
        C, the rows of a submatrix.
    gram : ndarray of shape (n_rows, n_rows), float64
        The exact kernel of the same rows.

    Returns
    -------
    ndarray of shape (n_features, rank), float64
        A linear machine on C L with the penalty |w|^2 / 2 is a kernel machine with the approximate
        kernel C W C^T.

    References
    ----------
    Hsieh, Si and Dhillon, Fast Prediction for Large-Scale Kernel Machines, equations 4 and 5:
    W = C^+ G (C^+)^T.
    """
    left, singular, right = linalg.svd(features, full_matrices=False)
    kept = singular > LEAST_SINGULAR_VALUE * singular[0]
    left, singular, right = left[:, kept], singular[kept], right[kept]
    eigenvalues, vectors = linalg.eigh(left.T @ gram @ left)
    roots = np.sqrt(np.maximum(eigenvalues, 0.0))
    factor: Float64Array = (right.T / singular) @ (vectors * roots)
    return factor
