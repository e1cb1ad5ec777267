"""The fixed-point numbers of a sum of rbf kernels in integers: exponents, coefficients, results."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.lower.codes import check_gamma
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.scalar import exp2_fixed

RESULT_ROUNDINGS = 5
"""Roundings relative to |f|, counted twice: the conversion to float32, and the outward rounding of
lower and upper."""

_WIDE = 1 << 32
_LEAST_STEP = 2.0**-64
_LARGEST_SUM = 2.0**100


@dataclass(frozen=True, slots=True)
class ExponentScale:
    """t = (D^2 >> distance_shift) * multiplier >> product_shift, up to the cutoff."""

    distance_shift: int
    multiplier: int
    product_shift: int
    cutoff: int


def exponent_scale(gamma: float, largest: int, down: int | None = None) -> ExponentScale:
    """Return the constants of t = gamma D^2 / ln 2 with 26 fractional bits.

    With `down`, which code for images has, it is the distance_shift, and product_shift is 32 at
    most: t is then the upper half of a product of 32 bits each.

    Raises
    ------
    InputError
        If 32 bits do not hold the shifted distances.

    The multiplier has 32 bits and the shifted distance at most 32, so that their product fits 64
    bits. product_shift is from 0 to 63, because gamma / ln 2 is from 2^-58 to below 2^6
    (`kmcompile.lower.codes.check_gamma`).
    """
    check_gamma(gamma)
    exact = gamma / math.log(2) * 2.0**exp2_fixed.ARGUMENT_BITS
    distance_shift = distance_shift_of(gamma, largest)
    if down is not None and down < distance_shift:
        raise InputError(
            f"the code leaves out {down} bits of a distance, and gamma needs {distance_shift} left "
            "out\ncompile the model anew, and fly its code"
        )
    distance_shift = distance_shift if down is None else down
    per_unit = exact * 2.0**distance_shift
    product_shift = 32 - math.frexp(per_unit)[1]
    if down is not None:
        product_shift = min(product_shift, 32)
    multiplier = min(round(per_unit * 2.0**product_shift), _WIDE - 1)
    end = -(-(exp2_fixed.ARGUMENT_END << product_shift) // multiplier)
    return ExponentScale(
        distance_shift, multiplier, product_shift, min(end << distance_shift, largest + 1)
    )


def distance_shift_of(gamma: float, largest: int) -> int:
    """Return how many bits of a distance are left out, so that 32 bits hold it up to t = 32."""
    exact = gamma / math.log(2) * 2.0**exp2_fixed.ARGUMENT_BITS
    least = min(exp2_fixed.ARGUMENT_END / exact * (1 + 2.0**-20) + 2, float(largest) + 1)
    return max(0, math.ceil(least).bit_length() - 32)


def relative_error(scale: ExponentScale, gamma: float) -> float:
    """Return a bound rho on |k / K - 1| of a kernel value k, before the shift of 2^-t.

    The error of t, which is at most 32, has four parts. The multiplier is rounded by 1 / 2, or by 1
    if it would be 2^32: by 2^-32 of t where it is at least 2^31. It is smaller where product_shift
    is 32, and then the error is at most 1 / 2 of the last bit of t, 2^-27. gamma and 1 / ln 2 are
    rounded in float64: 2^-50 of t. The product is truncated by less than 2^-26. The shift truncates
    the distance by at most 2^distance_shift - 1. The error of the function 2^-t is added.
    """
    t = 2.0**-27 + 2.0**-26 + 2.0**-44
    t += gamma / math.log(2) * (2.0**scale.distance_shift - 1)
    return math.expm1(t * math.log(2)) * (1 + 1e-6) + exp2_fixed.RELATIVE_ERROR * (1 + 1e-6)


def coefficient_step(largest: float, sum_of_all: float, n_vectors: int, bits: int) -> float:
    """Return the unit of the coefficients: a power of two, so that the box bound C is often exact.

    In this unit a coefficient has at most `bits` bits, and the magnitudes of a decision's
    coefficients and intercept add up to less than 2^32. The unit is large enough that every result
    is a normal float32.

    Parameters
    ----------
    largest : float
        The largest magnitude of a coefficient.
    sum_of_all : float
        The largest sum of the magnitudes of a decision's coefficients and its intercept.
    n_vectors : int
        The most coefficients of a decision.
    bits : int

    Raises
    ------
    InputError
        If the coefficients add up to 2^100 or more.
    """
    if sum_of_all >= _LARGEST_SUM:
        raise InputError(
            f"coefficients and intercept add up to {sum_of_all:g}, must be below "
            f"{_LARGEST_SUM:.3g}\nretrain with a smaller C"
        )
    room = float(_WIDE) - 1 - 0.5 * n_vectors
    least = max(largest / ((1 << bits) - 1), sum_of_all / room, _LEAST_STEP)
    return math.ldexp(1.0, math.ceil(math.log2(least)))


def starts_of(intercepts: Float64Array, unit: float) -> NDArray[np.uint64]:
    """Return what the two sums of each decision start from, shape (..., 2): + and - of intercepts.

    Parameters
    ----------
    intercepts : ndarray of any shape, float64
    unit : float
        What 1 stands for in a sum.
    """
    signed = np.stack([intercepts, -intercepts], axis=-1)
    return np.rint(np.maximum(signed, 0.0) / unit).astype(np.uint64)


def result_shift_of(start: NDArray[np.uint64], codes: Float64Array, n_slots: int) -> int:
    """Return the shift after which every sum, rounded up, fits 32 bits."""
    most = float(start.max()) + 2.0**31 * (float(codes.max()) + n_slots) + 2.0**32
    return max(0, math.ceil(math.log2(most)) - 32 + 1)
