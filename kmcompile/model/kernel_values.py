"""Kernel values of the float64 model, by a faster formula where it is accurate enough."""

from __future__ import annotations

import numpy as np

from kmcompile.kernels import Kernel, Rbf
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_LARGEST_ERROR = 1e-11
"""Largest relative error of a kernel value by the faster formula. The float32 bounds of programs
are about 1e5 times larger."""


def kernel_values(
    kernel: Kernel, vectors: Float64Array, X: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return K(s_i, x_q), and the relative error that the faster formula adds to it.

    Parameters
    ----------
    kernel : Kernel
    vectors : ndarray of shape (n_sv, n_features), float64
    X : ndarray of shape (n_queries, n_features), float64
        Prepared inputs.

    Returns
    -------
    values : ndarray of shape (n_queries, n_sv), float64
    error : ndarray of shape (n_queries,), float64
    """
    if not isinstance(kernel, Rbf):
        return kernel.values(vectors, X), np.zeros(len(X))
    values, error = _expanded_rbf(kernel, vectors, X)
    slow = ~(error <= _LARGEST_ERROR)  # NaN is slow
    if slow.any():
        values[slow] = kernel.values(vectors, X[slow])
    return values, np.where(slow, 0.0, error)


def _expanded_rbf(
    kernel: Rbf, vectors: Float64Array, X: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return exp(-gamma (|t|^2 - 2<t, z> + |z|^2)) with t = s - c, z = x - c, c the vectors' mean.

    The error bound, to first order in u, for n features, L = max |t| and R = L + |z|: The
    subtractions of c change the squared distance |t - z|^2 by at most 2 u R^2. The squares and
    products are sums of n terms in any order, with an error of at most
    n u (|t|^2 + 2 |t| |z| + |z|^2) <= n u R^2 (Higham, eq. 3.5). The two additions add 2 u R^2.
    So the error of the squared distance is at most a := (n + 4) u R^2, and the relative error of
    the kernel value at most expm1(gamma a). The returned bound is twice as large, which covers the
    higher orders and the rounding of the bound itself.
    """
    centre = vectors.mean(axis=0)
    t, z = vectors - centre, X - centre
    with np.errstate(over="ignore", invalid="ignore"):
        t_square, z_square = (t**2).sum(axis=1), (z**2).sum(axis=1)
        distance = t_square - 2 * (z @ t.T) + z_square[:, None]
        reach = np.sqrt(t_square.max()) + np.sqrt(z_square)
        a = (t.shape[1] + 4) * UNIT_ROUNDOFF_64 * reach**2
        error = 2 * np.expm1(kernel.gamma * a)
        values = np.exp(-kernel.gamma * np.maximum(distance, 0.0))
    return values, error


def self_values(kernel: Kernel, X: Float64Array) -> Float64Array:
    """Return K(x, x) of every row, shape (n,)."""
    if isinstance(kernel, Rbf):
        return np.ones(len(X))
    squares = (X * X).sum(axis=1)
    # Every other kernel is a function of the inner product <s, x> alone.
    return kernel.values(np.ones((1, 1)), squares[:, None])[:, 0]
