"""The two bounds of a local expansion: a linear one, and one with quadratic forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar.root_bound import root_bound
from kmcompile.program.stages.early_exits.nearest_centre import Local

N_CONSTANTS = 10
"""Number of constants of a row: C, m, r1 .. r6, d and the part of `minimum`."""
N_CURVED = 12
"""Number of constants of a row of the last level: m, r1, r2, r8, d, `minimum`, t, t', a4 .. a7."""


def linear_bound(
    rows: Float32Array, dot: Float32Array, local: Local, deviation: Float32Array
) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array]:
    """Return C + <w, v>, h^, E and the least bound of the linear test (`LocalExpansion`).

    Parameters
    ----------
    rows : ndarray of shape (n_queries, n_rows, N_CONSTANTS), float32
        The constants of each query's centre.
    dot : ndarray of shape (n_queries, n_rows), float32
        <w, v>.
    local : Local
    deviation : ndarray of shape (n_queries,), float32
        delta.
    """
    constant, curvature, r1, r2, r3, r4, r5, r6, per_deviation, minimum = rows.transpose(2, 0, 1)
    p, delta = local.reach[:, None], deviation[:, None]
    base = constant + dot
    h = base + curvature * local.square[:, None]
    error = (((((r6 * p + r5) * p + r4) * p + r3) * p + r2) * p + r1) * p + per_deviation * delta
    return base, h, error, minimum


def curved_bound(
    rows: Float32Array,
    base: Float32Array,
    forms: tuple[Float32Array, ...],
    local: Local,
    deviation: Float32Array,
) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return h^, E and the least bound of the curved test (`LocalExpansion`).

    Parameters
    ----------
    rows : ndarray of shape (n_queries, n_rows, N_CURVED), float32
    base : ndarray of shape (n_queries, n_rows), float32
        C + <w, v>.
    forms : three ndarray of shape (n_queries, n_rows), float32
        <y, Q y>, <y, P y> and <y, T y>.
    local : Local
    deviation : ndarray of shape (n_queries,), float32
    """
    middle, half, cubic = forms
    curvature, r1, r2, r8, per_deviation, minimum, t, t_deviation, a4, a5, a6, a7 = rows.transpose(
        2, 0, 1
    )
    p, delta = local.reach[:, None], deviation[:, None]
    square = p * p
    h = (base + middle) + curvature * local.square[:, None]
    inside = (cubic + t * square) + t_deviation * delta
    factor = ((a7 * square + a6) * square + a5) * square + a4
    inside = (factor * square + np.float32(1.0)) * inside
    root = root_bound(np.maximum(inside, np.float32(0.0)))
    high = ((r8 * square) * square) * square
    error = (((high + r2) * p + r1) * p + per_deviation * delta) + half
    return h, error + square * root, minimum


def form(triangle: Float32Array, own: NDArray[np.intp], y: Float32Array) -> Float32Array:
    """Return <y, Q y>, shape (n_queries, n_rows); Q has the elements triangle[:, own].

    Parameters
    ----------
    triangle : ndarray of shape (n (n + 1) / 2, n_centres, n_rows), float32
        The upper triangle, row by row, the elements beside the diagonal doubled.
    own : ndarray of shape (n_queries,), intp
    y : ndarray of shape (n_queries, n), float32
    """
    total = np.zeros((len(own), triangle.shape[2]), dtype=np.float32)
    at, n = 0, y.shape[1]
    for i in range(n):
        inner = np.zeros_like(total)
        for j in range(i, n):
            inner += triangle[at][own] * y[:, j, None]
            at += 1
        total += inner * y[:, i, None]
    return total
