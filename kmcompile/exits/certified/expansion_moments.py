"""Norms of an expansion's orders from moments: for few features and many vectors.

With moments M_a = sum_i c_i t_i^a,

    sum_ij c_i c_j <t_i, t_j>^k = sum_(|a| = k) k! / a! M_a^2,
    sum_ij c_i c_j <t_i, t_j>^(k-1) t_i t_j^T = sum_(|b| = k - 1) (k-1)! / b! g_b g_b^T

where g_b has the moments of b and one more of each feature. This takes m operations for each moment
in the place of m^2 for each order.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array

MANY = 1000
"""Number of vectors of a machine above which its norms come from moments, if these are fewer."""

MOST_MOMENTS = 1 << 17
BLOCK_VALUES = 1 << 18
_FURTHER = 64
"""Orders behind K that are summed one by one; each later one is at most half of that before it."""


def by_moments(n_vectors: int, n_features: int, order: int) -> bool:
    """Return whether the norms up to an order come from moments, not from pairs of vectors."""
    return n_vectors > MANY and n_moments(n_features, order) <= min(MOST_MOMENTS, order * n_vectors)


def n_moments(n_features: int, order: int) -> int:
    """Return the number of moments up to an order."""
    return comb(n_features + order, order)


class Inner(NamedTuple):
    """The monomials of all features but the first, up to an order, by increasing order.

    Parameters
    ----------
    exponents : ndarray of shape (n, n_features - 1), intp
    order : ndarray of shape (n,), intp
    parts : tuple of tuple of int
        For each order from 1 on and each feature, how many monomials of the order before it times
        the feature are the next ones.
    times : ndarray of shape (n below the last order, n_features - 1), intp
        The place of a monomial times each feature.
    """

    exponents: NDArray[np.intp]
    order: NDArray[np.intp]
    parts: tuple[tuple[int, ...], ...]
    times: NDArray[np.intp]


@lru_cache(maxsize=8)
def inner_monomials(n_features: int, last: int) -> Inner:
    """Return the monomials of the features but the first up to an order."""
    n = n_features - 1
    rows = [
        tuple(chosen.count(d) for d in range(n))
        for k in range(last + 1)
        for chosen in sorted(
            combinations_with_replacement(range(n), k), key=lambda chosen: chosen[::-1]
        )
    ]
    places = {row: place for place, row in enumerate(rows)}
    exponents = np.array(rows, dtype=np.intp).reshape(len(rows), n)
    times = [
        [places[(*row[:d], row[d] + 1, *row[d + 1 :])] for d in range(n)]
        for row in rows
        if sum(row) < last
    ]
    parts = tuple(tuple(comb(k - 1 + d, d) for d in range(n)) for k in range(1, last + 1))
    return Inner(
        exponents,
        exponents.sum(axis=1),
        parts,
        np.array(times, dtype=np.intp).reshape(len(times), n),
    )


def moments(t: Float64Array, c: Float64Array, order: int) -> Float64Array:
    """Return the moments of some rows up to an order.

    Parameters
    ----------
    t : ndarray of shape (m, n_features), float64
    c : ndarray of shape (n_rows, m), float64
    order : int

    Returns
    -------
    ndarray of shape (n_rows, order + 1, n_inner), float64
        By the exponent of the first feature and the monomial of the others; 0 above the order.
    """
    inner = inner_monomials(t.shape[1], order)
    found = np.zeros((len(c), order + 1, len(inner.order)))
    ends = np.searchsorted(inner.order, np.arange(order + 2))
    rows = max(16, BLOCK_VALUES // max(ends[-1] - ends[-2], len(c) * (order + 1)))
    for start in range(0, len(t), rows):
        part = slice(start, start + rows)
        powers = np.cumprod(
            np.vstack([np.ones(len(t[part])), np.tile(t[part, 0], (order, 1))]), axis=0
        )
        weighted = c[:, part][:, None] * powers
        values = np.ones((1, len(t[part])))
        for k in range(order + 1):
            if k:
                of_parts = zip(inner.parts[k - 1], t[part, 1:].T, strict=True)
                values = np.concatenate([values[:0], *(values[:n] * x for n, x in of_parts)])
            own = weighted[:, : order + 1 - k].reshape(-1, len(t[part]))
            found[:, : order + 1 - k, ends[k] : ends[k + 1]] += (own @ values.T).reshape(
                len(c), order + 1 - k, -1
            )
    return found


def traces(found: Float64Array, n_features: int) -> Float64Array:
    """Return sum_ij c_i c_j <t_i, t_j>^k of the orders k from 3 on, for each row."""
    last = found.shape[1] - 1
    inner = inner_monomials(n_features, last)
    traces = np.zeros((len(found), last - 2))
    for k in range(3, last + 1):
        n, weights = _weights(inner, k)
        traces[:, k - 3] = found[:, k - inner.order[:n], np.arange(n)] ** 2 @ weights
    return traces


def squares(found: Float64Array, n_features: int, last: int) -> Float64Array:
    """Return sum_ij c_i c_j <t_i, t_j>^(k-1) t_i t_j^T of the orders 3 .. last, for each row."""
    inner = inner_monomials(n_features, found.shape[1] - 1)
    squares = np.zeros((len(found), last - 2, n_features, n_features))
    for k in range(3, last + 1):
        n, weights = _weights(inner, k - 1)
        first = k - 1 - inner.order[:n]
        by_first = found[:, first + 1, np.arange(n)]
        by_others = found[:, first[:, None], inner.times[:n]]
        own = np.concatenate([by_first[:, :, None], by_others], axis=2)
        squares[:, k - 3] = (own * weights[:, None]).transpose(0, 2, 1) @ own
    return squares


def _weights(inner: Inner, k: int) -> tuple[int, Float64Array]:
    """Return the number of monomials of order k, and k! / a! of each."""
    n = int(np.searchsorted(inner.order, k, side="right"))
    factorials = np.array([float(factorial(each)) for each in range(k + 1)])
    others = factorials[inner.exponents[:n]].prod(axis=1)
    return n, factorials[k] / (others * factorials[k - inner.order[:n]])


def powers(length: Float64Array, order: int) -> Float64Array:
    """Return length^k of the orders k = 3 .. order, shape (m, order - 2)."""
    columns = np.empty((order - 2, len(length)))
    columns[0] = length**3
    for k in range(1, order - 2):
        np.multiply(columns[k - 1], length, out=columns[k])
    return columns.T


def roundings(n_vectors: int, n_features: int, order: int) -> Float64Array:
    """Return how many roundings the sums of the orders 3 .. order have.

    A moment is a sum of m products of k + 1 numbers. Its square, times a weight of n_features + 2
    roundings, is one of the positive terms of an order. So each sum is off by so many u times the
    sum over all pairs of |c_i c_j| <|t_i|, |t_j|>^k, which is at most (sum_i |c_i| |t_i|^k)^2.
    """
    k = np.arange(3, order + 1)
    terms = np.array([comb(n_features - 1 + each, each) for each in k.tolist()])
    counts: Float64Array = 2.0 * (n_vectors + k) + terms + n_features + 8
    return counts


def tail(t: Float64Array, c: Float64Array, reach: float, order: int) -> Float64Array:
    """Return a bound on sum_(k > order) sum_i |c_i| (|t_i| reach)^k / k!, for each row.

    All terms are positive: their rounding is less than 1e-9 of them.
    """
    z = np.sqrt((t**2).sum(axis=1)) * reach
    term = np.ones(len(z))
    for k in range(1, order + 1):
        term *= z / k
    total = np.zeros(len(z))
    for k in range(order + 1, order + 1 + _FURTHER):
        term *= z / k
        total += term
    total += np.where(2 * z <= order + _FURTHER, term, np.inf)
    bound: Float64Array = np.abs(c) @ total * (1 + 1e-9)
    return bound
