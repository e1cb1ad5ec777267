"""The Taylor expansion of an rbf machine about a centre, with error bounds for all orders."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from kmcompile.exits.certified.eigenvalues import extreme_eigenvalues
from kmcompile.exits.certified.expansion_moments import by_moments
from kmcompile.exits.certified.expansion_norms import Terms, norms_of
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

LARGEST_EXPONENT = 8.0
"""Largest 2 gamma R^2: with a larger R the expansion needs too many orders."""

_NEGLIGIBLE = 40.0
"""A vector whose kernel is at most exp(-40) everywhere within R is left out of an expansion and
counted as an error."""

_TAIL = 2.0**-14
_TAIL_OF_MANY = 2.0**-16
"""Where sum |beta| bounds the tail in the place of |W|, which may be a hundred times less."""

_LEAST_ORDER = 8


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
    `expansion_norms`.

    Parameters
    ----------
    centre : ndarray of shape (n_features,), float64
        c, exactly a float32.
    gamma, radius : float
        R is the largest |v| of interest.
    constant : ndarray of shape (n_rows,), float64
    linear : ndarray of shape (n_rows, n_features), float64
    quadratic : ndarray of shape (n_rows, n_features, n_features), float64
    ends : ndarray of shape (n_rows, 2), float64
        The smallest and the largest eigenvalue of `quadratic`, as LAPACK finds them.
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
    ends: Float64Array
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
    vectors: Vectors, decisions: NDArray[np.int64], centre: Float64Array, radius: float
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
    n_vectors, n_features = vectors.support_vectors.shape
    many = by_moments(n_vectors, n_features, MOST_ORDER_OF_MANY)
    order = last_order(2 * g * radius**2, _TAIL_OF_MANY if many else _TAIL)
    quadratic = np.stack([_quadratic(row, t) for row in 2 * g**2 * c])
    terms = Terms(np.sqrt(2 * g) * t, beta, c, _NEGLIGIBLE, many)
    squares, squares_error, norms, tail = norms_of(terms, 2 * g, radius, order)
    return Expansion(
        centre=centre,
        gamma=g,
        radius=radius,
        constant=c.sum(axis=1),
        linear=2 * g * (c @ t),
        quadratic=quadratic,
        ends=np.array([extreme_eigenvalues(form) for form in quadratic]),
        squares=squares,
        squares_error=squares_error,
        norms=norms,
        tail=tail,
        error=error * (1 + 1e-9),
    )


def _quadratic(c: Float64Array, t: Float64Array) -> Float64Array:
    """Return sum_i c_i t_i t_i^T, exactly symmetric."""
    own = np.flatnonzero(c)
    form = (t[own].T * c[own]) @ t[own]
    symmetric: Float64Array = (form + form.T) / 2
    return symmetric


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


def last_order(y: float, tail: float = _TAIL) -> int:
    """Return the last order K: the orders above it are at most a share of |W|."""
    k = max(_LEAST_ORDER, ceil(y))
    while 0.5 * ((k + 1) * np.log(max(y, 1e-300)) - gammaln(k + 2)) > np.log(tail):
        k += 1
    return k


MOST_ORDER = last_order(LARGEST_EXPONENT)
MOST_ORDER_OF_MANY = last_order(LARGEST_EXPONENT, _TAIL_OF_MANY)
"""The largest K of an expansion by pairs of vectors, and of one by moments."""
