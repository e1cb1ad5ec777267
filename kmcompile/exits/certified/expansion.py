"""The Taylor expansion of an rbf machine about a centre, with error bounds for all orders."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, factorial

import numpy as np
from scipy.special import gammaln

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

LARGEST_EXPONENT = 8.0
"""Largest 2 gamma R^2: with a larger R the expansion needs too many orders."""

_NEGLIGIBLE = 40.0
"""A vector whose kernel is at most exp(-40) everywhere within R is left out of an expansion and
counted as an error."""

_TAIL = 2.0**-14
_LEAST_ORDER = 8

N_SQUARES = 5
"""Number of orders, from the third on, whose bounds depend on the direction of v."""

BLOCK_ROWS = 512

_GROUP_BYTES = 1 << 28
"""Most bytes of the matrices B^T B of all orders that are summed together; it limits the rows of a
group."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The vectors and coefficients of the sum sum_i beta_pi exp(-gamma |s_i - x|^2).

    Parameters
    ----------
    gamma : float
    support_vectors : ndarray of shape (n_sv, n_features), float64
    coefficients : ndarray of shape (n_decisions, n_sv), float64
    """

    gamma: float
    support_vectors: Float64Array
    coefficients: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """f_p - b_p = exp(-gamma |v|^2) h_p(v), v = x - c, for |v| <= R.

    With t_i = s_i - c and c_pi = beta_pi exp(-gamma |t_i|^2) (safe weight-folding, DeCoste 2001,
    section 3.2: there the centre is the origin and the kernel polynomial)

        h_p(v) = sum_i c_pi exp(2 gamma <t_i, v>) = C_p + <w_p, v> + <v, M_p v> + orders from 3 on.

    Order k is g_k sum_i c_pi <t_i, v>^k with g_k = (2 gamma)^k / k!. It equals <v^(k-1), B v> with
    B = g_k sum_i c_pi t_i^(k-1) t_i^T, tensor powers flattened. So it is at most |B|_2 |v|^k, and
    B^T B = g_k^2 sum_ij c_i c_j <t_i, t_j>^(k-1) t_i t_j^T is only n_features wide.

    All orders above K together are an inner product in the feature space of exp(2 gamma <., .>), of
    components of sum_i c_i phi(t_i) and phi(v). So they are at most |W| sqrt(sum_(k > K) y^k / k!)
    with y = 2 gamma |v|^2 and |W|^2 = beta^T K beta. The sum over k is at most its first term over
    1 - y / (K + 2).

    Rounding in float64, u = 2^-53. The computed c_i and t_i, and so C, w and M, belong to slightly
    different coefficients and exponents. A kernel within R is at most k_i =
    exp(-gamma (|t_i| - R)^2) (1 for |t_i| <= R). Its exponent is off by at most
    (n + 16) u gamma (|t_i| + R)^2, and by 8 u gamma (|t_i| + R) |s_i| from the rounding of earlier
    passes. A sum of m terms is off by m u times sum |c_i| (1 + y + y^2 / 2), y = 2 gamma R |t_i|,
    which is at most sum |beta_i| k_i. All these errors change f by at most `error`, which also
    covers kernels that are left out. The norms include the rounding of their matrices: see
    `_norms_of_group`.

    Parameters
    ----------
    centre : ndarray of shape (n_features,), float64
        c, exactly a float32.
    gamma, radius : float
        R is the largest |v| of interest.
    constant : ndarray of shape (n_rows,), float64
    linear : ndarray of shape (n_rows, n_features), float64
    quadratic : ndarray of shape (n_rows, n_features, n_features), float64
    squares : ndarray of shape (n_rows, N_SQUARES, n_features, n_features), float64
        B^T B of the orders 3 to 7: order k is at most
        |v|^(k-1) sqrt(<v, squares v> + squares_error |v|^2).
    squares_error : ndarray of shape (n_rows, N_SQUARES), float64
    norms : ndarray of shape (n_rows, K - 2), float64
        >= |B|_2 of the orders 3 .. K.
    tail : ndarray of shape (n_rows,), float64
        All orders above K are at most `tail` |v|^(K + 1).
    error : ndarray of shape (n_rows,), float64
        Bound on the error of f from rounding and from kernels that are left out.
    """

    centre: Float64Array
    gamma: float
    radius: float
    constant: Float64Array
    linear: Float64Array
    quadratic: Float64Array
    squares: Float64Array
    squares_error: Float64Array
    norms: Float64Array
    tail: Float64Array
    error: Float64Array

    def powers(self, radius: float, last: int = 6) -> Float64Array:
        """Return r3, r4, .. r_last: the orders from 3 on are together at most sum r_k |v|^k.

        The bound holds for |v| <= radius <= R: from order `last` on, |v|^k <= radius^(k - last)
        |v|^last.

        Returns
        -------
        ndarray of shape (n_rows, last - 2), float64
        """
        first = last - 3
        n = self.norms.shape[1] - first
        rest = self.norms[:, first:] @ radius ** np.arange(n) + self.tail * radius**n
        return np.concatenate([self.norms[:, :first], rest[:, None]], axis=1) * (1 + 1e-12)


def expand(
    vectors: Vectors, decisions: Float64Array, centre: Float64Array, radius: float
) -> Expansion:
    """Return the expansion of some decisions about a centre.

    Parameters
    ----------
    vectors : Vectors
    decisions : ndarray of shape (n_rows,), int64
    centre : ndarray of shape (n_features,), float64
        Exactly a float32.
    radius : float
        2 gamma radius^2 <= LARGEST_EXPONENT.
    """
    g = vectors.gamma
    t = vectors.support_vectors - centre
    length = np.sqrt((t**2).sum(axis=1))
    beta = vectors.coefficients[decisions]
    least = g * np.maximum(length - radius, 0.0) ** 2
    kept = _kept(least, beta)
    kernel = np.exp(-least)
    reach = g * (length + radius)
    size = np.sqrt((vectors.support_vectors**2).sum(axis=1))
    roundings = (t.shape[1] + 16) * reach * (length + radius) + 8 * reach * size + len(t) + 16
    error = np.abs(beta) @ (kernel * np.where(kept, roundings * UNIT_ROUNDOFF_64, 1.0))
    t, length, beta = t[kept], length[kept], beta[:, kept]
    c = beta * np.exp(-g * length**2)
    weighted = c[:, :, None] * t
    order = last_order(2 * g * radius**2)
    quadratic = 2 * g**2 * np.einsum("pia,ib->pab", weighted, t, optimize=True)
    linear = 2 * g * weighted.sum(axis=1)
    del weighted  # as large as the arrays that come next
    squares, squares_error, norms, normal = _norms(g, t, beta, c, order)
    y = 2 * g * radius**2
    scale = np.exp(0.5 * ((order + 1) * np.log(2 * g) - gammaln(order + 2)))
    return Expansion(
        centre=centre,
        gamma=g,
        radius=radius,
        constant=c.sum(axis=1),
        linear=linear,
        quadratic=(quadratic + quadratic.transpose(0, 2, 1)) / 2,
        squares=squares,
        squares_error=squares_error,
        norms=norms,
        tail=normal * scale / np.sqrt(1 - y / (order + 2)) * (1 + 1e-9),
        error=error * (1 + 1e-9),
    )


def kept_vectors(
    vectors: Vectors, decisions: np.ndarray, centre: Float64Array, radius: float
) -> tuple[Float64Array, Float64Array]:
    """Return t_i and c_i of the vectors that an expansion about a centre has not left out.

    Returns
    -------
    t : ndarray of shape (n_kept, n_features), float64
    c : ndarray of shape (n_rows, n_kept), float64
    """
    t = vectors.support_vectors - centre
    length = np.sqrt((t**2).sum(axis=1))
    beta = vectors.coefficients[decisions]
    kept = _kept(vectors.gamma * np.maximum(length - radius, 0.0) ** 2, beta)
    return t[kept], beta[:, kept] * np.exp(-vectors.gamma * length[kept] ** 2)


def _kept(least: Float64Array, beta: Float64Array) -> np.ndarray:
    """Return which vectors count, given the least exponents within R."""
    kept: np.ndarray = (least < _NEGLIGIBLE) & beta.any(axis=0)
    return kept


def last_order(y: float) -> int:
    """Return the last order K: the orders above it are small relative to |W|."""
    k = max(_LEAST_ORDER, ceil(y))
    while 0.5 * ((k + 1) * np.log(max(y, 1e-300)) - gammaln(k + 2)) > np.log(_TAIL):
        k += 1
    return k


def largest_eigenvalue(matrix: Float64Array) -> float:
    """Return an upper bound on the largest eigenvalue of a symmetric matrix.

    LAPACK's eigenvalues are those of a matrix that differs by at most p(n) u |A|_2, with p a modest
    function of n (Users' Guide, section 4.7). The p(n) = 16 n + 64 used here is far above observed
    errors.
    """
    values = np.linalg.eigvalsh(matrix)
    slack = (16 * len(matrix) + 64) * UNIT_ROUNDOFF_64
    return float(values[-1] + slack * max(abs(values[0]), abs(values[-1])))


def _norms(
    g: float, t: Float64Array, beta: Float64Array, c: Float64Array, order: int
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
    """Return `squares`, `squares_error` and `norms` of the expansion, and |W|.

    Works on groups of rows, so that the matrices of all orders fit into memory.
    """
    rows = group_rows(t.shape[1], order - 2)
    groups = [slice(first, first + rows) for first in range(0, len(c), rows)]
    found = [_norms_of_group(g, t, beta[group], c[group], order) for group in groups]
    squares, errors, norms, normal = (
        parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*found, strict=True)
    )
    return squares, errors, norms, normal


def group_rows(n_features: int, n_orders: int) -> int:
    """Return how many rows' matrices of all orders are in memory at a time."""
    return max(1, _GROUP_BYTES // (8 * n_orders * n_features**2))


def _norms_of_group(
    g: float, t: Float64Array, beta: Float64Array, c: Float64Array, order: int
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
    """Return `squares`, `squares_error`, `norms` and |W| for some rows.

    B^T B is summed from <t_i, t_j>^(k-1), which has a relative error of (k - 1)(n + 2) u of the
    norms' product, by two sums of m terms. Each entry is therefore off by gamma_N times an entry of
    a nonnegative matrix. This matrix has a spectral norm of at most a_k^2, where a_k = g_k sum_i
    |c_i| |t_i|^k and N = 2 m + k (n + 4) + 8.

    |W|^2 = sum beta_i beta_j exp(-gamma |t_i - t_j|^2) is off by at most (N + 4 gamma |t|^2 n) u
    (sum |beta|)^2; kernels of distant vectors do not count in |t|.
    """
    n_rows, m = c.shape
    n = t.shape[1]
    t = np.sqrt(2 * g) * t
    length = np.sqrt((t**2).sum(axis=1))
    weighted = np.ascontiguousarray((c[:, :, None] * t).transpose(1, 0, 2)).reshape(m, n_rows * n)
    squares = np.zeros((n_rows, order - 2, n, n))
    normal = np.zeros(n_rows)
    for start in range(0, m, BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        gram = t[part] @ t.T
        exponent = gram - length[part, None] ** 2 / 2 - length**2 / 2
        normal += np.einsum(
            "pi,ij,pj->p", beta[:, part], np.exp(np.minimum(exponent, 0.0)), beta, optimize=True
        )
        power = gram.copy()
        for k in range(3, order + 1):
            power *= gram
            product = power @ weighted
            for row in range(n_rows):
                own = slice(row * n, (row + 1) * n)
                squares[row, k - 3] += weighted[part, own].T @ product[:, own]
    norms, errors = np.empty((n_rows, order - 2)), np.empty((n_rows, order - 2))
    for k in range(3, order + 1):
        scale = (2 * g) ** (k / 2) / factorial(k)
        roundings = (2 * m + k * (n + 4) + 8) * UNIT_ROUNDOFF_64
        size = scale * np.abs(c) @ length**k
        errors[:, k - 3] = 2 * roundings * size**2
        for row in range(n_rows):
            square = scale**2 * squares[row, k - 3]
            square = (square + square.T) / 2
            squares[row, k - 3] = square
            norms[row, k - 3] = np.sqrt(max(largest_eigenvalue(square), 0.0) + errors[row, k - 3])
    roundings = 2 * m + 16 + 8 * (n + 8) * _NEGLIGIBLE
    size = np.abs(beta).sum(axis=1)
    normal = np.sqrt(np.maximum(normal, 0.0) + roundings * UNIT_ROUNDOFF_64 * size**2)
    kept = squares[:, :N_SQUARES].copy()  # a view would keep the matrices of all orders
    return kept, errors[:, :N_SQUARES], norms * (1 + 1e-9), normal
