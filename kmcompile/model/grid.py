"""Search for an integer grid on which the support vectors of a machine lie."""

from __future__ import annotations

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.steps import Affine

LARGEST_CODE = 32767

_NEARLY = 2.0**-30
"""Remainders of Euclid's algorithm below this share of the largest value count as 0: they are
sums of rounding errors."""

_ROUNDED = 2.0**-44
"""Distances from an integer below this share of the largest value count as 0: float64 arithmetic
before the training may have rounded."""

_LARGEST_ERROR = 1e-6
"""Largest distance of a vector from its grid point, Euclidean, in units of the grid."""

_LARGEST_FLOAT32_ERROR = 1e-2
"""Largest such distance where the vectors are grid points rounded to float32. The error bound of
the sum contains this distance, and rounding to float32 never exceeds it."""

_USUAL_FACTORS = (255, 10, 100, 1000, 10000, 15, 127, 1023, 4095, 32767)
"""Factors of decimals, and the largest codes of 4 to 16 bits, by which data are divided."""

_ENOUGH_VALUES = 8
"""Number of different values from which on a common divisor is no accident."""


def integer_grid(
    machine: KernelMachine, vectors: Float64Array | None = None
) -> tuple[Float64Array, float] | None:
    """Return the offset and the factor that turn the support vectors into integers, or None.

    One factor holds for all features. Pixels that were divided by 255 give the factor 255,
    decimals with two places the factor 100.

    Parameters
    ----------
    machine : KernelMachine
        Its preprocessing is at most one scaler.
    vectors : ndarray of shape (n, n_features), float64, optional
        The vectors that shall lie on the grid, by default the support vectors.

    Returns
    -------
    offset : ndarray of shape (n_features,), float64
        Offset in the space of the kernel: the codes of a vector s are (s - offset) * factor.
    factor : float
    """
    raw = machine.support_vectors if vectors is None else vectors
    low, scale = np.zeros(machine.n_features), 1.0
    steps = [step for step in machine.preprocessing if isinstance(step, Affine)]
    if len(steps) < len(machine.preprocessing):
        return None
    for step in steps:
        if np.ptp(step.factor) != 0:
            return None
        raw = raw / step.factor + step.offset
        low, scale = -step.offset * step.factor, float(step.factor[0])
    factor, most = grid_factor(raw), _LARGEST_ERROR
    if factor is None:
        factor, most = float32_factor(raw), _LARGEST_FLOAT32_ERROR
    if factor is None:
        return None
    middle = np.zeros(machine.n_features)
    if np.abs(raw).max() * factor > LARGEST_CODE:
        middle = np.rint((raw.max(axis=0) + raw.min(axis=0)) / 2 * factor) / factor
    codes = (raw - middle) * factor
    off = np.sqrt(((codes - np.rint(codes)) ** 2).sum(axis=1)).max()
    if np.abs(codes).max() > LARGEST_CODE or off > most:
        return None
    return low + middle * scale, factor / scale


def grid_factor(values: Float64Array) -> float | None:
    """Return the factor that turns `values` into integers, or None if there is none in 16 bits.

    The factor is the inverse of the greatest common divisor of the values. The search starts with
    the differences within a column: far from 0 the differences are smaller than the values and
    have equal rounding errors.
    """
    size = np.unique(np.abs(values))
    nearly_zero = _NEARLY * float(size[-1])
    least = float(np.ptp(values, axis=0).max()) / (2 * LARGEST_CODE)
    divisor = None
    for part in (np.unique(values - values.min(axis=0)), size):
        part = part[part > nearly_zero]
        if len(part):
            divisor = _common_divisor(part, divisor or float(part[0]), least, nearly_zero)
            if divisor is None:
                return None
    return 1.0 if divisor is None else _factor(size, divisor)


def float32_factor(values: Float64Array) -> float | None:
    """Return a whole number n such that every value is float32(k / n) with an integer k, or None.

    Data are often divided in float32. Values that all have this form bit for bit have it by no
    accident.
    """
    size = np.unique(np.abs(values))
    if len(size) < _ENOUGH_VALUES or (size.astype(np.float32) != size).any():
        return None
    for factor in (round(1 / float(size[size > 0][0])), *_USUAL_FACTORS):
        codes = np.rint(size * factor)
        if 0 < codes[-1] <= LARGEST_CODE and np.all((codes / factor).astype(np.float32) == size):
            return float(factor)
    return None


def _common_divisor(
    values: Float64Array, divisor: float, least: float, nearly_zero: float
) -> float | None:
    """Return the greatest common divisor of `divisor` and the values, or None if below `least`."""
    seen = [divisor]
    while divisor >= least:
        counts = np.rint(values / divisor)
        off = np.abs(values - counts * divisor) > nearly_zero
        if not off.any():
            return _mean_divisor(values, divisor)
        seen.append(float(values[off][0]))
        divisor = _euclid(seen[-1], divisor, nearly_zero)
        # A fit to all values removes the rounding errors that Euclid's algorithm adds up.
        divisor = _mean_divisor(np.array(seen), divisor)
    return None


def _euclid(a: float, b: float, nearly_zero: float) -> float:
    while b > nearly_zero:
        a, b = b, abs(a - round(a / b) * b)
    return a


def _mean_divisor(values: Float64Array, divisor: float) -> float:
    """Return the divisor near `divisor` whose multiples fit the values best in least squares."""
    counts = np.rint(values / divisor)
    return float((values @ counts) / (counts @ counts))


def _factor(values: Float64Array, divisor: float) -> float | None:
    """Return 1 / divisor, replaced by a whole number or its inverse if one is nearly equal.

    A few values may have a divisor that other inputs do not have. For them only whole factors are
    tried. None if no factor turns the values into integers.
    """
    factors = [max(1.0, float(np.rint(1 / divisor)))]
    if len(values) >= _ENOUGH_VALUES:
        factors = [float(np.rint(1 / divisor)), 1 / max(1.0, float(np.rint(divisor))), 1 / divisor]
    for factor in factors:
        scaled = values * factor
        if factor > 0 and np.all(np.abs(scaled - np.rint(scaled)) <= _ROUNDED * scaled[-1]):
            return factor
    return None
