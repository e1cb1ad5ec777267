"""Norms of the orders of an expansion about a centre, with their rounding."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from kmcompile.exits.certified import expansion_moments
from kmcompile.exits.certified.eigenvalues import largest_eigenvalue
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

N_SQUARES = 5
"""Number of orders, from the third on, whose bounds depend on the direction of v."""

BLOCK_ROWS = 512

_GROUP_BYTES = 1 << 28
"""Most bytes of the matrices B^T B of all orders that are summed together; it limits the rows of a
group."""

_LITTLE = 0.01
"""The last orders are bounded by Frobenius norms if these are together at most this share of the
orders from the third on, at the radius."""


class Norms(NamedTuple):
    """What `Expansion` has under the same names."""

    squares: Float64Array
    squares_error: Float64Array
    norms: Float64Array
    tail: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The terms of some rows, over the vectors that have a coefficient in each of them.

    Parameters
    ----------
    t : ndarray of shape (m, n_features), float64
        sqrt(2 gamma) t_i.
    beta, c : ndarray of shape (n_rows, m), float64
    negligible : float
        Kernels of vectors with gamma |t|^2 beyond this do not count.
    by_moments : bool
        Whether the norms come from moments, not from pairs of vectors.
    """

    t: Float64Array
    beta: Float64Array
    c: Float64Array
    negligible: float
    by_moments: bool = False


def norms_of(terms: Terms, scale: float, radius: float, order: int) -> Norms:
    """Return the norms of all rows up to an order.

    A row is summed over its own vectors: in one-vs-one, those of two classes. Rows with the same
    vectors are summed together as far as their matrices of all orders fit into memory.

    Parameters
    ----------
    terms : Terms
    scale : float
        2 gamma.
    radius : float
        R, at which orders are compared with each other.
    order : int
        K.
    """
    n_rows, n = len(terms.c), terms.t.shape[1]
    found = Norms(
        np.empty((n_rows, N_SQUARES, n, n)),
        np.empty((n_rows, N_SQUARES)),
        np.empty((n_rows, order - 2)),
        np.empty(n_rows),
    )
    most = group_rows(n, order - 2)
    for rows, own in _alike(terms.beta != 0):
        for first in range(0, len(rows), most):
            some = rows[first : first + most]
            mine = Terms(
                terms.t[own],
                terms.beta[np.ix_(some, own)],
                terms.c[np.ix_(some, own)],
                terms.negligible,
                terms.by_moments,
            )
            for whole, part in zip(found, _of_group(mine, scale, radius, order), strict=True):
                whole[some] = part
    return found


