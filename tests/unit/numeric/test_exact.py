"""Exact arithmetic on arrays: every result is that of fractions, rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcompile.numeric.exact import Exact

FINITE = st.floats(allow_nan=False, allow_infinity=False)
MODEST = st.floats(-1e100, 1e100)


def matrix(numbers, n_columns=2):
    return np.array(numbers, dtype=np.float64).reshape(-1, n_columns)


@given(st.lists(FINITE, min_size=4, max_size=4))
def test_numbers_come_back_as_they_are(numbers):
    values = matrix(numbers)
    np.testing.assert_array_equal(Exact.of(values).rounded(), values)


@given(st.lists(MODEST, min_size=8, max_size=8))
def test_products_and_differences_are_rounded_once(numbers):
    a, b = matrix(numbers[:4]), matrix(numbers[4:])
    product = (Exact.of(a) @ Exact.of(b)).rounded()
    each = (Exact.of(a) * Exact.of(b)).rounded()
    less = (Exact.of(a) - Exact.of(b)).rounded()
    for i in range(2):
        for j in range(2):
            terms = [Fraction(a[i, k]) * Fraction(b[k, j]) for k in range(2)]
            assert product[i, j] == float(sum(terms))
            assert each[i, j] == float(Fraction(a[i, j]) * Fraction(b[i, j]))
            assert less[i, j] == float(Fraction(a[i, j]) - Fraction(b[i, j]))


def test_columns_with_one_target_are_added_before_they_are_rounded():
    values = np.array([[1e16, 1.0, -1e16, 3.0]])
    added = Exact.of(values).added(np.array([0, 0, 0, 2]), 4)
    np.testing.assert_array_equal(added.rounded(), [[1.0, 0.0, 3.0, 0.0]])
    np.testing.assert_array_equal(added.taken(np.array([0, 2])).rounded(), [[1.0, 3.0]])


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_too_large_is_infinite(sign):
    large = Exact.of(np.array([sign * 1e200]))
    assert (large * Exact.of(np.array([1e200]))).rounded() == sign * np.inf
    assert (large * Exact.of(np.array([2.0**500]))).rounded() == sign * 1e200 * 2.0**500


def test_subnormal_results_are_rounded_once():
    tiny = Exact.of(np.array([3 * 2.0**-1074]))
    assert (tiny * Exact.of(np.array([0.5]))).rounded() == 2 * 2.0**-1074
