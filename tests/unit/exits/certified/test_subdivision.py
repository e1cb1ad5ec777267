"""When a box gets a sign: the polynomial's range, its error and what lies outside the box."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.exits.certified.monomials import monomials
from kmcompile.exits.certified.subdivision import proved_signs

LINE = monomials(1, 3)
INFLATION = 2.0**-8


def sign_of(constant: float, slope: float, error: float, inflation: float) -> int:
    coefficients = np.array([[constant, slope, 0.0, 0.0]])
    signs, least, largest = proved_signs(LINE, coefficients, np.array([error]), inflation)
    if signs[0] != 0:
        assert 0 < least[0] <= abs(constant) <= largest[0]
    return int(signs[0])


@pytest.mark.parametrize("side", [1, -1])
def test_a_box_has_a_sign_if_its_range_is_larger_than_its_error(side):
    assert sign_of(side * 1e-3, 0.0, 0.999e-3, 0.0) == side
    assert sign_of(side * 1e-3, 0.0, 1.001e-3, 0.0) == 0
    assert sign_of(side * 2.0, 1.0, 0.999, 0.0) == side
    assert sign_of(side * 2.0, 1.0, 1.001, 0.0) == 0


@pytest.mark.parametrize("side", [1, -1])
def test_the_sign_holds_in_all_of_what_is_added_to_the_box(side):
    """1 + s y is 0 at y = -1 / s; half as much again as is added to the box is enough room."""
    assert sign_of(side, 1 / (1 + INFLATION) + 1e-6, 0.0, INFLATION) == 0
    assert sign_of(side, 1 / (1 + 1.5 * INFLATION), 0.0, INFLATION) == side
    assert sign_of(side, 1 / (1 + 1e-6), 0.0, 0.0) == side


def test_bounds_hold_what_the_error_and_the_surroundings_may_add():
    coefficients = np.array([[2.0, 0.5, 0.0, 0.0]])
    _, least, largest = proved_signs(LINE, coefficients, np.array([0.25]), INFLATION)
    assert least[0] <= 2.0 - 0.5 * (1 + INFLATION) - 0.25
    assert largest[0] >= 2.0 + 0.5 * (1 + INFLATION) + 0.25


@pytest.mark.parametrize("error", [np.inf, np.nan])
def test_an_error_without_bound_proves_nothing(error):
    assert sign_of(1.0, 0.0, error, 0.0) == 0
