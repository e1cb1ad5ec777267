"""Multiply out a polynomial machine: one coefficient for each monomial, and none for a vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, groupby
from math import ceil, comb, factorial, log2, prod

import numpy as np

from kmcompile.kernels import Polynomial
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.double_double import SQUARED_ROUNDOFF, DoubleDouble
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

LARGEST_DEGREE = 6

_CHUNK_VALUES = 1 << 17
"""float64 values in one work array."""


@dataclass(frozen=True, slots=True, eq=False)
class Polynomials:
    """The decisions as polynomials: f_p(x) = constant_p + sum_t coefficient_pt x^t.

    Monomials stand in the order of nested sums: those that begin with x_0, then those that begin
    with x_1 and so on; a factor never has a larger index than the factor before it, and a monomial
    comes before its multiples. With two features: x0, x0 x0, x1, x1 x0, x1 x1.

    Parameters
    ----------
    degrees : ndarray of shape (n_terms,), int
        Degree of each monomial.
    orderings : ndarray of shape (n_terms,), float64
        In how many orders the factors of each monomial can stand: its multinomial coefficient.
    coefficients : ndarray of shape (n_decisions, n_terms), float64
    low : ndarray of shape (n_decisions, n_terms), float64
        What the coefficients are too small by, rounded.
    constant, constant_low : ndarray of shape (n_decisions,), float64
        The constant terms with the intercepts, and what they are too small by, rounded.
    error : ndarray of shape (n_decisions, degree + 1), float64
        Column k bounds what is left of the errors of the coefficients e_t of degree k:
        sqrt(sum_t e_t^2 / orderings_t) (`weighted_norms`); column 0 bounds that of the constant.
    """

    degrees: np.ndarray
    orderings: Float64Array
    coefficients: Float64Array
    low: Float64Array
    constant: Float64Array
    constant_low: Float64Array
    error: Float64Array

    def weighted_norms(self, values: Float64Array) -> Float64Array:
        """Return the weighted norms of other coefficients, shape (n_decisions, degree)."""
        return weighted_norms(values, self.degrees, self.orderings)


def weighted_norms(
    values: Float64Array, degrees: np.ndarray, orderings: Float64Array
) -> Float64Array:
    """Return sqrt(sum_t v_t^2 / orderings_t) for each degree, shape (n_decisions, degree).

    For a homogeneous polynomial of degree k this is the Frobenius norm of its symmetric tensor T:
    sum_t |v_t| |x^t| <= norm |x|^k by the inequality of Cauchy and Schwarz, since
    sum_t orderings_t x^2t = |x|^2k.

    Parameters
    ----------
    values : ndarray of shape (n_decisions, n_terms), float64
    degrees, orderings : ndarray of shape (n_terms,)
        As in `Polynomials`.
    """
    squares = values**2 / orderings
    every = range(1, int(degrees.max()) + 1)
    sums = [squares[:, degrees == k].sum(axis=1) for k in every]
    norms: Float64Array = np.sqrt(np.column_stack(sums)) * (1 + 1e-9)
    return norms


def n_monomials(n_features: int, degree: int) -> int:
    """Return the number of monomials of degree 1 to `degree`.

    Examples
    --------
    >>> n_monomials(2, 2)
    5
    """
    return comb(n_features + degree, degree) - 1


def monomials(n_features: int, degree: int) -> list[tuple[int, ...]]:
    """Return the factors of each monomial, largest index first, in the order of `Polynomials`.

    Examples
    --------
    >>> monomials(2, 2)
    [(0,), (0, 0), (1,), (1, 0), (1, 1)]
    """
    every = range(n_features)
    return sorted(
        factors[::-1]
        for k in range(1, degree + 1)
        for factors in combinations_with_replacement(every, k)
    )


def can_expand(machine: KernelMachine) -> bool:
    """Return whether `expand_polynomial` takes a machine.

    The kernel must be a polynomial of degree 1 to 6, and no number so large or small that products
    over- or underflow in float64.
    """
    if not machine.kernel.is_polynomial:
        return False
    kernel = machine.kernel.polynomial
    if not 1 <= kernel.degree <= LARGEST_DEGREE:
        return False
    most = 2.0 ** (900 // (2 * kernel.degree + 1))
    return all(
        bool(((values == 0) | ((values >= 1 / most) & (values <= most))).all())
        for values in map(
            np.abs,
            (
                machine.support_vectors,
                machine.dual_coef,
                np.array([kernel.gamma, kernel.coef0]),
                machine.intercept,
            ),
        )
    )


def expand_polynomial(machine: KernelMachine) -> Polynomials:
    """Return the polynomials of a machine that `can_expand` accepts.

    (gamma <s, x> + c)^d is the sum over k and the monomials t of degree k of
    C(d, k) c^(d - k) gamma^k orderings_t s^t x^t. The sums over the support vectors have twice
    float64's precision (`kmcompile.numeric.double_double`): with u = 2^-53, a term has at most 8
    products of 2 u^2 (d - 1 of s^t, then beta, orderings and the factor), the additions on its way
    of 4 u^2, and the factor is rounded in it. The pass `merge_duplicate_vectors` has rounded
    coefficients by at most u. Both are relative to the norm of the tensors' sum,
    sum_i |beta_i| C(d, k) |c|^(d - k) |gamma|^k |s_i|^k.
    """
    kernel = machine.kernel.polynomial
    vectors, beta = machine.support_vectors, decision_coefficients(machine)
    order = monomials(vectors.shape[1], kernel.degree)
    degrees = np.array([len(factors) for factors in order])
    orderings = np.array([orderings_of(factors) for factors in order], dtype=np.float64)
    outer = [_outer_factor(kernel, k) for k in range(kernel.degree + 1)]
    high = np.array([float(factor) for factor in outer])
    low = np.array([float(factor - Fraction(float(factor))) for factor in outer])
    sums, n_additions = _sums(vectors, beta, order)
    # Products of the factors with the orderings, which are at most 720, are rounded like low.
    terms = sums.times(orderings)
    terms = terms.times(high[degrees]).plus(terms.times(low[degrees]))
    ones = DoubleDouble.of(np.ascontiguousarray(beta.T)).sum_of_rows()
    constant = ones.times(high[:1]).plus(ones.times(low[:1]))
    constant = constant.plus(DoubleDouble.of(machine.intercept))
    lengths = np.sqrt((vectors**2).sum(axis=1))
    magnitude = [np.abs(beta) @ lengths**k * abs(high[k]) for k in range(kernel.degree + 1)]
    relative = (40 + 4 * n_additions) * SQUARED_ROUNDOFF + 2 * UNIT_ROUNDOFF_64
    error = np.column_stack(magnitude) * relative * (1 + 1e-9)
    error[:, 0] += 8 * SQUARED_ROUNDOFF * np.abs(machine.intercept) + machine.intercept_error
    return Polynomials(
        degrees, orderings, terms.high, terms.low, constant.high, constant.low, error
    )


def orderings_of(factors: tuple[int, ...]) -> int:
    """Return in how many orders the factors can stand."""
    repeated = prod(factorial(len(list(equal))) for _, equal in groupby(factors))
    return factorial(len(factors)) // repeated


def _outer_factor(kernel: Polynomial, k: int) -> Fraction:
    """Return C(d, k) c^(d - k) gamma^k, exactly."""
    d = kernel.degree
    return comb(d, k) * Fraction(kernel.coef0) ** (d - k) * Fraction(kernel.gamma) ** k


def _sums(
    vectors: Float64Array, beta: Float64Array, order: list[tuple[int, ...]]
) -> tuple[DoubleDouble, int]:
    """Return sum_i beta_pi s_i^t, shape (n_decisions, n_terms), and the additions of a term."""
    place = {factors: t for t, factors in enumerate(order)}
    rows = max(1, _CHUNK_VALUES // (len(order) * len(beta)))
    total = DoubleDouble.of(np.zeros((len(beta), len(order))))
    starts = range(0, len(vectors), rows)
    for start in starts:
        part = slice(start, start + rows)
        powers = _powers(vectors[part], order, place)
        spread = DoubleDouble(powers.high[:, None, :], powers.low[:, None, :])
        total = total.plus(spread.times(beta.T[part, :, None]).sum_of_rows())
    return total, ceil(log2(rows)) + 1 + len(starts)


def _powers(
    vectors: Float64Array, order: list[tuple[int, ...]], place: dict[tuple[int, ...], int]
) -> DoubleDouble:
    """Return s_i^t of each vector and monomial, shape (n_vectors, n_terms)."""
    powers = DoubleDouble.of(np.zeros((len(vectors), len(order))))
    for k in range(1, max(map(len, order)) + 1):
        own = [t for t, factors in enumerate(order) if len(factors) == k]
        last = vectors[:, [order[t][-1] for t in own]]
        if k == 1:
            made = DoubleDouble.of(last)
        else:
            made = powers[:, [place[order[t][:-1]] for t in own]].times(last)
        powers.high[:, own], powers.low[:, own] = made.high, made.low
    return powers
