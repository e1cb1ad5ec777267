"""Lowering of an additive machine with integer codes to its sum of table values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_functions import norm_of_functions
from kmcompile.lower.sum_constants import RESULT_ROUNDINGS
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.exact import Exact
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, bound_constant, bound_constants, stored_error
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.table_sum import TableSum

_MOST_VALUES = 1 << 22
"""Most values in a table, which are worked out one by one in exact arithmetic."""

_WORD_BITS = 32
_LEAST_LOG2, _MOST_LOG2 = -64, 64
"""Least and largest binary logarithm of the step: results are normal numbers of float32."""

_PASSES = 2.0**-51
"""Relative error of the coefficients by the passes, which round in float64."""


def lower_table_sum(coded: Coded, wide_values: bool) -> TableSum:
    """Return the stage of a machine with the intersection kernel and lossless codes.

    Parameters
    ----------
    coded : Coded
    wide_values : bool
        Whether values have 32 bits instead of 16.

    Raises
    ------
    InputError
        If the table would be too long, or if its values leave the range of float32.
    """
    machine = coded.machine
    beta = decision_coefficients(machine)
    _check_length(coded, len(beta))
    coefficients = Exact.of(beta)
    functions = [_Function.of(column, coefficients, coded) for column in coded.codes.T]
    log2 = _step_log2(functions, machine.intercept, 32 if wide_values else 16)
    stored = [_Stored.of(function, log2) for function in functions]
    order = [j for j, one in enumerate(stored) if one.values.any()] or [0]
    step = math.ldexp(1.0, log2)
    base, off = _base(machine.intercept, stored, step)
    minimum = off + machine.intercept_error + _moved(coded, beta)
    minimum += sum((one.error for one in stored), np.zeros(len(beta)))
    steepest = norm_of_functions([f.steepest for f in functions])
    return TableSum(
        codes=CodeRange(machine.n_features, coded.width, coded.low, coded.high),
        per_unit=np.float32(1 / coded.unit),
        values=np.concatenate([stored[j].values for j in order]),
        function_columns=np.array(order),
        function_ends=np.cumsum([len(stored[j].values) for j in order]),
        start=np.column_stack([np.maximum(base, 0), np.maximum(-base, 0)]),
        result_scale=np.float32(step),
        result_error=bound_constant(RESULT_ROUNDINGS * UNIT_ROUNDOFF),
        per_deviation=bound_constants(steepest * (1 + 1e-9)),
        minimum=bound_constants(minimum * (1 + 1e-9)),
    )


def _check_length(coded: Coded, n_decisions: int) -> None:
    """Refuse a machine whose table would be too long."""
    n_values = int((coded.codes.max(axis=0) - coded.low + 1).sum()) * n_decisions
    if n_values > _MOST_VALUES:
        raise InputError(
            f"a table of all codes would have {n_values:,} values, more than {_MOST_VALUES:,}\n"
            "use --format float32"
        )


def _base(
    intercept: Float64Array, stored: list[_Stored], step: float
) -> tuple[NDArray[np.int64], Float64Array]:
    """Return the intercepts with the least values of all functions, in steps.

    The second result is what the intercepts lose by their rounding.
    """
    whole = np.rint(intercept / step)
    least = sum((one.least for one in stored), np.zeros(len(intercept), np.int64))
    return whole.astype(np.int64) + least, np.abs(intercept - whole * step)


@dataclass(frozen=True, slots=True, eq=False)
class _Function:
    """The functions of one feature at all codes, exactly.

    Parameters
    ----------
    values : Exact of shape (n_codes, n_decisions)
        g_p at the codes from the least one on.
    steepest : ndarray of shape (n_decisions,), float64
        The largest |slope|.
    """

    values: Exact
    steepest: Float64Array

    @classmethod
    def of(cls, column: NDArray[np.int64], coefficients: Exact, coded: Coded) -> _Function:
        """Return the functions of a feature from the codes of the vectors.

        g(X) = sum_(S_i <= X) beta_i S_i + X sum_(S_i > X) beta_i, in units of the codes.
        """
        beta, exponent = coefficients.integers, coefficients.exponent
        knots, of_vector = np.unique(column, return_inverse=True)
        each = np.zeros((len(knots), len(beta)), dtype=object)
        np.add.at(each, of_vector, beta.T)
        zero = each[:1] * 0
        at_knots = each * knots.astype(object)[:, None]
        below = np.concatenate([zero, np.cumsum(at_knots, axis=0)])
        above = each.sum(axis=0) - np.concatenate([zero, np.cumsum(each, axis=0)])
        X = np.arange(coded.low, int(knots[-1]) + 1)
        passed = np.searchsorted(knots, X, side="right")
        values = below[passed] + above[passed] * X.astype(object)[:, None]
        steepest = Exact(np.abs(above).max(axis=0), exponent).rounded()
        return cls(Exact(values, exponent + round(math.log2(coded.unit))), steepest)

    @property
    def spans(self) -> Float64Array:
        """The largest value less the least one, of each decision."""
        integers = self.values.integers
        return Exact(integers.max(axis=0) - integers.min(axis=0), self.values.exponent).rounded()

    @property
    def least(self) -> Float64Array:
        """The least value of each decision."""
        return Exact(self.values.integers.min(axis=0), self.values.exponent).rounded()


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """The functions of one feature as they are stored.

    Parameters
    ----------
    values : ndarray of shape (n_codes, n_decisions), int64
        Multiples of the step above `least`.
    least : ndarray of shape (n_decisions,), int64
        The least multiple.
    error : ndarray of shape (n_decisions,), float64
        The largest rounding error of a value.
    """

    values: NDArray[np.int64]
    least: NDArray[np.int64]
    error: Float64Array

    @classmethod
    def of(cls, function: _Function, log2: int) -> _Stored:
        """Return the values rounded to multiples of 2^log2."""
        down = max(0, log2 - function.values.exponent)
        exact = function.values.integers * (1 << max(0, function.values.exponent - log2))
        whole = (exact + ((1 << down) >> 1)) >> down
        off = np.abs(exact - (whole << down)).max(axis=0)
        error = np.array([math.ldexp(value / (1 << down), log2) for value in off.tolist()])
        multiples = whole.astype(np.int64)
        least = multiples.min(axis=0)
        return cls(multiples - least, least, error)


def _step_log2(functions: list[_Function], intercept: Float64Array, bits: int) -> int:
    """Return the binary logarithm of the step: the least with which no integer overflows.

    Each value has `bits` bits, start and sums have 32. The roundings of all values are less than
    one for each function.
    """
    spans = np.array([function.spans for function in functions])
    leasts = np.array([function.least for function in functions])
    base = intercept + leasts.sum(axis=0)
    sums = 2.0**-40 * np.abs(leasts).sum(axis=0)  # more than what float64 rounds here
    sums += np.maximum(np.maximum(base, 0.0) + spans.sum(axis=0), np.maximum(-base, 0.0))
    room = float(1 << _WORD_BITS) - 4 - 2 * len(functions)
    least = max(float(sums.max()) / room, float(spans.max()) / ((1 << bits) - 3))
    log2 = max(math.ceil(math.log2(least) + 1e-9), _LEAST_LOG2) if least > 0 else _LEAST_LOG2
    if log2 > _MOST_LOG2:
        raise InputError(
            f"the functions of the features add up to {float(sums.max()):g}, too much for float32\n"
            "retrain with a smaller C"
        )
    return log2


def _moved(coded: Coded, beta: Float64Array) -> Float64Array:
    """Return how far the functions of the codes are from those of the trained machine.

    A minimum moves by at most what its two numbers move, so that a vector that is off by e moves
    the kernel by at most sqrt(n) e. |min(s, x)| <= max(|s|, |least code|) at every code.
    """
    exact = coded.codes.astype(np.float64) * coded.unit
    moved = stored_error(coded.machine.support_vectors, exact) + coded.moved_error
    largest = np.maximum(np.abs(exact), -coded.low * coded.unit).sum(axis=1)
    weight = np.abs(beta)
    error: Float64Array = weight.sum(axis=1) * np.sqrt(exact.shape[1]) * moved
    error += _PASSES * weight @ largest
    return error
