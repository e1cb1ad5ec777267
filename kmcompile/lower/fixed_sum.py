"""Lowering of an rbf machine with codes to its sum in fixed-point integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.kernels import Rbf
from kmcompile.kernels.float32 import KernelContext
from kmcompile.lower.code_table import code_table, slot_order
from kmcompile.lower.codes import Coded, check_gamma
from kmcompile.lower.feature_space import VectorPairs, distance
from kmcompile.lower.sums import SignGroup, integer_groups
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, bound_constant, bound_constants, stored_error
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages.fixed_sum import FixedSum

_RESULT_ROUNDINGS = 5
"""Roundings relative to |f|, counted twice: the conversion to float32, and the outward rounding of
lower and upper."""

_WIDE = 1 << 32
_MOST_BLOCKS = 0xFFFF

_LEAST_STEP = 2.0**-64
_LARGEST_SUM = 2.0**100


def lower_fixed_sum(
    coded: Coded,
    lanes: int,
    layout: str,
    wide_coefficients: bool,
    typical_deviation: float = 0.0,
) -> FixedSum:
    """Return the stage of an rbf machine with codes.

    Parameters
    ----------
    coded : Coded
    lanes : int
    layout : str
        Layout of the codes (`kmcompile.program.stages.CodeTable`).
    wide_coefficients : bool
        Whether coefficients have 32 bits instead of 16.
    typical_deviation : float
        Deviation of an ordinary input, for the float32 kernel of early exits.
    """
    machine = coded.machine
    assert isinstance(machine.kernel, Rbf)
    gamma = machine.kernel.gamma
    trained = decision_coefficients(machine)
    rounded = coded.codes.astype(np.float64) * coded.unit
    pairs = VectorPairs(gamma, machine.support_vectors, rounded)
    moved = stored_error(pairs.trained, pairs.stored) + coded.moved_error
    if coded.lossless:
        pairs = replace(pairs, trained=pairs.stored)
    groups = integer_groups(coded.fitted, lanes)
    ends = np.cumsum([-(-len(group.vectors) // lanes) for group in groups])
    if ends[-1] > _MOST_BLOCKS or 2 * machine.n_decisions > _MOST_BLOCKS:
        raise InputError(
            f"{machine.n_support_vectors} support vectors and {machine.n_decisions} decisions are "
            "more than the tables can index\ntrain with fewer"
        )
    order, filled = slot_order(groups, lanes)
    codes = code_table(coded, order, filled, layout, lanes)
    scale = _exponent_scale(gamma * coded.unit**2, codes.largest_distance())
    rho = _relative_error(scale, gamma * coded.unit**2)
    fitted = decision_coefficients(coded.fitted)
    step = _coefficient_step(coded.fitted, np.abs(fitted).sum(axis=1), wide_coefficients)
    stored = np.rint(fitted / step) * step
    size = np.abs(stored).sum(axis=1) * (1 + 1e-9)
    unit = step * 2.0**-exp2_fixed.RESULT_BITS
    start = np.column_stack(
        [np.rint(np.maximum(sign * machine.intercept, 0.0) / unit) for sign in (1, -1)]
    ).astype(np.uint64)
    result_shift = _result_shift(start, size / step, len(order))
    result = float(np.ldexp(unit, result_shift))
    far = distance(pairs, trained, stored)
    root = math.sqrt(2 * gamma) * (1 + 1e-12)
    of_vectors = far.apart + np.abs(trained).sum(axis=1) * root * (
        moved if coded.lossless else coded.moved_error
    )
    # The intercept is rounded, the result truncated.
    minimum = of_vectors + size * exp2_fixed.SHIFT_ERROR * (1 + 1e-6) + unit / 2 + result
    return FixedSum(
        codes=codes,
        per_unit=np.float32(1 / coded.unit),
        kernel=machine.kernel.lower(
            KernelContext(
                n_features=machine.n_features,
                vector_error=moved,
                vector_length=float(np.sqrt(codes.squares.max())) * coded.unit,
                typical_deviation=typical_deviation,
                sum_error=0.0,
                skip_zeros=False,
            )
        ),
        n_vectors=machine.n_support_vectors,
        lanes=lanes,
        distance_shift=scale.distance_shift,
        multiplier=scale.multiplier,
        product_shift=scale.product_shift,
        cutoff=scale.cutoff,
        coefficients=_coefficients(groups, lanes, step),
        group_ends=ends,
        group_rows=_group_rows(groups),
        start=start,
        result_shift=result_shift,
        result_scale=np.float32(result),
        value_error=bound_constant(rho / (1 - rho)),
        result_error=bound_constant(_RESULT_ROUNDINGS * UNIT_ROUNDOFF),
        per_deviation=bound_constants(far.length * root),
        minimum=bound_constants(minimum),
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    """t = (D^2 >> distance_shift) * multiplier >> product_shift, up to the cutoff."""

    distance_shift: int
    multiplier: int
    product_shift: int
    cutoff: int


def _exponent_scale(gamma: float, largest: int) -> _Scale:
    """Return the constants of t = gamma D^2 / ln 2 with 26 fractional bits.

    The multiplier has 32 bits and the shifted distance at most 32, so that their product fits 64
    bits. product_shift is from 0 to 63, because gamma / ln 2 is from 2^-58 to below 2^6
    (`kmcompile.lower.codes.check_gamma`).
    """
    check_gamma(gamma)
    exact = gamma / math.log(2) * 2.0**exp2_fixed.ARGUMENT_BITS
    least = min(exp2_fixed.ARGUMENT_END / exact * (1 + 2.0**-20) + 2, float(largest) + 1)
    distance_shift = max(0, math.ceil(least).bit_length() - 32)
    per_unit = exact * 2.0**distance_shift
    product_shift = 32 - math.frexp(per_unit)[1]
    multiplier = min(round(per_unit * 2.0**product_shift), _WIDE - 1)
    end = -(-(exp2_fixed.ARGUMENT_END << product_shift) // multiplier)
    return _Scale(
        distance_shift, multiplier, product_shift, min(end << distance_shift, largest + 1)
    )


def _relative_error(scale: _Scale, gamma: float) -> float:
    """Return a bound rho on |k / K - 1| of a kernel value k, before the shift of 2^-t.

    The error of t, which is at most 32, has four parts. The multiplier, at least 2^31, is rounded
    by 1 / 2, or by 1 if it would be 2^32: 2^-32 of t. gamma and 1 / ln 2 are rounded in float64:
    2^-50 of t. The product is truncated by less than 2^-26. The shift truncates the distance by at
    most 2^distance_shift - 1. The error of the function 2^-t is added.
    """
    t = 2.0**-27 + 2.0**-26 + 2.0**-44
    t += gamma / math.log(2) * (2.0**scale.distance_shift - 1)
    return math.expm1(t * math.log(2)) * (1 + 1e-6) + exp2_fixed.RELATIVE_ERROR * (1 + 1e-6)


def _coefficient_step(machine: KernelMachine, magnitude: Float64Array, wide: bool) -> float:
    """Return the unit of the coefficients: a power of two, so that the box bound C is often exact.

    In this unit a coefficient has at most 16 or 32 bits, and the magnitudes of a decision's
    coefficients and intercept add up to less than 2^32. The unit is large enough that every result
    is a normal float32.
    """
    largest = float(np.abs(machine.dual_coef).max())
    sum_of_all = float((magnitude + np.abs(machine.intercept)).max())
    if sum_of_all >= _LARGEST_SUM:
        raise InputError(
            f"coefficients and intercept add up to {sum_of_all:g}, must be below "
            f"{_LARGEST_SUM:.3g}\nretrain with a smaller C"
        )
    roundings = 0.5 * machine.n_support_vectors
    room = float(_WIDE) - 1 - roundings
    least = max(largest / ((1 << (32 if wide else 16)) - 1), sum_of_all / room, _LEAST_STEP)
    return math.ldexp(1.0, math.ceil(math.log2(least)))


def _coefficients(groups: list[SignGroup], lanes: int, step: float) -> NDArray[np.uint32]:
    """Return |beta| / step, rounded, in blocks of shape (n_blocks, n_rows, lanes)."""
    blocks = []
    for group in groups:
        padding = -len(group.vectors) % lanes
        rows = np.pad(np.rint(np.abs(group.rows) / step), ((0, 0), (0, padding)))
        blocks.append(rows.reshape(len(rows), -1, lanes).transpose(1, 0, 2))
    return np.concatenate(blocks).astype(np.uint32)


def _group_rows(groups: list[SignGroup]) -> NDArray[np.uint16]:
    negative = [(group.rows < 0).any(axis=1) for group in groups]
    decisions = np.array([group.decisions for group in groups])
    return (2 * decisions + np.array(negative)).astype(np.uint16)


def _result_shift(start: NDArray[np.uint64], codes: Float64Array, n_slots: int) -> int:
    """Return the shift after which every sum, rounded up, fits 32 bits."""
    most = float(start.max()) + 2.0**31 * (float(codes.max()) + n_slots) + 2.0**32
    return max(0, math.ceil(math.log2(most)) - 32 + 1)
