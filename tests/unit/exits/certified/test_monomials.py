"""Polynomials on a cube: halves and Bernstein coefficients, against exact rational numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from kmcompile.exits.certified.monomials import monomials

BASES = [(1, 7), (2, 5), (3, 3)]


def value(basis, coefficients, y) -> Fraction:
    """Return the exact value of a polynomial with float64 coefficients."""
    terms = zip(basis.exponents.tolist(), coefficients, strict=True)
    return sum(
        (Fraction(c) * prod(v**e for v, e in zip(y, a, strict=True)) for a, c in terms),
        start=Fraction(0),
    )


def points(n: int, rng) -> list[list[Fraction]]:
    """Return corners of the cube, of one a little larger, and points in between."""
    corners = [[Fraction(v) for v in y] for y in itertools.product((-1, 1), repeat=n)]
    outer = [[v * (1 + Fraction(1, 256)) for v in y] for y in corners]
    inner = [[Fraction(float(v)) for v in y] for y in rng.uniform(-1, 1, size=(10, n))]
    return [*corners, *outer, *inner]


@pytest.mark.parametrize(("n", "degree"), BASES)
def test_a_part_has_the_polynomial_of_the_whole_but_for_the_bound_on_rounding(n, degree):
    rng = np.random.default_rng(0)
    basis = monomials(n, degree)
    c = rng.standard_normal((4, len(basis.exponents)))
    parts, rounding = np.stack(list(basis.parts(c))), basis.rounding(c, 0.0)
    for row, part in itertools.product(range(len(c)), range(1 << n)):
        for y in points(n, rng):
            signs = [1 if part >> j & 1 else -1 for j in range(n)]
            whole = [(v + s) / 2 for v, s in zip(y, signs, strict=True)]
            off = value(basis, parts[part, row], y) - value(basis, c[row], whole)
            assert abs(off) <= rounding[row]


@pytest.mark.parametrize(("n", "degree"), BASES)
def test_a_polynomial_lies_in_its_range_and_touches_it_at_corners(n, degree):
    rng = np.random.default_rng(1)
    basis = monomials(n, degree)
    c = rng.standard_normal((20, len(basis.exponents)))
    low, high = basis.range(c)
    rounding = basis.rounding(c, 0.0)
    corners = [[Fraction(v) for v in y] for y in itertools.product((-1, 1), repeat=n)]
    inner = [[Fraction(float(v)) for v in y] for y in rng.uniform(-1, 1, size=(10, n))]
    for row in range(len(c)):
        values = [value(basis, c[row], y) for y in (*corners, *inner)]
        assert all(low[row] - rounding[row] <= v <= high[row] + rounding[row] for v in values)
    rising = np.zeros((1, len(basis.exponents)))
    rising[0, basis.total == 1] = 1.0
    assert (basis.range(rising)[0][0], basis.range(rising)[1][0]) == (-n, n)


@pytest.mark.parametrize(("n", "degree"), [(1, 15), (2, 11), (3, 7)])
def test_no_magnitude_of_the_matrices_is_larger_than_the_rounding_bound_takes_them(n, degree):
    basis = monomials(n, degree)
    assert (np.abs(basis.halves).sum(axis=2) == 1).all()
    assert np.abs(basis.bernstein).max() == 1.0


@pytest.mark.parametrize(("n", "degree"), BASES)
def test_a_sign_changes_if_it_is_not_the_same_in_all_corners(n, degree):
    rng = np.random.default_rng(2)
    basis = monomials(n, degree)
    c = rng.standard_normal((200, len(basis.exponents)))
    corners = list(itertools.product((Fraction(-1), Fraction(1)), repeat=n))
    for row, changes in zip(c, basis.changes_sign(c), strict=True):
        values = [value(basis, row, y) for y in corners]
        assert changes == (min(values) < 0 < max(values))
