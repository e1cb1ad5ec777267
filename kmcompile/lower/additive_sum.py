"""Lowering of an additive machine to the sum of the functions of its features."""

from __future__ import annotations

import numpy as np

from kmcompile.lower.feature_functions import (
    Coefficients,
    FeatureFunction,
    feature_function,
    n_pieces,
    norm_of_functions,
)
from kmcompile.lower.stored import low_part
from kmcompile.lower.sum_constants import RESULT_ROUNDINGS
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import FLOAT32, SMALLEST_NORMAL, Precision
from kmcompile.program.stages import AdditiveSum

MAX_PIECES = 0xFFFF
"""Pieces that the C can number."""

_PASSES = 2.0**-51
"""Relative error of vectors and of coefficients by the passes, which round in float64."""


def additive_pieces(machine: KernelMachine) -> int:
    """Return the pieces of all functions, with those of features that change no decision."""
    return sum(n_pieces(column) for column in machine.support_vectors.T)


def lower_additive(
    machine: KernelMachine, lanes: int, precision: Precision = FLOAT32, low_parts: bool = False
) -> AdditiveSum:
    """Return the stage of a machine that is a sum of lines; `AdditiveSum` has its bound.

    `low_parts` as in `SumContext`; `lanes` has no effect.
    """
    beta = decision_coefficients(machine)
    coefficients = Coefficients.of(beta)
    columns = machine.support_vectors.T
    single = [feature_function(s, coefficients, False) for s in columns]
    functions = single
    if low_parts and precision is not FLOAT32:
        functions = [feature_function(s, coefficients, True) for s in columns]
    order = _order(single, coefficients)
    constants = [functions[j] for j in set(range(len(columns))).difference(order)]
    lines = [_Lines(functions[j], single[j], precision) for j in order]

    shift = sum((f.values[0] for f in constants), np.zeros(len(beta)))
    exact = machine.intercept + shift
    intercept = exact.astype(precision.dtype)
    size = sum((f.sizes for f in constants), np.abs(machine.intercept))
    minimum = (
        np.abs(exact - intercept) + machine.intercept_error + 2.0**-53 * (len(columns) + 2) * size
    )
    minimum += sum((_as_constant(f) for f in constants), np.zeros(len(beta)))
    reaches = [np.abs(f.slopes[0]) for f in constants]
    for q, line in enumerate(lines):
        additions = len(lines) - q
        reach = line.per_reach(additions)
        minimum += line.stored_error + line.rounding(additions) + reach * abs(line.knots[0])
        reaches.append(reach)
    weight = np.abs(beta).sum(axis=1)
    lengths = np.abs(machine.support_vectors).sum(axis=1)
    minimum += _PASSES * np.abs(beta) @ lengths
    per_length = norm_of_functions(reaches) + _PASSES * weight * np.sqrt(len(columns))
    slopes = [np.abs(function.slopes).max(axis=0) for function in functions]
    ends = np.cumsum([len(line.knots) for line in lines])
    return AdditiveSum(
        n_prepared=len(columns),
        weights=np.concatenate([line.table for line in lines]),
        function_columns=np.array(order),
        function_ends=ends,
        intercept=intercept,
        per_length=precision.bound_constants(per_length * (1 + 1e-9)),
        per_deviation=precision.bound_constants(norm_of_functions(slopes) * (1 + 1e-9)),
        minimum=precision.bound_constants(minimum * (1 + 1e-9)),
        result_error=precision.bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
    )


class _Lines:
    """The pieces of one feature's functions as they are stored, and their share of the bound.

    Parameters
    ----------
    function : FeatureFunction
        With the stored knots.
    single : FeatureFunction
        With float32 knots: the table of float32, to which low parts are added. It is `function`
        itself if there are none.
    precision : Precision
    """

    def __init__(
        self, function: FeatureFunction, single: FeatureFunction, precision: Precision
    ) -> None:
        self.precision = precision
        self.knots = function.knots
        values, slopes = (
            _stored(own, high.astype(np.float32), function is not single)
            for own, high in (
                (function.values, single.values),
                (function.slopes, single.slopes),
            )
        )
        self.table = np.concatenate([function.knots[:, None], values, slopes], axis=1)
        self.slopes = slopes
        widths = function.widths[:, None]
        self.products = (np.abs(slopes) * widths).max(axis=0)
        ends = values + slopes * widths
        self.sizes = np.maximum(np.abs(values), np.abs(ends)).max(axis=0) * (1 + 2.0**-50)
        value_error, slope_error = (
            np.abs(exact - own) + 2.0**-53 * np.abs(exact)
            for exact, own in ((function.values, values), (function.slopes, slopes))
        )
        self.stored_error = (value_error + slope_error * widths).max(axis=0) + function.moved
        self.first_slope_error = slope_error[0]

    def rounding(self, additions: int) -> Float64Array:
        """Return the error of the term and of its additions, from the first knot on."""
        gamma, tiny = self.precision.gamma_factor, 4 * SMALLEST_NORMAL
        # A knot that is read as 0 moves the comparison and the difference; an underflow in the
        # difference is multiplied by the slope.
        underflow = tiny * (1 + np.abs(self.slopes).max(axis=0))
        terms = gamma(additions + 1) * self.sizes + gamma(4) * self.products
        error: Float64Array = terms + underflow
        return error

    def per_reach(self, additions: int) -> Float64Array:
        """Return the error of the first piece's term per |x - t|."""
        gamma = self.precision.gamma_factor(additions + 5)
        reach: Float64Array = gamma * np.abs(self.slopes[0]) + self.first_slope_error
        return reach


def _stored(exact: Float64Array, high: Float32Array, low_parts: bool) -> Float64Array:
    """Return the stored numbers: those of the table of float32, with low parts if asked for."""
    wide: Float64Array = high.astype(np.float64)
    if low_parts:
        np.add(wide, low_part(exact, high), out=wide)
    return wide


def _order(functions: list[FeatureFunction], coefficients: Coefficients) -> list[int]:
    """Return the functions that are not constant, or one, in ascending order of their sizes."""
    order = sorted(range(len(functions)), key=lambda j: float(functions[j].sizes.sum()))
    varying = [j for j in order if not functions[j].is_constant(coefficients)]
    return varying or order[-1:]


def _as_constant(function: FeatureFunction) -> Float64Array:
    """Return how far functions are from their value at the first knot, but for the first slope."""
    rises = (np.abs(function.slopes) * function.widths[:, None]).sum(axis=0)
    first = np.abs(function.slopes[0]) * abs(function.knots[0])
    error: Float64Array = rises * (1 + 1e-9) + function.moved + first
    return error