def group_rows(n_features: int, n_orders: int) -> int:
    """Return how many rows' matrices of all orders are in memory at a time."""
    return max(1, _GROUP_BYTES // (8 * n_orders * n_features**2))


def _alike(used: NDArray[np.bool_]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the rows that are true in the same columns, with these columns."""
    rows: dict[bytes, list[int]] = {}
    for number, row in enumerate(used):
        rows.setdefault(np.packbits(row).tobytes(), []).append(number)
    return [(np.array(same), np.flatnonzero(used[same[0]])) for same in rows.values()]


def _of_group(terms: Terms, scale: float, radius: float, order: int) -> Norms:
    """Return the norms of rows over the same vectors.

    B^T B is summed from <t_i, t_j>^(k-1), which has a relative error of (k - 1)(n + 2) u of the
    norms' product, by two sums of m terms. Each entry is therefore off by gamma_N times an entry of
    a nonnegative matrix. This matrix has a spectral norm of at most a_k^2, where a_k = g_k sum_i
    |c_i| |t_i|^k and N = 2 m + k (n + 4) + 8. The same holds of its trace
    g_k^2 sum_ij c_i c_j <t_i, t_j>^k, the square of a Frobenius norm. From moments, N is that of
    `expansion_moments.roundings`.
    """
    t, beta, c = terms.t, terms.beta, terms.c
    n_rows, (m, n) = len(c), t.shape
    length = np.sqrt((t**2).sum(axis=1))
    k = np.arange(3, order + 1)
    factor = scale ** (k / 2) / np.array([float(factorial(each)) for each in k])
    powers = expansion_moments.powers(length, order) if terms.by_moments else length[:, None] ** k
    size = factor * (np.abs(c) @ powers)
    if terms.by_moments:
        moments = expansion_moments.moments(t, c, order)
        roundings = expansion_moments.roundings(m, n, order) * UNIT_ROUNDOFF_64
        traces = expansion_moments.traces(moments, n)
        tail = expansion_moments.tail(t, c, np.sqrt(scale) * radius, order)
        tail /= radius ** (order + 1)
    else:
        roundings = (2 * m + k * (n + 4) + 8) * UNIT_ROUNDOFF_64
        traces, normal = _traces(t, beta, c, order)
        tail = _tail(terms, normal, scale, radius, order)
    errors = 2 * roundings * size**2
    norms = np.sqrt(np.maximum(factor**2 * traces, 0.0) + errors)
    last = _last_in_full(norms * radius**k, order)
    squares = (
        expansion_moments.squares(moments, n, last) if terms.by_moments else _squares(t, c, last)
    )
    squares *= (factor[: last - 2] ** 2)[:, None, None]
    for row in range(n_rows):
        for which in range(last - 2):
            square = (squares[row, which] + squares[row, which].T) / 2
            squares[row, which] = square
            largest = max(largest_eigenvalue(square), 0.0) + errors[row, which]
            norms[row, which] = min(norms[row, which], np.sqrt(largest))
    kept = squares[:, :N_SQUARES]
    return Norms(kept, errors[:, :N_SQUARES], norms * (1 + 1e-9), tail)


def _tail(
    terms: Terms, square: Float64Array, scale: float, radius: float, order: int
) -> Float64Array:
    """Return the tails, given the computed |W|^2.

    |W|^2 = sum beta_i beta_j exp(-gamma |t_i - t_j|^2) is off by at most (N + 4 gamma |t|^2 n) u
    (sum |beta|)^2; kernels of distant vectors do not count in |t|.
    """
    m, n = terms.t.shape
    rest = 2 * m + 16 + 8 * (n + 8) * terms.negligible
    total = np.abs(terms.beta).sum(axis=1)
    normal = np.sqrt(np.maximum(square, 0.0) + rest * UNIT_ROUNDOFF_64 * total**2)
    y = scale * radius**2
    first = np.exp(0.5 * ((order + 1) * np.log(scale) - gammaln(order + 2)))
    tail: Float64Array = normal * first / np.sqrt(1 - y / (order + 2)) * (1 + 1e-9)
    return tail


def _last_in_full(sizes: Float64Array, order: int) -> int:
    """Return the last order whose matrix is needed, given Frobenius norms at the radius."""
    behind = np.cumsum(sizes[:, ::-1], axis=1)[:, ::-1]  # of each order and all after it
    shares = (behind / np.maximum(behind[:, :1], np.finfo(np.float64).tiny)).max(axis=0)
    first = int((shares > _LITTLE).sum())  # the shares decrease
    return min(order, max(first, N_SQUARES) + 2)


def _traces(
    t: Float64Array, beta: Float64Array, c: Float64Array, order: int
) -> tuple[Float64Array, Float64Array]:
    """Return sum_ij c_i c_j <t_i, t_j>^k of the orders k from 3 on, and |W|^2, of each row."""
    length = (t**2).sum(axis=1)
    traces, normal = np.zeros((len(c), order - 2)), np.zeros(len(c))
    for start in range(0, len(t), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        gram = t[part] @ t.T
        exponent = gram - length[part, None] / 2 - length / 2
        kernels = np.exp(np.minimum(exponent, 0.0))
        normal += ((beta @ kernels.T) * beta[:, part]).sum(axis=1)
        power = gram * gram
        for k in range(order - 2):
            power *= gram
            traces[:, k] += ((c @ power.T) * c[:, part]).sum(axis=1)
    return traces, normal


def _squares(t: Float64Array, c: Float64Array, last: int) -> Float64Array:
    """Return sum_ij c_i c_j <t_i, t_j>^(k-1) t_i t_j^T of the orders 3 .. last, for each row."""
    m, n = t.shape
    weighted = np.ascontiguousarray((c[:, :, None] * t).transpose(1, 0, 2)).reshape(m, len(c) * n)
    squares = np.zeros((len(c), last - 2, n, n))
    for start in range(0, m, BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        gram = t[part] @ t.T
        power = gram.copy()
        for k in range(last - 2):
            power *= gram
            product = power @ weighted
            for row in range(len(c)):
                own = slice(row * n, (row + 1) * n)
                squares[row, k] += weighted[part, own].T @ product[:, own]
    return squares
