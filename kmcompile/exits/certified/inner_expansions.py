"""Taylor expansions of kernels of an inner product: poly and sigmoid.

K = h(v + a.y) with v = gamma <s, z_c> + coef0 and a = gamma V's, so K = sum_j h_j(v) (a.y)^j with
h_j = h^(j) / j!, and (a.y)^j = sum over |e| = j of j! / e! a^e y^e.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.polynomial import Polynomial

from kmcompile.exits.certified.expansions import INFLATED, UP, Expansions, Terms
from kmcompile.exits.certified.monomials import Monomials
from kmcompile.kernels import Poly, Sigmoid
from kmcompile.numeric.arrays import Float64Array

_GRID = 1 << 18


class InnerExpansions(Expansions):
    """Taylor expansions of a kernel h(gamma <s, z> + coef0) about the centres of cells.

    v and a are sums of n_prepared products. Each is off by at most n_prepared + 3 roundings of the
    sum of the products' magnitudes, written |v|~ and |a|~.
    """

    def __init__(self, kernel: Poly | Sigmoid, vectors: Float64Array, basis: Monomials) -> None:
        super().__init__(vectors, basis)
        self.gamma, self.coef0 = kernel.gamma, kernel.coef0

    def terms(self, centres: Float64Array, V: Float64Array) -> Terms:
        """Return the expansions of h(gamma <s_i, z> + coef0)."""
        v = self.gamma * (centres @ self.vectors.T) + self.coef0
        a = self.gamma * (self.vectors @ V)
        outer = self.outer(v)
        coefficients = np.empty((len(self.basis.exponents), *v.shape))
        for place, exponents in enumerate(self.basis.exponents.tolist()):
            j = sum(exponents)
            ways = math.factorial(j) // math.prod(math.factorial(e) for e in exponents)
            coefficients[place] = outer[j] * (ways * np.prod(a**exponents, axis=1))
        size, step = self.sizes(centres, V)
        return Terms(coefficients, *self.errors(size, step))

    def sizes(self, centres: Float64Array, V: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return |v|~, shape (n_cells, n_sv), and |a|~ of an inflated cell, shape (n_sv,)."""
        vectors, gamma = np.abs(self.vectors), abs(self.gamma)
        size: Float64Array = gamma * (np.abs(centres) @ vectors.T) + abs(self.coef0)
        step: Float64Array = gamma * (vectors @ np.abs(V)).sum(axis=1) * INFLATED
        return size * UP, step * UP

    @abstractmethod
    def outer(self, v: Float64Array) -> list[Float64Array]:
        """Return the Taylor coefficients h_j(v) for j = 0 .. degree."""

    @abstractmethod
    def errors(
        self, size: Float64Array, step: Float64Array
    ) -> tuple[float, Float64Array, Float64Array]:
        """Return `roundings`, `majorant` and `rest` of `Terms`, given |v|~ and |a|~."""


class PolyExpansions(InnerExpansions):
    """Expansions of (gamma <s, z> + coef0)^p: h_j(v) = C(p, j) v^(p - j), exact for p <= K.

    The remainder is the sum over j > K of C(p, j) |v|~^(p - j) |a|~^j. A coefficient is a product
    of four parts: p factors v and a_j, which bring p times their roundings and one each; at most
    four powers, each within 8 u (4 ulp); and fewer than 16 other products. The magnitudes of the
    coefficients add up to at most (|v|~ + |a|~)^p.
    """

    def __init__(self, kernel: Poly, vectors: Float64Array, basis: Monomials) -> None:
        super().__init__(kernel, vectors, basis)
        self.p = kernel.degree

    def outer(self, v: Float64Array) -> list[Float64Array]:
        """Return the Taylor coefficients h_j(v) = C(p, j) v^(p - j)."""
        last = np.zeros_like(v)
        return [
            math.comb(self.p, j) * v ** (self.p - j) if j <= self.p else last
            for j in range(self.degree + 1)
        ]

    def errors(
        self, size: Float64Array, step: Float64Array
    ) -> tuple[float, Float64Array, Float64Array]:
        """Return `roundings`, `majorant` and `rest` of `Terms`, given |v|~ and |a|~."""
        p, n_prepared = self.p, self.vectors.shape[1]
        rest = np.zeros_like(size)
        for j in range(self.degree + 1, p + 1):
            rest += math.comb(p, j) * size ** (p - j) * step**j
        return p * (n_prepared + 4) + 48, (size + step) ** p * UP, rest * UP

    def slopes(self, centres: Float64Array, V: Float64Array) -> Float64Array:
        """Return the bounds p (|v|~ + |a|~)^(p - 1) gamma |s| on the slopes."""
        if self.p == 0:
            return np.zeros((1, len(self.vectors)))
        size, step = self.sizes(centres, V)
        length = np.sqrt((self.vectors**2).sum(axis=1))
        slopes: Float64Array = self.p * (size + step) ** (self.p - 1) * abs(self.gamma) * length
        return slopes * UP


