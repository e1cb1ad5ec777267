"""Trained numbers as tables hold them: in float32, with a low part for the replay.

The replay reads the float32 tables of the exact sum and, where this pays, tables of low parts
float32(trained - stored). A float64 has 53 significant bits. The stored number takes 24 of them,
the low part takes 24 of the remaining 29 or fewer. (double)stored + (double)low has at most 53 bits
and is exact.
"""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array, RealArray
from kmcompile.numeric.rounding import FLOAT32, SMALLEST_NORMAL, UNIT_ROUNDOFF_64, Precision


def stored(values: Float64Array, precision: Precision, low_parts: bool) -> RealArray:
    """Return the numbers with which the C computes, in its precision.

    Parameters
    ----------
    values : ndarray of any shape, float64
    precision : Precision
    low_parts : bool
        Whether low parts are added. They have an effect only in float64.
    """
    high = values.astype(np.float32)
    if precision is FLOAT32:
        return high
    wide = high.astype(np.float64)
    return wide + low_part(values, high) if low_parts else wide


def low_part(values: Float64Array, high: Float32Array) -> Float32Array:
    """Return float32(values - high), with 0 for subnormal numbers, which might be flushed."""
    return FLOAT32.flushed((values - high).astype(np.float32))


def relative_error(values: Float64Array, precision: Precision, low_parts: bool) -> float:
    """Return a bound on |values - stored| / |stored|, but for subnormal float32 numbers.

    In float64 the bound is measured, plus 2^-53 for coefficients that a pass or a reader has
    added up.
    """
    if precision is FLOAT32:
        return precision.unit_roundoff
    table = stored(values, precision, low_parts)
    normal = np.abs(table) >= SMALLEST_NORMAL
    off = np.abs(values - table)[normal] / np.abs(table[normal])
    return float(off.max(initial=0.0)) * (1 + 1e-12) + 2 * UNIT_ROUNDOFF_64


def flushed_norm(table: RealArray) -> float:
    """Return how far a row of the table moves in norm if subnormal float32 numbers are read as 0.

    Such a row may meet an input so long that what is lost is no underflow of the products.
    """
    if not ((table != 0) & (np.abs(table) < SMALLEST_NORMAL)).any():
        return 0.0
    return float(np.sqrt(table.shape[1])) * SMALLEST_NORMAL
