"""Lowering of a machine with the additive chi2 kernel to the sum of functions of its features."""

from __future__ import annotations

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.feature_curves import (
    DEGREE,
    REACH,
    TOLERANCE,
    Chi2Functions,
    FeatureCurve,
    feature_curve,
)
from kmcompile.lower.feature_functions import NEGLIGIBLE, norm_of_functions
from kmcompile.lower.stored import low_part
from kmcompile.lower.sum_constants import RESULT_ROUNDINGS
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array, RealArray
from kmcompile.numeric.rounding import FLOAT32, SMALLEST_NORMAL, Precision
from kmcompile.program.stages import CurveSum

_PASSES = 2.0**-49
"""Error of terms by the passes, relative to s + x: these round vectors, by which a term moves three
times as much, and coefficients, by 2^-51 in float64."""

_PROBES = 33
_MAX_PIECES = 0xFFFF


def lower_curves(
    machine: KernelMachine, lanes: int, precision: Precision = FLOAT32, low_parts: bool = False
) -> CurveSum:
    """Return the stage of a machine with the additive chi2 kernel; `CurveSum` has its bound.

    `low_parts` as in `SumContext`; `lanes` has no effect.

    Raises
    ------
    InputError
        If a function has too many pieces.
    """
    beta = decision_coefficients(machine)
    weight = np.abs(beta).sum(axis=1)
    columns = machine.support_vectors.T
    functions = [Chi2Functions(column, beta) for column in columns]
    constant = _are_constant(functions, weight)
    left_out = [f for f, alone in zip(functions, constant, strict=True) if alone]
    pieces = _pieces(functions, columns, constant, low_parts and precision is not FLOAT32)

    n = len(pieces)
    intercept, minimum = _intercept(machine, left_out, precision)
    minimum = sum(
        (own.error + own.rounding(n - q, precision) for q, own in enumerate(pieces)), minimum
    )
    minimum += _PASSES * np.abs(beta) @ machine.support_vectors.sum(axis=1)
    slopes = [f.steepest(0.0, np.inf) for f in left_out]
    reaches = [*slopes, *(own.per_reach(n - q, precision) for q, own in enumerate(pieces))]
    per_length = norm_of_functions(reaches) + _PASSES * weight * np.sqrt(len(columns))
    per_deviation = norm_of_functions([*(own.curve.steepest for own in pieces), *slopes])
    return CurveSum(
        n_prepared=len(columns),
        degree=DEGREE,
        weights=np.concatenate([own.table for own in pieces]),
        function_columns=np.array([own.column for own in pieces]),
        function_ends=np.cumsum([len(own.table) for own in pieces]),
        intercept=intercept,
        per_length=precision.bound_constants(per_length * (1 + 1e-9)),
        per_deviation=precision.bound_constants(per_deviation * (1 + 1e-9)),
        minimum=precision.bound_constants(minimum * (1 + 1e-9)),
        beyond=precision.bound_constants(np.max([own.curve.errors[-1] for own in pieces], axis=0)),
        result_error=precision.bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
    )


def _are_constant(functions: list[Chi2Functions], weight: Float64Array) -> list[bool]:
    """Return which features have functions that change no decision.

    Parameters
    ----------
    functions : list of Chi2Functions
    weight : ndarray of shape (n_decisions,), float64
        sum_i |beta_pi|.
    """
    constant = [bool((f.steepest(0.0, np.inf) <= NEGLIGIBLE * weight).all()) for f in functions]
    if all(constant):
        constant[-1] = False  # one function stays: C has no tables without elements
    return constant


