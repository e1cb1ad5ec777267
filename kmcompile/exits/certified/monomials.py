"""Polynomials of bounded total degree on the cube [-1, 1]^n: halve the cube, bound their range."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from kmcompile.numeric.arrays import Float64Array, frozen
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64


@dataclass(frozen=True, slots=True, eq=False)
class Monomials:
    """The monomials h^a with |a| = a_1 + ... + a_n <= degree, the constant first.

    A polynomial is a row of coefficients, sum_a c_a h^a with every |h_j| <= 1.

    Parameters
    ----------
    exponents : ndarray of shape (n_monomials, n_variables), int64
        Sorted by |a|.
    halves : ndarray of shape (2^n_variables, n_monomials, n_monomials), float64
        c @ halves[s] are the coefficients on part s of the cube, scaled to [-1, 1]^n again. Bit j
        of s says whether h_j > 0 on the part.
    bernstein : ndarray of shape (n_monomials, (degree + 1)^n_variables), float64
        c @ bernstein are the Bernstein coefficients, of tensor-product degree `degree`.
    """

    exponents: np.ndarray
    halves: Float64Array
    bernstein: Float64Array

    @property
    def total(self) -> np.ndarray:
        """Total degree |a| of every monomial."""
        total: np.ndarray = self.exponents.sum(axis=1)
        return total

    def parts(self, coefficients: Float64Array) -> Iterator[Float64Array]:
        """Yield the polynomials on each of the 2^n parts, shape (n_polynomials, n_monomials)."""
        for half in self.halves:
            yield coefficients @ half

    def rounding(self, coefficients: Float64Array, inflation: float) -> Float64Array:
        """Return a bound on the errors of `parts` and `range`, up to |h_j| = 1 + inflation.

        The magnitudes in a row of `halves`, which is exact, add up to 1. An entry of `bernstein` is
        at most 1 and a product of n numbers rounded once, with n the number of variables. With N
        monomials, a value therefore changes by at most gamma_(N + 2 n) sum_a |c_a| (Higham, eq.
        3.5). N + 2 n + 3 covers the higher orders and the rounding of this sum.
        """
        terms = sum(self.exponents.shape) + self.exponents.shape[1] + 3
        growth = (1 + inflation) ** int(self.total[-1])
        bound: Float64Array = growth * terms * UNIT_ROUNDOFF_64 * np.abs(coefficients).sum(axis=1)
        return bound * (1 + 2.0**-30)

    def range(self, coefficients: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the smallest and the largest Bernstein coefficient of each polynomial.

        A polynomial on the cube is a convex combination of its Bernstein coefficients (Farouki, The
        Bernstein polynomial basis, 2012, section 3.3).
        """
        values = coefficients @ self.bernstein
        return values.min(axis=1), values.max(axis=1)

    def changes_sign(self, coefficients: Float64Array) -> np.ndarray:
        """Return which polynomials are positive in one corner of the cube and negative in another.

        A corner's value is its Bernstein coefficient.
        """
        n_variables, degree = self.exponents.shape[1], int(self.total[-1])
        across = (degree + 1) ** np.arange(n_variables)
        corners = degree * np.array(list(itertools.product((0, 1), repeat=n_variables))) @ across
        values = coefficients @ self.bernstein[:, corners]
        changes: np.ndarray = (values.min(axis=1) < 0) & (values.max(axis=1) > 0)
        return changes


@cache
def monomials(n_variables: int, degree: int) -> Monomials:
    """Return the monomials in n_variables up to a total degree."""
    every = itertools.product(range(degree + 1), repeat=n_variables)
    index = np.array(sorted((a for a in every if sum(a) <= degree), key=lambda a: (sum(a), a)))
    parts = [[part >> j & 1 for j in range(n_variables)] for part in range(2**n_variables)]
    return Monomials(
        exponents=frozen(index, np.int64),
        halves=frozen(np.stack([_half(index, tuple(bits), degree) for bits in parts])),
        bernstein=frozen(_bernstein(n_variables, index, degree)),
    )


def _half(exponents: np.ndarray, bits: tuple[int, ...], degree: int) -> Float64Array:
    """Return the matrix of h_j = (h'_j +- 1) / 2; its entries are exact in float64."""
    matrix = np.ones((len(exponents), len(exponents)))
    for j, bit in enumerate(bits):
        single = np.array(
            [
                [comb(k, i) * (1 if bit else -1) ** abs(k - i) / 2**k for i in range(degree + 1)]
                for k in range(degree + 1)
            ]
        )
        matrix *= single[exponents[:, j, None], exponents[None, :, j]]
    return matrix


def _bernstein(n_variables: int, exponents: np.ndarray, degree: int) -> Float64Array:
    """Return the Bernstein coefficients of each monomial."""
    single = np.array(
        [[_coefficient(k, i, degree) for i in range(degree + 1)] for k in range(degree + 1)]
    )
    product: Float64Array = single[exponents[:, 0]]
    for j in range(1, n_variables):
        product = (product[:, :, None] * single[exponents[:, j], None, :]).reshape(len(product), -1)
    return product


def _coefficient(k: int, i: int, degree: int) -> float:
    """Return Bernstein coefficient i of h^k: the mean product of k of `degree` signs.

    i of the signs are positive.
    """
    signs = sum(
        comb(i, plus) * comb(degree - i, k - plus) * (-1) ** (k - plus) for plus in range(k + 1)
    )
    return float(signs) / comb(degree, k)
