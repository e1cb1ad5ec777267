from fractions import Fraction

import numpy as np
import pytest

from kmcompile.numeric.scalar.square_root import square_root

_FLOAT_MAX = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("value", [2.0**-149, 1e-40, 2.0**-126, 0.1, 2.0, 3.0, 1e30, _FLOAT_MAX])
def test_square_root_is_the_nearest_float(value: float) -> None:
    v = np.array([value], np.float32)
    root = square_root(v)[0]
    below = (Fraction(float(root)) + Fraction(float(np.nextafter(root, np.float32(0))))) / 2
    above = (Fraction(float(root)) + Fraction(float(np.nextafter(root, np.float32(1e38))))) / 2
    assert below**2 < Fraction(float(v[0])) < above**2


def test_square_root_of_zero_and_squares_is_exact_and_float32() -> None:
    result = square_root(np.array([0.0, 1.0, 2.0**-148, 16777216.0], np.float32))
    assert result.dtype == np.float32
    assert result.tolist() == [0.0, 1.0, 2.0**-74, 4096.0]
