"""Taylor expansions of f = sum_i beta_i K(s_i, z) + b on cells, with proved errors.

On a cell with centre c and half-widths h, the prepared input is z = z_c + V y with V = A diag(h)
and |y_j| <= 1. An expansion is a polynomial in y of total degree K. Below, n = K + 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kmcompile.exits.certified.monomials import Monomials
from kmcompile.kernels import Kernel
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

UP = 1.0 + 1e-9
"""Covers the float64 rounding of a bound, a sum of positive terms."""
INFLATED = 1.0 + 2.0**-8
"""Factor on a cell's half-widths: `sign_map` enlarges cells to cover the rounding of an input's
position."""
_PAIRS = 1 << 16
"""Pairs of a cell and a vector that are expanded at a time."""
_CRAMER = 1.0865
"""|H_n(y)| <= 1.0865 sqrt(2^n n!) exp(y^2 / 2): Abramowitz and Stegun 22.14.17."""


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Expansions of single kernels on cells, with bounds on their errors.

    Parameters
    ----------
    coefficients : ndarray of shape (n_monomials, n_cells, n_sv), float64
    roundings : float
        The errors of all coefficients of a kernel add up to at most `roundings` u `majorant`.
    majorant : ndarray of shape (n_cells, n_sv), float64
        Upper bound on the sum of the coefficients' magnitudes and of all intermediate sums.
    rest : ndarray of shape (n_cells, n_sv), float64
        Upper bound on the remainder of the Taylor expansion on the cell.
    """

    coefficients: Float64Array
    roundings: float
    majorant: Float64Array
    rest: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """The decision f on cells as a polynomial: |f - polynomial| <= error for every input."""

    coefficients: Float64Array
    error: Float64Array


def expand(
    expansions: RbfExpansions,
    dual_coef: Float64Array,
    intercept: float,
    centres: Float64Array,
    V: Float64Array,
    deviation: float,
) -> Sum:
    """Return f = sum_i beta_i K_i + b on cells of one shape.

    The sum over m vectors and the rounding of beta bring an error of at most (m + 3) u
    sum |beta| majorant, the intercept u |b| (Higham, eq. 3.5). A deviation of z moves f by at most
    the deviation times the slope of f.

    Parameters
    ----------
    dual_coef : ndarray of shape (n_sv,), float64
    centres : ndarray of shape (n_cells, n_prepared), float64
    V : ndarray of shape (n_prepared, n_variables), float64
    deviation : float
        `LinearInput.deviation`.
    """
    weights = np.abs(dual_coef)
    coefficients = np.empty((len(centres), len(expansions.basis.total)))
    error = np.empty(len(centres))
    for part in _blocks(len(centres), len(dual_coef)):
        terms = expansions.terms(centres[part], V)
        coefficients[part] = (terms.coefficients @ dual_coef).T
        rounded = (terms.roundings + len(dual_coef) + 3) * UNIT_ROUNDOFF_64
        moved = deviation * expansions.slope
        with np.errstate(invalid="ignore"):  # infinite bounds give NaN, which proves nothing
            error[part] = (rounded * terms.majorant + terms.rest + moved) @ weights * UP
    coefficients[:, 0] += intercept
    error += 2 * UNIT_ROUNDOFF_64 * np.abs(coefficients[:, 0])
    return Sum(coefficients, error + 1e-200 * weights.sum())


