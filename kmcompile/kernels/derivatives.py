"""Derivatives of kernels with respect to a vector, for the search of vectors."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from kmcompile.kernels import Kernel, Linear, Poly, Rbf
from kmcompile.numeric.arrays import Float64Array


@singledispatch
def gradient(kernel: Kernel, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
    """Return sum_i C_ji dK(z, x_i)/dz at z = z_j, shape (n_z, n_features).

    Parameters
    ----------
    kernel : Kernel
    Z : ndarray of shape (n_z, n_features), float64
    X : ndarray of shape (n_x, n_features), float64
    C : ndarray of shape (n_z, n_x), float64

    Raises
    ------
    NotImplementedError
        For a kernel that has no derivative here.
    """
    raise NotImplementedError(f"the {kernel.name} kernel has no derivative here")


def has_gradient(kernel: Kernel) -> bool:
    """Return whether `gradient` knows the derivative of a kernel."""
    return gradient.dispatch(type(kernel)) is not gradient.dispatch(Kernel)


@gradient.register
def _rbf(kernel: Rbf, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
    """dK/dz = 2 gamma K (x - z)."""
    squares = (Z * Z).sum(axis=1)[:, None] - 2 * (Z @ X.T) + (X * X).sum(axis=1)
    weighted = C * (2 * kernel.gamma) * np.exp(-kernel.gamma * np.maximum(squares, 0.0))
    result: Float64Array = weighted @ X - weighted.sum(axis=1)[:, None] * Z
    return result


@gradient.register
def _poly(kernel: Poly, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
    """dK/dz = degree gamma (gamma <z, x> + coef0)^(degree - 1) x."""
    if kernel.degree == 0:
        return np.zeros_like(Z)
    inner = (kernel.gamma * (Z @ X.T) + kernel.coef0) ** (kernel.degree - 1)
    result: Float64Array = (C * inner) @ X * (kernel.degree * kernel.gamma)
    return result


@gradient.register
def _linear(kernel: Linear, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
    """dK/dz = x."""
    result: Float64Array = C @ X
    return result


def self_gradient(kernel: Kernel, Z: Float64Array) -> Float64Array:
    """Return dK(z, z)/dz of every row: by symmetry twice dK(z, x)/dz at x = z."""
    rows = [gradient(kernel, z[None], z[None], np.full((1, 1), 2.0)) for z in Z]
    return np.concatenate(rows) if rows else np.zeros_like(Z)
