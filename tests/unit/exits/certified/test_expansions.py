"""Taylor expansions: the proved error holds with 50 digits, and each of its terms is needed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

from kmcompile.exits.certified.expansions import RbfExpansions, expand
from kmcompile.exits.certified.monomials import monomials
from kmcompile.kernels import Rbf

mp.dps = 50

KERNELS = [Rbf(0.7), Rbf(40.0)]
ODD = {1: 9, 2: 5, 3: 3}


def kernel_value(kernel, s, z):
    """Return K(s, z) with 50 digits."""
    return mp.exp(-mpf(kernel.gamma) * sum((a - b) ** 2 for a, b in zip(s, z, strict=True)))


def polynomial_value(basis, coefficients, y):
    """Return a polynomial with 50 digits."""
    terms = zip(basis.exponents.tolist(), coefficients, strict=True)
    return sum(
        mpf(float(c)) * math.prod((v**e for v, e in zip(y, a, strict=True)), start=mpf(1))
        for a, c in terms
    )


def ys(n, rng):
    """Return corners of an inflated cell and points in it."""
    out = 1 + mpf(2) ** -8
    corners = [[v * out for v in y] for y in itertools.product((-1, 1), repeat=n)]
    return [*corners, *([mpf(float(v)) for v in y] for y in rng.uniform(-1, 1, size=(4, n)))]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize(("n", "n_prepared"), [(1, 1), (2, 2), (3, 3), (2, 1), (1, 3)])
@pytest.mark.parametrize("size", [0.3, 0.03])
def test_the_sum_lies_within_its_error_of_the_polynomial(kernel, n, n_prepared, size):
    rng = np.random.default_rng(n)
    basis = monomials(n, ODD[n])
    vectors = rng.standard_normal((12, n_prepared))
    beta, intercept = rng.standard_normal(12) * 100, 0.3
    centres = rng.standard_normal((3, n_prepared)) * 1.5
    V = (
        rng.uniform(-1, 1, size=(n_prepared, n))
        * size
        / math.sqrt(getattr(kernel, "gamma", 1) ** 2)
    )
    found = expand(RbfExpansions(kernel, vectors, basis), beta, intercept, centres, V, 0.0)
    for centre, c, error in zip(centres, found.coefficients, found.error, strict=True):
        for y in ys(n, rng):
            z = [
                mpf(float(a)) + mp.fdot([mpf(float(v)) for v in row], y)
                for a, row in zip(centre, V, strict=True)
            ]
            rows = [[mpf(float(v)) for v in s] for s in vectors]
            values = [kernel_value(kernel, s, z) for s in rows]
            f = mp.fdot([mpf(float(b)) for b in beta], values) + mpf(intercept)
            assert abs(f - polynomial_value(basis, c, y)) <= error


def remainder_and_bound(kernel, s, width, degree):
    """Return the largest remainder of one kernel on [-width, width], 50 digits, and its bound."""
    basis = monomials(1, degree)
    terms = RbfExpansions(kernel, np.array([[s]]), basis).terms(
        np.zeros((1, 1)), np.array([[width]])
    )
    exact = mp.taylor(lambda z: kernel_value(kernel, [mpf(s)], [z]), 0, degree)
    remainders = [
        abs(kernel_value(kernel, [mpf(s)], [z]) - mp.fdot(exact, [z**j for j in range(degree + 1)]))
        for z in (mpf(width), -mpf(width))
    ]
    return max(remainders), terms.rest[0, 0]


@pytest.mark.parametrize(
    ("kernel", "s", "width", "degree"),
    [
        (Rbf(1.0), 0.0, 0.4, 3),
        (Rbf(2.0), 0.0, 0.2, 11),
    ],
    ids=str,
)
def test_the_remainder_comes_within_a_factor_2_of_its_bound(kernel, s, width, degree):
    remainder, bound = remainder_and_bound(kernel, s, width, degree)
    assert bound / 2 < remainder <= bound


def test_the_remainder_far_from_a_vector_comes_within_a_factor_2_of_cramer_s_bound():
    degree, width = 3, 0.01
    everywhere = remainder_and_bound(Rbf(1.0), 0.0, width, degree)[1]
    ratios = []
    for s in np.linspace(1.4, 3.0, 17):
        remainder, bound = remainder_and_bound(Rbf(1.0), float(s), width, degree)
        assert remainder <= bound < everywhere
        ratios.append(float(bound / remainder))
    assert min(ratios) < 2


def test_a_deviation_moves_the_sum_by_half_of_its_bound_at_least_somewhere():
    kernel = Rbf(0.5)
    basis = monomials(1, 7)
    vectors = np.array([[1.0]])
    deviation = 1e-4
    steepest = 0.0
    for centre in np.linspace(-1.0, 3.0, 41):
        args = (RbfExpansions(kernel, vectors, basis), np.ones(1), 0.0, np.array([[centre]]))
        V = np.array([[1e-3]])
        with_it, without = expand(*args, V, deviation), expand(*args, V, 0.0)
        allowed = with_it.error[0] - without.error[0]
        z = mpf(float(centre))
        moved = abs(
            kernel_value(kernel, [mpf(1)], [z + mpf(deviation)])
            - kernel_value(kernel, [mpf(1)], [z])
        )
        assert moved <= allowed
        steepest = max(steepest, float(moved / allowed))
    assert steepest > 0.5


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("far", [0.0, 3.0])
def test_all_coefficients_together_are_off_by_less_than_the_bound_on_rounding(kernel, far):
    """The derivation in the docstrings, against 50 digits."""
    degree, V = 7, np.array([[0.25]])
    basis = monomials(1, degree)
    vectors = np.array([[far + 0.1], [far + 0.7]])
    terms = RbfExpansions(kernel, vectors, basis).terms(np.array([[0.3]]), V)
    for i, s in enumerate(vectors[:, 0]):
        exact = mp.taylor(
            lambda y, s=s: kernel_value(kernel, [mpf(float(s))], [mpf(0.3) + mpf(0.25) * y]),
            0,
            degree,
        )
        off = sum(
            abs(mpf(float(c)) - e) for c, e in zip(terms.coefficients[:, 0, i], exact, strict=True)
        )
        magnitude = sum(abs(e) for e in exact)
        assert off <= terms.roundings * 2.0**-53 * terms.majorant[0, i]
        assert magnitude <= terms.majorant[0, i]


def test_a_cell_too_large_to_bound_has_no_error_to_rely_on():
    basis = monomials(2, 5)
    expansions = RbfExpansions(Rbf(1.0), np.zeros((1, 2)), basis)
    found = expand(expansions, np.ones(1), 0.0, np.zeros((1, 2)), np.eye(2) * 3.0, 0.0)
    assert np.isinf(found.error[0])
