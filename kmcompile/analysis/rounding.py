"""Rounding-error constants, computed in float64 and rounded up to float32.

Notation of Higham, Accuracy and Stability of Numerical Algorithms (2002), chapters 2 and 3:
u is the unit roundoff of float32 and gamma_n = n u / (1 - n u).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kmcompile.errors import InputError
from kmcompile.ir.arrays import Float32Array

UNIT_ROUNDOFF = 2.0**-24
"""u of float32, round to nearest."""

SMALLEST_NORMAL = 2.0**-126
"""The error of one operation that underflows is at most this, flushed to zero or not."""

LARGEST_INTERMEDIATE = 2.0**120
"""No intermediate of an accepted input exceeds this; the range analysis sees to it."""

_LARGEST_FACTOR = 2.0**100
"""No parameter of a kernel may be larger."""

UNIT_ROUNDOFF_64 = 2.0**-53
"""u of float64, in which the constants are computed."""

_SLACK = 1.0 + 2.0**-18
"""Covers the float32 evaluation of one bound (at most 16 roundings upward of a constant) and
the float64 rounding of the constants themselves."""


def gamma_factor(n: float) -> float:
    """Return gamma_n = n u / (1 - n u) of float32.

    Examples
    --------
    >>> gamma_factor(1) > UNIT_ROUNDOFF
    True
    """
    if n * UNIT_ROUNDOFF >= 0.5:
        raise InputError(
            f"a sum of {n:.0f} terms has no error bound in float32; train a smaller model"
        )
    return n * UNIT_ROUNDOFF / (1 - n * UNIT_ROUNDOFF)


def bound_constant(value: float) -> np.float32:
    """Return a float32 that is at least `value` times the slack of a bound's evaluation.

    Never subnormal and never 0, so that flushing subnormals cannot lose it.

    Examples
    --------
    >>> bool(bound_constant(1.0) > 1.0), float(bound_constant(0.0)) == SMALLEST_NORMAL
    (True, True)
    """
    return np.float32(bound_constants(value))


def bound_constants(values: ArrayLike) -> Float32Array:
    """Return `bound_constant` of every element."""
    widened = np.asarray(values, dtype=np.float64) * _SLACK
    up = np.nextafter(widened.astype(np.float32), np.float32(np.inf))
    return np.maximum(up, np.float32(SMALLEST_NORMAL))


def stored_factor(name: str, value: float) -> np.float32:
    """Return a kernel's parameter that multiplies, in float32: its error is relative.

    Raises
    ------
    InputError
        If it is no normal number in float32.

    Examples
    --------
    >>> float(stored_factor("gamma", 0.5))
    0.5
    """
    if not SMALLEST_NORMAL <= abs(value) < _LARGEST_FACTOR:
        raise InputError(
            f"{name} is {value:g}, must be from {SMALLEST_NORMAL:.3g} to "
            f"{_LARGEST_FACTOR:.3g} for float32; scale the data and retrain"
        )
    return np.float32(value)


def stored_error(exact: np.ndarray, stored: np.ndarray) -> float:
    """Return the largest Euclidean norm of a row of `exact - stored`, rounded up.

    Parameters
    ----------
    exact : ndarray of shape (n, n_features), float64
    stored : ndarray of shape (n, n_features), float32
    """
    if exact.size == 0:
        return 0.0
    difference = np.asarray(exact, dtype=np.float64) - stored
    # What passes rounded in float64 before is below 2^-50 of a row.
    rest = 2.0**-50 * np.sqrt((np.asarray(stored, dtype=np.float64) ** 2).sum(axis=1))
    return float((np.sqrt((difference**2).sum(axis=1)) * (1 + 1e-12) + rest).max())