def _pieces(
    functions: list[Chi2Functions], columns: Float64Array, constant: list[bool], low_parts: bool
) -> list[_Curves]:
    """Return the pieces of the features whose functions are not constant, by ascending size."""
    tolerance = TOLERANCE * np.sum([_size(f) for f in functions], axis=0) + SMALLEST_NORMAL
    largest = columns.max()
    pieces = []
    for j, (column, own) in enumerate(zip(columns, functions, strict=True)):
        if not constant[j]:
            end = float(np.float32(max(REACH * column.max(), largest)))
            pieces.append(_Curves(j, feature_curve(own, tolerance, end), low_parts))
    if sum(len(own.table) for own in pieces) > _MAX_PIECES:
        raise InputError("the functions of all features have too many pieces")
    return sorted(pieces, key=lambda own: float(own.sizes.sum()))


def _intercept(
    machine: KernelMachine, left_out: list[Chi2Functions], precision: Precision
) -> tuple[RealArray, Float64Array]:
    """Return the intercepts with the functions that are left out at 0, and their errors."""
    zero = np.zeros(len(machine.intercept))
    exact = machine.intercept + sum((f.values(np.zeros(1))[:, 0] for f in left_out), zero)
    intercept = exact.astype(precision.dtype)
    size = sum((f.sizes[1] for f in left_out), np.abs(machine.intercept))
    error = np.abs(exact - intercept) + (machine.support_vectors.shape[1] + 2) * 2.0**-53 * size
    error += sum((f.rounding() * f.sizes[1] + f.lost for f in left_out), zero)
    return intercept, error + machine.intercept_error


class _Curves:
    """The pieces of one feature's functions as they are stored, and their share of the bound.

    Parameters
    ----------
    column : int
        The feature.
    curve : FeatureCurve
    """

    def __init__(self, column: int, curve: FeatureCurve, low_parts: bool) -> None:
        self.column, self.curve = column, curve
        exact = curve.coefficients
        stored = _stored(exact, low_parts)
        head = np.column_stack([curve.knots, curve.scales])
        self.table = np.concatenate([head, stored.reshape(len(head), -1)], axis=1)
        off = np.abs(exact - stored)
        off[-1, 1] = 0.0  # of the last piece's line: in `per_reach`
        self.error = off.sum(axis=1).max(axis=0) + curve.errors[:-1].max(axis=0, initial=0.0)
        sizes = np.abs(stored)
        self.line = curve.scales[-1] * sizes[-1, 1]
        self.line_error = curve.scales[-1] * np.abs(exact - stored)[-1, 1] + curve.slope_error
        sizes[-1, 1] = 0.0
        self.products = sizes[:, 1:].sum(axis=1).max(axis=0)
        self.sizes = sizes.sum(axis=1).max(axis=0)

    def rounding(self, additions: int, precision: Precision) -> Float64Array:
        """Return the error of the term and of its additions, but of the last piece's line."""
        gamma = precision.gamma_factor
        # A knot or an input that is read as 0 moves the comparison and the difference.
        underflow = 4 * SMALLEST_NORMAL * (2 * DEGREE + 2 + self.products + self.curve.steepest)
        terms = gamma(additions + 1) * self.sizes + gamma(3 * DEGREE + 1) * self.products
        error: Float64Array = terms + underflow
        return error

    def per_reach(self, additions: int, precision: Precision) -> Float64Array:
        """Return the error of the last piece's line per x."""
        gamma = precision.gamma_factor(additions + 5)
        reach: Float64Array = gamma * self.line + self.line_error
        return reach


def _stored(exact: Float64Array, low_parts: bool) -> Float64Array:
    """Return the coefficients as stored in float32, with low parts if asked for."""
    high = FLOAT32.flushed(exact.astype(np.float32))
    wide: Float64Array = high.astype(np.float64)
    return wide + low_part(exact, high) if low_parts else wide


def _size(functions: Chi2Functions) -> Float64Array:
    """Return the largest values of the functions at some trained values and at 0."""
    trained = np.sort(functions.trained)
    probes = trained[np.linspace(0, len(trained) - 1, _PROBES).astype(int)] if len(trained) else []
    values = functions.values(np.concatenate([[0.0], probes]))
    size: Float64Array = np.abs(values).max(axis=1)
    return size
