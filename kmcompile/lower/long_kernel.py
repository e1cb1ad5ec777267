"""Lowering of kernel values in integers of 64 bits, with the bound of their error."""

from __future__ import annotations

import math
from fractions import Fraction

from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.numeric.scalar import exp2_long
from kmcompile.program.stages.sums.long_kernel import LongKernel

_LOG2_E = Fraction(0x171547652B82FE1777D0FFDA0D23A7D11D6AEF551, 1 << 160)

_LEAST_LIMIT = 1 << 16
"""Where the kernel falls to 0 within fewer squares of units, units are too coarse for it."""

_LEAST_HALF_BITS = 12

_ROUNDINGS = 4
"""Of the two sums to float64, and of their sum, relative to the sum of |coefficients|; one more."""


def long_kernel(gamma: Fraction, most_units: int) -> LongKernel | None:
    """Return the kernel in integers; None where 64 bits do not do.

    Parameters
    ----------
    gamma : Fraction
        Per square of a unit of vectors and inputs.
    most_units : int
        The largest sum of |units| of a decision's coefficients.
    """
    per_square = gamma * _LOG2_E
    limit = math.ceil(exp2_long.RESULT_BITS / per_square)
    half_bits = min(LongKernel.most_half_bits, 63 - most_units.bit_length())
    if limit < _LEAST_LIMIT or half_bits < _LEAST_HALF_BITS:
        return None
    shift = max(0, 64 - limit.bit_length())
    factor = round(per_square * (1 << (exp2_long.ARGUMENT_BITS + 64 - shift)))
    return LongKernel(min(limit, (1 << 64) - 1), shift, factor, half_bits)


def value_error(kernel: LongKernel) -> float:
    """Return a bound on the error of a decision per sum of |coefficients|.

    - t is off by less than one half for the factor and `exp2_long.PRODUCT_ERROR` for the product,
      in units of 2^-57: 2^-55 in all, relative to 2^-t times ln 2.
    - The function adds its relative error. Truncation to 2 half_bits bits takes off less than 1 of
      the last of them, and beyond the limit 0 is nearer than 2^-40.
    - Products and sums are exact. Halves are rounded to float64, and added.
    """
    relative = exp2_long.RELATIVE_ERROR + 2.0**-55 + _ROUNDINGS * UNIT_ROUNDOFF_64
    return float((relative + 2.0 ** (-2 * kernel.half_bits)) * (1 + 1e-9))