def _blocks(n_cells: int, n_vectors: int) -> Iterator[slice]:
    rows = max(1, _PAIRS // n_vectors)
    return (slice(start, start + rows) for start in range(0, n_cells, rows))


class RbfExpansions:
    """Taylor expansions of exp(-gamma |z - s|^2) about the centres of cells, u = z_c - s.

    K = exp(-gamma |u|^2 + b.y + y.G y / 2) with b = -2 gamma V'u and G = -2 gamma V'V, so that
    dK/dy_j = (b_j + sum_k G_jk y_k) K: a_j c_a = b_j c_(a - j) + sum_k G_jk c_(a - j - k).

    Remainder: along y the kernel is exp(-gamma p^2) g(t), g(t) = exp(-(t sqrt(gamma) |V y| + w)^2),
    p and w / sqrt(gamma) the parts of u across and along V y, with g^(n) = (sqrt(gamma) |V y|)^n
    (-1)^n H_n(w) exp(-w^2). By Lagrange's form it is at most r^n / n! times the largest
    |H_n(w)| exp(-w^2 - gamma p^2) on the cell, r >= sqrt(gamma) |V y|, which is at most both

    - 2^n Gamma((n + 1) / 2) / sqrt(pi), for H_n(w) exp(-w^2) is 2^n / sqrt(pi) times the integral
      of t^n exp(-t^2) cos(2 w t - n pi / 2) over t from 0 to infinity, times 2 (Abramowitz and
      Stegun 22.10.15); for even n it is |H_n(0)|;
    - 1.0865 sqrt(2^n n!) exp(-gamma d^2 / 2), d the distance of s from the cell (Cramer).

    Rounding: with |b|, |G| in the place of b, G the recurrence gives what sums up to at most
    majorant = exp(-gamma |u|^2 + |b|_1 + |G|_1 / 2). Each of at most K steps rounds a sum of
    n_variables + 1 products, b_j and G_jk (themselves n_prepared + 3 roundings) and a quotient:
    n_variables + n_prepared + 8 u at the most. exp is within 8 u (4 ulp), and its argument's
    n_prepared + 4 roundings are as many times 750 u, since exp(-750) is 0.
    A kernel value that underflows to 0 is below 1e-200 where r <= 2.

    Parameters
    ----------
    kernel : Kernel
        A Gaussian one.
    vectors : ndarray of shape (n_sv, n_prepared), float64
    basis : Monomials
    """

    def __init__(self, kernel: Kernel, vectors: Float64Array, basis: Monomials) -> None:
        self.vectors, self.basis, self.gamma = vectors, basis, kernel.gaussian_gamma
        self.degree = int(basis.total[-1])

    def terms(self, centres: Float64Array, V: Float64Array) -> Terms:
        """Return the expansions of K(s_i, .) on cells of one shape.

        Parameters
        ----------
        centres : ndarray of shape (n_cells, n_prepared), float64
        V : ndarray of shape (n_prepared, n_variables), float64
        """
        gamma, (n_prepared, n_variables) = self.gamma, V.shape
        u = centres[:, None, :] - self.vectors
        square = gamma * (u * u).sum(axis=2)
        G = -2 * gamma * (V.T @ V)
        b = np.moveaxis(-2 * gamma * (u @ V), 2, 0)
        outside = np.abs(V) * INFLATED
        steep = 2 * gamma * (np.abs(u) @ outside).sum(axis=2)
        wide = gamma * (outside.sum(axis=1) ** 2).sum()
        coefficients = self._recurrence(np.exp(-square), b, G)
        per_step = self.degree * (n_variables + n_prepared + 8)
        r = float(np.sqrt(wide))
        return Terms(
            coefficients,
            roundings=per_step + 8 + 750 * (n_prepared + 4),
            majorant=np.exp(-square + steep + wide) * UP
            if r <= 2
            else np.full_like(square, np.inf),
            rest=self._rest(square, reach(V, gamma)),
        )

    def _recurrence(self, first: Float64Array, b: Float64Array, G: Float64Array) -> Float64Array:
        exponents = self.basis.exponents
        places = {tuple(a): place for place, a in enumerate(exponents.tolist())}
        c = np.empty((len(exponents), *first.shape))
        c[0] = first
        for place, a in enumerate(exponents.tolist()):
            if place == 0:
                continue
            j = int(np.argmax(a))
            a[j] -= 1
            total = b[j] * c[places[tuple(a)]]
            for k, exponent in enumerate(a):
                if exponent > 0 and G[j, k] != 0:
                    a[k] -= 1
                    total += G[j, k] * c[places[tuple(a)]]
                    a[k] += 1
            c[place] = total / (a[j] + 1)
        return c

    def _rest(self, square: Float64Array, r: float) -> Float64Array:
        """Return the remainders, given gamma |u|^2 and r >= sqrt(gamma) |V y|."""
        n = self.degree + 1
        everywhere = 2.0**n * math.gamma((n + 1) / 2) / math.sqrt(math.pi)
        away = np.maximum(0.0, np.sqrt(square) * (1 - 1e-9) - r)
        falling = _CRAMER * math.sqrt(2.0**n * math.factorial(n)) * np.exp(-(away**2) / 2)
        rest: Float64Array = r**n / math.factorial(n) * np.minimum(everywhere, falling) * UP
        return rest

    @property
    def slope(self) -> float:
        """A bound on |dK_i / dz|: the slope of exp(-gamma d^2) is at most sqrt(2 gamma / e)."""
        return math.sqrt(self.gamma)


def reach(V: Float64Array, gamma: float) -> float:
    """Return the largest sqrt(gamma) |V y| of a cell and the rounding margin on it, rounded up."""
    n_variables = V.shape[1]
    corners = np.array(
        [[1 - 2 * (part >> j & 1) for j in range(n_variables)] for part in range(2**n_variables)]
    )
    largest = np.sqrt(((corners @ V.T) ** 2).sum(axis=1)).max()
    return float(math.sqrt(gamma) * largest * INFLATED * UP)
