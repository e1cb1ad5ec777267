"""Lowering of a polynomial machine to the sum over its monomials, in float32 or float64."""

from __future__ import annotations

from math import comb

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.sum_constants import RESULT_ROUNDINGS
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array, lane_blocks
from kmcompile.numeric.rounding import FLOAT32, Precision
from kmcompile.passes.expand_polynomial import Polynomials, expand_polynomial
from kmcompile.program.stages.sums.polynomial_sum import PolynomialSum


def lower_polynomial(
    machine: KernelMachine, lanes: int, precision: Precision = FLOAT32, low_parts: bool = False
) -> PolynomialSum:
    """Return the stage of a polynomial machine, whose support vectors become coefficients.

    Parameters
    ----------
    machine : KernelMachine
        A machine that `can_expand` accepts.
    lanes : int
        The target's number of values that are summed side by side.
    precision : Precision
    low_parts : bool
        Without meaning: in float64 the stage has tables of its own.

    Raises
    ------
    InputError
        If a coefficient overflows.
    """
    made = expand_polynomial(machine)
    n, degree = machine.support_vectors.shape[1], int(made.degrees.max())
    lanes = min(lanes, 1 << (machine.n_decisions - 1).bit_length())
    with np.errstate(over="ignore"):
        stored = precision.flushed(made.coefficients.astype(precision.dtype))
    if not np.isfinite(stored).all():
        raise InputError("the coefficients of the polynomial are too large for its number format")
    wide = stored.astype(np.float64)
    size, error = made.weighted_norms(wide), _stored_error(made, wide)
    k = np.arange(1, degree + 1)
    rounding = np.array([precision.gamma_factor(n + 2 * each) for each in k])
    per_length = rounding * size + error + _underflow(n, degree, precision)
    intercept = precision.flushed(made.constant.astype(precision.dtype))
    constant = np.abs(made.constant - intercept) + np.abs(made.constant_low) + made.error[:, 0]
    constant += (2 * n + 2 * degree + 8) * 2 * precision.smallest_normal
    return PolynomialSum(
        degree=degree,
        width=n,
        terms=lane_blocks(wide, lanes, precision.dtype),
        intercept=intercept,
        per_length=precision.bound_constants(per_length),
        per_deviation=precision.bound_constants(k * (size + error)),
        minimum=precision.bound_constants(constant),
        result_error=precision.bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
    )


def _stored_error(made: Polynomials, wide: Float64Array) -> Float64Array:
    """Return the norms of the errors of the stored coefficients, for each degree."""
    off = np.abs(made.coefficients - wide) + np.abs(made.low)
    return (made.weighted_norms(off) + made.error[:, 1:]) * (1 + 1e-9)


def _underflow(n: int, degree: int, precision: Precision) -> Float64Array:
    """Return what underflow adds to the factors of |x|^k (`PolynomialSum`)."""
    later = [
        2 * n * np.sqrt(comb(n + k - 1, k)) if k < degree else 0.0 for k in range(1, degree + 1)
    ]
    return np.array(later) * 4 * precision.smallest_normal
