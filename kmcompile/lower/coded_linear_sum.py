"""Lowering of a linear machine with codes to its sum in integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.lower.codes import Coded
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.sum_linear import sum_linear
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.coded_linear_sum import (
    LARGEST_BASE,
    LEAST_LOG2,
    MOST_LOG2,
    WEIGHT_BITS,
    CodedLinearSum,
)
from kmcompile.steps import Digitize
from kmcompile.steps.digitize import PARTS
from kmcompile.target import Target

_HALF = 1 << (WEIGHT_BITS - 1)

_ROUNDED_DOWN = 4
"""Units of a bound that its own integers lose."""

_SHIFT = 8
"""By how much products are shifted where their sums do not fit as they are: a byte."""

_LARGEST_SUM = 2.0**31
_MOST_FEATURES = 1 << 15

_PRODUCT_LONG, _PRODUCT_SHORT = 4, 1
"""Multiply-adds of codes, as `Cost` has them, in a product of this sum: CPUs with an instruction
for the product of two words take two products of codes at a time, and this sum does not."""


def digitize(coded: Coded) -> Digitize:
    """Return the step that rounds inputs to the codes of `kmcompile.lower.linear_codes`."""
    scale = coded.scale
    exponents = -np.log2(scale.step)
    root = 2.0 ** math.ceil(math.log2(coded.machine.n_features) / 2)
    return Digitize(
        low=np.float32(coded.low),
        high=np.float32(coded.high),
        exponents=np.rint(exponents).astype(np.int16),
        origins=np.rint(scale.offset / scale.step).astype(np.int32),
        root=np.float32(root),
        measures=coded.lossless,
    )


def lower_coded_linear(coded: Coded, target: Target, root: float) -> CodedLinearSum:
    """Return the stage of a linear machine.

    Parameters
    ----------
    coded : Coded
        The machine of `kmcompile.lower.linear_codes`.
    target : Target
    root : float
        Deviation of an input whose features are one step from their codes at most.

    Raises
    ------
    InputError
        If there are too many features, or if sums leave the range of float32.
    """
    machine = coded.machine
    n = machine.n_features
    if n > _MOST_FEATURES:
        raise InputError(
            f"{n:,} features are more than sums of 32 bits take, at most {_MOST_FEATURES:,}\n"
            "use --format float32"
        )
    weights, summed_error = sum_linear(machine)
    most = max(-coded.low, coded.high)
    shift = 0
    steps = _step_logs(weights, machine.intercept, most, shift)
    if (steps > _step_logs(weights, machine.intercept, 0, shift)).any():
        shift = _SHIFT
        steps = _step_logs(weights, machine.intercept, most, shift)
    whole = np.rint(np.ldexp(weights, -steps[:, None]))
    units = steps + shift
    if units.max() > MOST_LOG2:
        raise InputError(
            f"the weights are as large as {np.abs(weights).max():g} for a step of their inputs, "
            "too large for integers\nretrain with a smaller C"
        )
    start, base = _starts(coded, whole, units, shift)
    reach = math.sqrt(n) * most
    lost = summed_error + np.abs(decision_coefficients(machine)).sum(axis=1) * coded.moved_error
    lost = lost * reach + machine.intercept_error
    base = base + np.ldexp(lost * (1 + 1e-9), -units) + _ROUNDED_DOWN
    across = np.abs(weights).sum(axis=1) + lost / max(most, 1)
    per_part = np.ceil(np.ldexp(across, -units) * (1 + 1e-9))
    if max(float(base.max()), float(per_part.max())) >= LARGEST_BASE:
        raise InputError(
            "the weights of this linear machine cancel too much for integers\nuse --format float32"
        )
    return CodedLinearSum(
        codes=CodeRange(n, coded.width, coded.low, coded.high),
        weights=(whole + _HALF).astype(np.uint16),
        shift=shift,
        start=np.array(start, dtype=np.uint32),
        exponents=units.astype(np.int16),
        base=np.ceil(base),
        per_part=per_part,
        parts=np.float32(PARTS / root),
        weight=_PRODUCT_LONG if target.multiplies_long else _PRODUCT_SHORT,
        tile=target.feature_tile,
    )


def _step_logs(
    weights: Float64Array, intercept: Float64Array, most: int, shift: int
) -> NDArray[np.int64]:
    """Return the binary logarithm of each decision's step: the least with which nothing overflows.

    Weights have 16 bits with their sign. Sums have 31 for codes of magnitudes up to `most`, with
    room for n + 2 roundings.
    """
    n = weights.shape[1]
    of_weights = np.abs(weights).max(axis=1) / (_HALF - 1)
    room = math.ldexp(_LARGEST_SUM - 2 * n - 4, shift) - most * n / 2
    of_sums = (np.abs(weights).sum(axis=1) * most + np.abs(intercept)) * (1 + 1e-9) / room
    least = np.maximum(np.maximum(of_weights, of_sums), 2.0 ** (LEAST_LOG2 - shift))
    exact = np.ceil(np.log2(least) + 1e-12)
    logs: NDArray[np.int64] = np.maximum(exact, LEAST_LOG2 - shift).astype(np.int64)
    return logs


def _starts(
    coded: Coded, whole: Float64Array, units: np.ndarray, shift: int
) -> tuple[list[int], Float64Array]:
    """Return the constants modulo 2^32, and how far products and constants are rounded, in units.

    With V = W + 2^15 and U = X - low, the sum of W X is that of V U, less 2^15 times the sum of the
    codes X, less low times the sum of W, less n 2^15 low, where low is at most 0.
    """
    n, low = whole.shape[1], -coded.low
    start, off = [], []
    spread = Fraction(n * ((1 << shift) - 1), 2 << shift)
    for row, b, log2 in zip(whole, coded.machine.intercept.tolist(), units.tolist(), strict=True):
        exact = Fraction(b) / Fraction(2) ** log2 + spread
        exact -= Fraction(low * (int(row.sum()) + n * _HALF), 1 << shift)
        nearest = round(exact)
        start.append(nearest % (1 << 32))
        off.append(float(abs(exact - nearest) + spread))
    return start, np.array(off) * (1 + 1e-9)
