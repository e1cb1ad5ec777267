"""Rounding-error constants, computed in float64 and rounded up to float32.

Notation of Higham, Accuracy and Stability of Numerical Algorithms (2002), chapters 2 and 3:
u is the unit roundoff and gamma_n = n u / (1 - n u). The functions of this module are the methods
of `FLOAT32`; `FLOAT64` has the methods for the replay in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Real, RealArray

UNIT_ROUNDOFF = 2.0**-24
"""u of float32 with round to nearest."""

SMALLEST_NORMAL = 2.0**-126
"""The error of one operation that underflows is at most this, flushed to zero or not."""

LARGEST_INTERMEDIATE = 2.0**120
"""The range analysis keeps every intermediate result of an accepted input within this."""

_LARGEST_FACTOR = 2.0**100
"""No factor of a kernel, such as gamma, may be larger."""

UNIT_ROUNDOFF_64 = 2.0**-53
"""u of float64, in which this module computes the constants."""

_SLACK = 1.0 + 2.0**-18
"""Covers the roundings in the evaluation of one bound on the board (at most 20 after a constant)
and the rounding of the constants themselves in float64 (lemma 3 of the page rounding_proof)."""


@dataclass(frozen=True, slots=True)
class Precision:
    """A floating-point format of the C, and its rounding-error constants.

    Parameters
    ----------
    dtype : type
        float32 or float64.
    unit_roundoff : float
        u of round to nearest.
    smallest_normal : float
        The error of one operation that underflows is at most this, flushed to zero or not.
    """

    dtype: type[Real]
    unit_roundoff: float
    smallest_normal: float

    def gamma_factor(self, n: float) -> float:
        """Return gamma_n = n u / (1 - n u), the relative error of n roundings.

        Raises
        ------
        InputError
            If n u >= 0.5: so long a sum has no useful bound.

        References
        ----------
        Higham, Accuracy and Stability of Numerical Algorithms (2002), lemma 3.1; lemmas 1 and 2 of
        the manual's page rounding_proof. Jeannerod and Rump (2013) have n u for inner products.

        Examples
        --------
        >>> FLOAT32.gamma_factor(1) > UNIT_ROUNDOFF
        True
        """
        u = self.unit_roundoff
        if n * u >= 0.5:
            raise InputError(
                f"a sum of {n:.0f} terms has no error bound in {self.dtype.__name__}; "
                f"train a smaller model"
            )
        return n * u / (1 - n * u)

    def bound_constant(self, value: float) -> Any:
        """Return `value` times the slack for evaluating a bound, rounded up to this format.

        The result is at least the smallest normal number: a board that flushes subnormals to 0
        does not lose it.

        Examples
        --------
        >>> bool(bound_constant(1.0) > 1.0), float(bound_constant(0.0)) == SMALLEST_NORMAL
        (True, True)
        """
        return self.dtype(self.bound_constants(value))

    def bound_constants(self, values: ArrayLike) -> RealArray:
        """Return `bound_constant` of every element, in the shape of `values`.

        Beyond the format it is infinity, which no table holds.
        """
        widened = np.asarray(values, dtype=np.float64) * _SLACK
        with np.errstate(over="ignore"):
            up = np.nextafter(widened.astype(self.dtype), self.dtype(np.inf))
        return np.maximum(up, self.dtype(self.smallest_normal))

    def flushed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return numbers of this format with 0 for subnormal ones, which a board might flush."""
        return np.where(np.abs(values) < self.smallest_normal, self.dtype(0.0), values)

    def stored_factor(self, name: str, value: float) -> Any:
        """Return a factor of a kernel, such as gamma, rounded to this format.

        Raises
        ------
        InputError
            If the factor is outside the range where float32 stores it with a relative error of u:
            every program starts in float32.

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
        return self.dtype(value)


FLOAT32: Final = Precision(np.float32, UNIT_ROUNDOFF, SMALLEST_NORMAL)
FLOAT64: Final = Precision(np.float64, UNIT_ROUNDOFF_64, 2.0**-1022)


def precision_of(value: Real | RealArray) -> Precision:
    """Return the precision, `FLOAT32` or `FLOAT64`, of a number or an array.

    Examples
    --------
    >>> precision_of(np.float32(1.0)).unit_roundoff == UNIT_ROUNDOFF
    True
    """
    return FLOAT32 if value.dtype == np.float32 else FLOAT64


gamma_factor = FLOAT32.gamma_factor
bound_constant = FLOAT32.bound_constant
bound_constants = FLOAT32.bound_constants
stored_factor = FLOAT32.stored_factor


def stored_error(exact: np.ndarray, stored: np.ndarray) -> float:
    """Return an upper bound on the Euclidean norm of every row of `exact - stored`.

    Parameters
    ----------
    exact : ndarray of shape (n, n_features), float64
    stored : ndarray of shape (n, n_features), float32 or float64
    """
    if exact.size == 0:
        return 0.0
    difference = np.asarray(exact, dtype=np.float64) - stored
    # The pass `center_vectors` has rounded `exact` in float64: less than 2^-53 of a row's norm.
    passes = 2.0**-50 if stored.dtype == np.float32 else 2.0**-52
    rest = passes * np.sqrt((np.asarray(stored, dtype=np.float64) ** 2).sum(axis=1))
    return float((np.sqrt((difference**2).sum(axis=1)) * (1 + 1e-12) + rest).max())
