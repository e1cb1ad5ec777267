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
from kmcompile.lower.feature_functions import NEGLIGIBLE
from kmcompile.lower.stored import low_part
from kmcompile.lower.sum_constants import RESULT_ROUNDINGS
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
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
    columns = machine.support_vectors.T
    functions = [Chi2Functions(column, beta) for column in columns]
    weight = np.abs(beta).sum(axis=1)
    constant = [bool((f.steepest(0.0, np.inf) <= NEGLIGIBLE * weight).all()) for f in functions]
    if all(constant):
        constant[-1] = False
    largest = columns.max()
    tolerance = TOLERANCE * np.sum([_size(f) for f in functions], axis=0) + SMALLEST_NORMAL
    curves = {
        j: feature_curve(f, tolerance, float(np.float32(max(REACH * columns[j].max(), largest))))
        for j, f in enumerate(functions)
        if not constant[j]
    }
    pieces = [
        _Curves(j, curve, low_parts and precision is not FLOAT32) for j, curve in curves.items()
    ]
    pieces.sort(key=lambda own: float(own.sizes.sum()))
    left_out = [f for j, f in enumerate(functions) if constant[j]]

    zero = np.zeros((len(beta), 1))
    shift = sum((f.values(np.zeros(1)) for f in left_out), zero)[:, 0]
    exact = machine.intercept + shift
    intercept = exact.astype(precision.dtype)
    size = sum((f.sizes[1] for f in left_out), np.abs(machine.intercept))
    minimum = np.abs(exact - intercept) + (len(columns) + 2) * 2.0**-53 * size
    minimum += sum((f.rounding() * f.sizes[1] + f.lost for f in left_out), 0 * weight)
    reaches = [f.steepest(0.0, np.inf) for f in left_out]
    beyond = np.zeros(len(beta))
    for q, own in enumerate(pieces):
        additions = len(pieces) - q
        minimum += own.error + own.rounding(additions, precision)
        reaches.append(own.per_reach(additions, precision))
        beyond = np.maximum(beyond, own.curve.errors[-1])
    lengths = machine.support_vectors.sum(axis=1)
    minimum += _PASSES * np.abs(beta) @ lengths
    per_length = _norm(reaches) + _PASSES * weight * np.sqrt(len(columns))
    steepest = [own.curve.steepest for own in pieces]
    steepest += [f.steepest(0.0, np.inf) for f in left_out]
    if sum(len(own.table) for own in pieces) > _MAX_PIECES:
        raise InputError("the functions of all features have too many pieces")
    return CurveSum(
        n_prepared=len(columns),
        degree=DEGREE,
        weights=np.concatenate([own.table for own in pieces]),
        function_columns=np.array([own.column for own in pieces]),
        function_ends=np.cumsum([len(own.table) for own in pieces]),
        intercept=intercept,
        per_length=precision.bound_constants(per_length * (1 + 1e-9)),
        per_deviation=precision.bound_constants(_norm(steepest) * (1 + 1e-9)),
        minimum=precision.bound_constants(minimum * (1 + 1e-9)),
        beyond=precision.bound_constants(beyond),
        result_error=precision.bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
    )


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
    high = exact.astype(np.float32)
    high = np.where(np.abs(high) < SMALLEST_NORMAL, np.float32(0.0), high)
    wide: Float64Array = high.astype(np.float64)
    return wide + low_part(exact, high) if low_parts else wide


def _size(functions: Chi2Functions) -> Float64Array:
    """Return the largest values of the functions at some trained values and at 0."""
    trained = np.sort(functions.trained)
    probes = trained[np.linspace(0, len(trained) - 1, _PROBES).astype(int)] if len(trained) else []
    values = functions.values(np.concatenate([[0.0], probes]))
    size: Float64Array = np.abs(values).max(axis=1)
    return size


def _norm(rows: list[Float64Array]) -> Float64Array:
    """Return the Euclidean norms over functions of their values for each decision."""
    norm: Float64Array = np.sqrt((np.stack(rows) ** 2).sum(axis=0))
    return norm
