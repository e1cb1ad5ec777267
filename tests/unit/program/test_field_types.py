"""A program whose fields hold other values than their annotations say cannot be made."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit.every_target import CASES
from kmcompile.numeric.arrays import frozen
from kmcompile.program.program import Program, Step


@cache
def program() -> Program:
    """Return a program with a scaler, a kernel and a sum."""
    return (
        next(case for case in CASES if str(case) == "SVC-rbf-binary-standard").emit("host").program
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", 3),
        ("n_features", 13.0),
        ("n_features", True),
        ("threshold", float("nan")),
        ("threshold", True),
        ("threshold", "1"),
        ("telemetry", "yes"),
        ("redundancy", True),
        ("classes", ["0", "1"]),
        ("classes", ("0", "0")),
        ("number_format", "int8"),
        ("float_weight", 0),
        ("step", Step(operations=0.5)),  # type: ignore[arg-type]
    ],
)
def test_a_field_of_a_program_holds_its_type(name, value):
    with pytest.raises(ValueError):
        replace(program(), **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("final_factor", 1.5),
        ("result_error", np.float32("nan")),
        ("result_error", np.float32(-1.0)),
        ("minimum", np.float32([-1.0])),
    ],
)
def test_a_field_of_a_sum_holds_its_type(name, value):
    with pytest.raises(ValueError, match=rf"{name} cannot be"):
        replace(program(), sum=replace(program().sum, **{name: value}))


def test_an_integer_is_a_float():
    assert replace(program(), threshold=1).threshold == 1


def test_a_field_of_a_kernel_holds_its_type():
    kernel = replace(program().sum.kernel, value_error=np.float32(-1.0))
    with pytest.raises(ValueError, match="value_error cannot be"):
        replace(program(), sum=replace(program().sum, kernel=kernel))


def test_a_table_has_numbers_only():
    coefficients = program().sum.coefficients.copy()
    coefficients[0] = np.nan
    with pytest.raises(ValueError, match="coefficients cannot be this ndarray"):
        replace(program(), sum=replace(program().sum, coefficients=coefficients))


@pytest.mark.parametrize("values", [[1 << 33], [0.5], [-1], [np.inf]])
def test_an_array_of_integers_holds_the_numbers_it_is_made_of(values):
    with pytest.raises((ValueError, OverflowError)):
        frozen(np.array(values), np.uint32)
    assert frozen(np.array([7.0]), np.uint32).tolist() == [7]
