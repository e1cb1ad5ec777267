"""Trained numbers as the tables hold them: float32, for the replay with a low part.

The replay reads the float32 tables of the exact sum and, where that pays, tables of low parts:
float32(trained - stored). A float64 has 53 significant bits, the first part takes 24 of them and
leaves 29 or less, the second takes 24 of those: (double)high + (double)low has at most 53 bits
and is exact.
"""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array, RealArray
from kmcompile.numeric.rounding import FLOAT32, SMALLEST_NORMAL, UNIT_ROUNDOFF_64, Precision


def stored(values: Float64Array, precision: Precision, low_parts: bool) -> RealArray:
    """Return what the C computes with, in its precision.

    Parameters
    ----------
    values : ndarray of any shape, float64
    precision : Precision
    low_parts : bool
        Only of use in float64.
    """
    high = values.astype(np.float32)
    if precision is FLOAT32:
        return high
    wide = high.astype(np.float64)
    return wide + low_part(values, high) if low_parts else wide


def low_part(values: Float64Array, high: Float32Array) -> Float32Array:
    """Return float32(values - high), 0 where that would be subnormal and might be flushed."""
    low = (values - high).astype(np.float32)
    return np.where(np.abs(low) < SMALLEST_NORMAL, np.float32(0.0), low)


def relative_error(values: Float64Array, precision: Precision, low_parts: bool) -> float:
    """Return a bound on |values - stored| / |stored|; subnormal float32 are counted elsewhere.

    In float64 it is measured; 2^-53 is for coefficients that a pass has added up.
    """
    if precision is FLOAT32:
        return precision.unit_roundoff
    table = stored(values, precision, low_parts)
    normal = np.abs(table) >= SMALLEST_NORMAL
    off = np.abs(values - table)[normal] / np.abs(table[normal])
    return float(off.max(initial=0.0)) * (1 + 1e-12) + 2 * UNIT_ROUNDOFF_64


def flushed_norm(table: RealArray) -> float:
    """Return how far a row of the table is moved where subnormal float32 are read as 0.

    Float32 arithmetic has that among its underflows.
    """
    if table.dtype == np.float32 or not ((table != 0) & (np.abs(table) < SMALLEST_NORMAL)).any():
        return 0.0
    return float(np.sqrt(table.shape[1])) * SMALLEST_NORMAL
