"""Lowering of an rbf machine with codes to its sum in fixed-point integers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.kernels import Rbf
from kmcompile.kernels.float32 import KernelContext
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.lower.code_table import code_table, slot_order
from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_space import VectorPairs, distance
from kmcompile.lower.fixed_point import (
    RESULT_ROUNDINGS,
    coefficient_step,
    distance_shift_of,
    exponent_scale,
    relative_error,
    result_shift_of,
    starts_of,
)
from kmcompile.lower.sums import SignGroup, integer_groups
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, bound_constant, bound_constants, stored_error
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.fixed_sum import FixedSum

_MOST_BLOCKS = 0xFFFF
_SMALLER = 2.0
"""By which factor the gamma of a retrained model may be smaller, in units of its codes."""


def lower_fixed_sum(
    coded: Coded,
    lanes: int,
    layout: str,
    wide_coefficients: bool,
    typical_deviation: float = 0.0,
    of_any: bool = False,
    distance_shift: int | None = None,
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
    of_any : bool
        Whether the codes' table has room for any vectors (`kmcompile.lower.code_table`).
    distance_shift : int, optional
        With `of_any`, the bits of a distance that the code leaves out; by default so many that
        gamma may become half as large.
    """
    machine = coded.machine
    gamma = machine.kernel.gaussian_gamma
    groups, ends = _groups(coded, lanes)
    order, filled = slot_order(groups, lanes)
    codes = code_table(coded, order, filled, layout, lanes, of_any)
    scaled, largest = gamma * coded.unit**2, codes.largest_distance()
    if of_any and distance_shift is None:
        distance_shift = distance_shift_of(scaled / _SMALLER, largest) if codes.wide else 0
    scale = exponent_scale(scaled, largest, distance_shift)
    rho = relative_error(scale, scaled)
    fitted = decision_coefficients(coded.fitted)
    magnitude = np.abs(fitted).sum(axis=1) + np.abs(machine.intercept)
    step = coefficient_step(
        float(np.abs(coded.fitted.dual_coef).max()),
        float(magnitude.max()),
        machine.n_support_vectors,
        32 if wide_coefficients else 16,
    )
    stored = np.rint(fitted / step) * step
    size = np.abs(stored).sum(axis=1) * (1 + 1e-9)
    unit = step * 2.0**-exp2_fixed.RESULT_BITS
    start = starts_of(machine.intercept, unit)
    result_shift = result_shift_of(start, size / step, len(order))
    result = float(np.ldexp(unit, result_shift))
    moved, of_vectors, length = _apart(coded, stored)
    # The intercept is rounded, the result truncated.
    minimum = of_vectors + size * exp2_fixed.SHIFT_ERROR * (1 + 1e-6) + unit / 2 + result
    minimum += machine.intercept_error
    return FixedSum(
        codes=codes,
        per_unit=np.float32(1 / coded.unit),
        kernel=_kernel_of_exits(coded, codes, moved, typical_deviation),
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
        result_error=bound_constant(RESULT_ROUNDINGS * UNIT_ROUNDOFF),
        per_deviation=bound_constants(length),
        minimum=bound_constants(minimum),
    )


def _kernel_of_exits(
    coded: Coded, codes: CodeTable, moved: float, typical_deviation: float
) -> RbfFloat32:
    """Return the float32 kernel, which early exits before the sum compute."""
    return Rbf(coded.machine.kernel.gaussian_gamma).lower(
        KernelContext(
            n_features=coded.machine.n_features,
            vector_error=moved,
            vector_length=float(np.sqrt(codes.squares.max())) * coded.unit,
            typical_deviation=typical_deviation,
            sum_error=0.0,
            skip_zeros=False,
        )
    )


def _groups(coded: Coded, lanes: int) -> tuple[list[SignGroup], NDArray[np.uint16]]:
    """Return the groups of vectors, and after how many blocks each ends; InputError if too many."""
    machine = coded.machine
    groups = integer_groups(coded.fitted, lanes)
    ends = np.cumsum([-(-len(group.vectors) // lanes) for group in groups])
    if ends[-1] > _MOST_BLOCKS or 2 * machine.n_decisions > _MOST_BLOCKS:
        raise InputError(
            f"{machine.n_support_vectors} support vectors and {machine.n_decisions} decisions are "
            "more than the tables can index\ntrain with fewer"
        )
    return groups, ends.astype(np.uint16)


def _apart(coded: Coded, stored: Float64Array) -> tuple[float, Float64Array, Float64Array]:
    """Return how far the rounded vectors are from the trained ones, and what it makes of decisions.

    Parameters
    ----------
    coded : Coded
    stored : ndarray of shape (n_decisions, n_sv), float64
        The coefficients as they are stored.

    Returns
    -------
    float
        Bound on the distance of a vector from its codes.
    ndarray of shape (n_decisions,), float64
        What the decisions are off by for an input that is its codes.
    ndarray of shape (n_decisions,), float64
        By how much more for each unit of an input's distance from its codes.
    """
    machine = coded.machine
    gamma = machine.kernel.gaussian_gamma
    trained = decision_coefficients(machine)
    rounded = coded.codes.astype(np.float64) * coded.unit
    pairs = VectorPairs(gamma, machine.support_vectors, rounded)
    moved = stored_error(pairs.trained, pairs.stored) + coded.moved_error
    if coded.lossless:
        pairs = replace(pairs, trained=pairs.stored)
    far = distance(pairs, trained, stored)
    root = math.sqrt(2 * gamma) * (1 + 1e-12)
    of_vectors = far.apart + np.abs(trained).sum(axis=1) * root * (
        moved if coded.lossless else coded.moved_error
    )
    return moved, of_vectors, far.length * root


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