class SigmoidExpansions(InnerExpansions):
    """Expansions of tanh(gamma <s, z> + coef0): h_j(v) = P_j(t) / j!, t = tanh v.

    P_0 = t and P_(j + 1) = (1 - t^2) P_j', with integer coefficients. The remainder is at most sup
    |h_n| |a|~^n (Lagrange).

    The magnitudes of the coefficients of order j add up to B_j |a|~^j, where B_j is the sum of
    P_j's magnitudes over j!. The errors of one coefficient are: Horner's 2 (j + 1) roundings;
    tanh's 8 u (4 ulp) times |P_j'| <= (j + 1) B_j j! (with all magnitudes added); j (n_prepared +
    4) + 48 for a^e and the products, as for poly; and the (n_prepared + 3) u |v|~ of v times B'_j
    j!. The last error is a deviation d of v that all h_j(v) have in common. It changes f(v) to f(v
    + d), and so by at most (n_prepared + 3) u |v|~ |tanh'|.
    """

    def __init__(self, kernel: Sigmoid, vectors: Float64Array, basis: Monomials) -> None:
        super().__init__(kernel, vectors, basis)
        P = [Polynomial([0.0, 1.0])]
        for _ in range(self.degree + 1):
            P.append(Polynomial([1.0, 0.0, -1.0]) * P[-1].deriv())
        self.P = [p / math.factorial(j) for j, p in enumerate(P)]
        self.largest = _largest_magnitude(self.P[-1])

    def outer(self, v: Float64Array) -> list[Float64Array]:
        """Return the Taylor coefficients h_j(v) = P_j(tanh v) / j!."""
        t = np.tanh(v)
        return [p(t) for p in self.P[:-1]]

    def errors(
        self, size: Float64Array, step: Float64Array
    ) -> tuple[float, Float64Array, Float64Array]:
        """Return `roundings`, `majorant` and `rest` of `Terms`, given |v|~ and |a|~."""
        n, n_prepared = self.degree + 1, self.vectors.shape[1]
        magnitudes = [float(np.abs(p.coef).sum()) for p in self.P]
        majorant = sum(B * step**j for j, B in enumerate(magnitudes[:-1]))
        rest = self.largest * step**n * UP
        roundings = 10 * (n + 2) + n * (n_prepared + 4) + 48
        return (
            roundings,
            (majorant + (n_prepared + 3) * size) * UP,
            np.broadcast_to(rest, size.shape),
        )

    def slopes(self, centres: Float64Array, V: Float64Array) -> Float64Array:
        """Return the bounds gamma |s| on the slopes."""
        length = np.sqrt((self.vectors**2).sum(axis=1))
        slopes: Float64Array = (abs(self.gamma) * length * UP)[None, :]
        return slopes


def _largest_magnitude(P: Polynomial) -> float:
    """Return an upper bound on |P| on [-1, 1], from values on a grid and the slope between them."""
    t, half = np.linspace(-1.0, 1.0, _GRID), 1.0 / (_GRID - 1)
    steepest = float(np.abs(P.deriv().coef).sum())
    rounded = 2.0**-40 * float(np.abs(P.coef).sum())
    return float(np.abs(P(t)).max()) + half * steepest + rounded
