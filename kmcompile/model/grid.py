"""Whether the support vectors of a machine lie on an integer grid."""

from __future__ import annotations

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.steps import Affine

LARGEST_CODE = 32767

_NEARLY = 2.0**-30
"""Relative to the largest value, what Euclid's algorithm takes for 0: it adds up roundings."""

_ROUNDED = 2.0**-44
"""The same of what float64 arithmetic before the training may have rounded."""

_LARGEST_ERROR = 1e-6
"""Of a vector, Euclidean norm in units of the grid."""

_LARGEST_FLOAT32_ERROR = 1e-2
"""The same of vectors that are the grid's rounded to float32: the sum's bound holds what they are
off, and no such rounding is larger."""

_USUAL_FACTORS = (255, 10, 100, 1000, 10000, 15, 127, 1023, 4095, 32767)
"""Decimals, and what codes of 4 to 16 bits are divided by."""

_ENOUGH_VALUES = 8
"""Different values that make a common divisor no accident."""


def integer_grid(machine: KernelMachine) -> tuple[Float64Array, float] | None:
    """Return the offset and the factor that make integers of the vectors, or None.

    The integers are those of the raw input, as far as one factor for all features allows: pixels
    that were divided by 255 have factor 255, decimals with two places 100.

    Parameters
    ----------
    machine : KernelMachine
        Its preprocessing is at most one scaler.

    Returns
    -------
    offset : ndarray of shape (n_features,), float64
        In the kernel's space: codes are (s - offset) * factor.
    factor : float
    """
    raw = machine.support_vectors
    low, scale = np.zeros(machine.n_features), 1.0
    for step in machine.preprocessing:
        if not isinstance(step, Affine) or np.ptp(step.factor) != 0:
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
    """Return the factor of which all products with `values` are integers, or None.

    The greatest common divisor of the values; None if it is too small for 16 bits. That of the
    differences in a column first: far from 0 they are the smaller numbers with the same rounding.
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
    """Return the whole number n of which the values are float32(k / n) with integers k, or None.

    Data are often divided in float32. That each is exactly such a number is no accident.
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
    """Return the greatest common divisor of `divisor` and the values, from `least` on."""
    seen = [divisor]
    while divisor >= least:
        counts = np.rint(values / divisor)
        off = np.abs(values - counts * divisor) > nearly_zero
        if not off.any():
            return _mean_divisor(values, divisor)
        seen.append(float(values[off][0]))
        divisor = _euclid(seen[-1], divisor, nearly_zero)
        # What Euclid's algorithm adds up in rounding is taken out again.
        divisor = _mean_divisor(np.array(seen), divisor)
    return None


def _euclid(a: float, b: float, nearly_zero: float) -> float:
    while b > nearly_zero:
        a, b = b, abs(a - round(a / b) * b)
    return a


def _mean_divisor(values: Float64Array, divisor: float) -> float:
    """Return the divisor that fits all values best, of those with the same quotients."""
    counts = np.rint(values / divisor)
    return float((values @ counts) / (counts @ counts))


def _factor(values: Float64Array, divisor: float) -> float | None:
    """Return 1 / divisor, whole or one through a whole number where it is nearly that.

    Few values may well have a divisor that the inputs do not have: for them only whole factors.
    """
    factors = [max(1.0, float(np.rint(1 / divisor)))]
    if len(values) >= _ENOUGH_VALUES:
        factors = [float(np.rint(1 / divisor)), 1 / max(1.0, float(np.rint(divisor))), 1 / divisor]
    for factor in factors:
        scaled = values * factor
        if factor > 0 and np.all(np.abs(scaled - np.rint(scaled)) <= _ROUNDED * scaled[-1]):
            return factor
    return None
