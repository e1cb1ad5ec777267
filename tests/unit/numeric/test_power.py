from fractions import Fraction

import numpy as np
import pytest

from kmcompile.numeric.scalar.power import (
    PowerStep,
    absolute_error,
    power,
    power_steps,
    power_view,
    relative_error,
)

_DEGREES = [0, 1, 2, 3, 4, 5, 7, 9, 15, 16, 31]


@pytest.mark.parametrize("degree", _DEGREES)
def test_steps_multiply_to_the_degree(degree: int) -> None:
    reached = min(degree, 1)
    for step in power_steps(degree):
        reached = 2 * reached if step.square else reached + 1
    assert reached == degree


def test_power_uses_the_fewest_multiplications_of_the_binary_method() -> None:
    square, multiply = PowerStep(square=True), PowerStep(square=False)
    assert power_steps(9) == (square, square, square, multiply)
    assert power_steps(1) == power_steps(0) == ()


@pytest.mark.parametrize("degree", _DEGREES)
def test_power_keeps_its_bound_in_exact_rationals(degree: int) -> None:
    generator = np.random.default_rng(degree)
    near_one = generator.normal(0, 1.5, 300)
    tiny = np.exp(-20 * generator.random(300)) * generator.choice([-1, 1], 300)
    values = np.concatenate([near_one, tiny, [0.0, 1.0, -1.0]]).astype(np.float32)
    relative, absolute = Fraction(relative_error(degree)), Fraction(absolute_error(degree))
    for value, result in zip(values.tolist(), power(values, degree).tolist(), strict=True):
        exact = Fraction(value) ** degree
        assert abs(Fraction(result) - exact) <= relative * abs(exact) + absolute


def test_power_zero_is_one_even_of_zero() -> None:
    result = power(np.array([0.0, -3.0], np.float32), 0)
    assert result.dtype == np.float32
    assert result.tolist() == [1.0, 1.0]


def test_power_leaves_its_argument_alone() -> None:
    v = np.array([2.0], np.float32)
    assert power(v, 1) is not v
    assert power(v, 5).tolist() == [32.0]
    assert v.tolist() == [2.0]


def test_power_errors_are_zero_without_a_multiplication() -> None:
    assert relative_error(0) == relative_error(1) == absolute_error(0) == absolute_error(1) == 0.0


def test_power_view_names_the_function_after_its_degree() -> None:
    assert power_view(3).function == "power_3"
    assert power_view(0).is_one


def test_negative_degree_is_refused() -> None:
    with pytest.raises(ValueError, match="degree is -1"):
        power_steps(-1)
