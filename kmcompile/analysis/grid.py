"""Whether the support vectors of a machine lie on an integer grid."""

from __future__ import annotations

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.preprocessing import Affine

LARGEST_CODE = 32767

_NEARLY = 2.0**-30
"""Relative to the largest value, what float64 arithmetic before the training may have rounded."""


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
    factor = grid_factor(raw)
    if factor is None:
        return None
    middle = np.zeros(machine.n_features)
    if np.abs(raw).max() * factor > LARGEST_CODE:
        middle = np.rint((raw.max(axis=0) + raw.min(axis=0)) / 2 * factor) / factor
    if np.abs(raw - middle).max() * factor > LARGEST_CODE:
        return None
    return low + middle * scale, factor / scale


def grid_factor(values: Float64Array) -> float | None:
    """Return the factor of which all products with `values` are integers, or None.

    The greatest common divisor of the values by Euclid's algorithm, as far as their rounding
    allows; None if it is too small for 16 bits.
    """
    different = np.unique(np.abs(values - values.min(axis=0)))
    different = np.unique(np.concatenate([different, np.abs(values).reshape(-1)]))
    different = different[different > 0]
    if not len(different):
        return 1.0
    largest = float(different[-1])
    spread = max(float(np.ptp(values, axis=0).max()), float(different[0]))
    divisor = float(different[0])
    while spread / divisor <= 2 * LARGEST_CODE:
        rest = np.abs(different - np.rint(different / divisor) * divisor)
        off = rest > _NEARLY * largest
        if not off.any():
            return _simplest(different, divisor)
        divisor = float(rest[off].min())
    return None


def _simplest(values: Float64Array, divisor: float) -> float | None:
    """Return 1 / divisor, whole or one through a whole number where it is nearly that."""
    counts = np.rint(values / divisor)
    refined = float((values @ counts) / (counts @ counts))
    for factor in (float(np.rint(1 / refined)), 1 / max(1.0, np.rint(refined)), 1 / refined):
        if factor > 0 and np.all(np.abs(values * factor - counts) <= _NEARLY * counts.max()):
            return factor
    return None
