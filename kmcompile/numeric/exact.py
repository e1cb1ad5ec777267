"""Exact arithmetic on arrays of float64: integers of any size with one exponent of 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array

_SIGNIFICAND_BITS = 53
_OBJECT_BYTES = 40


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """The numbers integers 2^exponent, without any rounding.

    Parameters
    ----------
    integers : ndarray of any shape, object
        Python integers.
    exponent : int
    """

    integers: NDArray[Any]
    exponent: int

    @staticmethod
    def bytes_of(values: Float64Array) -> int:
        """Return at most how many bytes `of` takes for finite numbers."""
        _, exponents = np.frexp(values[values != 0])
        bits = _SIGNIFICAND_BITS + int(np.ptp(exponents)) if exponents.size else 0
        return int(values.size * (2 * _OBJECT_BYTES + bits // 7))

    @classmethod
    def of(cls, values: Float64Array) -> Exact:
        """Return finite numbers as they are.

        Examples
        --------
        >>> third = Exact.of(np.array([[1 / 3, 1e16]]))
        >>> (third @ Exact.of(np.array([[1.0], [1.0]]))).rounded() == 1 / 3 + 1e16
        array([[ True]])
        """
        significands, exponents = np.frexp(np.asarray(values, dtype=np.float64))
        whole = np.ldexp(significands, _SIGNIFICAND_BITS).astype(np.int64)
        shifts = np.where(whole == 0, 0, exponents - _SIGNIFICAND_BITS)
        least = int(shifts.min(initial=0))
        integers = np.empty(whole.shape, dtype=object)
        flat = integers.reshape(-1)
        pairs = zip(whole.reshape(-1), (shifts - least).reshape(-1), strict=True)
        for n, (number, shift) in enumerate(pairs):
            flat[n] = int(number) << int(shift)
        return cls(integers, least)

    @property
    def bits(self) -> int:
        """Bits of the longest integer."""
        return max((number.bit_length() for number in self.integers.flat), default=0)

    @property
    def n_bytes(self) -> int:
        """Bytes of the integers, with those of Python's objects, about."""
        return int(self.integers.size * (_OBJECT_BYTES + self.bits // 7))

    def __matmul__(self, other: Exact) -> Exact:
        """Return the product of two matrices."""
        return Exact(self.integers @ other.integers, self.exponent + other.exponent)

    def __mul__(self, other: Exact) -> Exact:
        """Return the product of each number with its counterpart."""
        return Exact(self.integers * other.integers, self.exponent + other.exponent)

    def __sub__(self, other: Exact) -> Exact:
        """Return the difference of each number and its counterpart."""
        least = min(self.exponent, other.exponent)
        return Exact(self._at(least) - other._at(least), least)

    def taken(self, columns: NDArray[np.intp]) -> Exact:
        """Return some columns of a matrix."""
        return Exact(self.integers[:, columns], self.exponent)

    def added(self, targets: NDArray[np.intp], n_out: int) -> Exact:
        """Return the sums of the columns of a matrix that have one target, 0 where none has it.

        Parameters
        ----------
        targets : ndarray of shape (n_columns,), int
        n_out : int
            The number of columns of the result.
        """
        sums = np.zeros((len(self.integers), n_out), dtype=object)
        for column, target in zip(self.integers.T, targets, strict=True):
            sums[:, target] += column
        return Exact(sums, self.exponent)

    def rounded(self) -> Float64Array:
        """Return the numbers in float64, each rounded once; infinity where one is too large."""
        flat = [_rounded(number, self.exponent) for number in self.integers.ravel()]
        return np.array(flat, dtype=np.float64).reshape(self.integers.shape)

    def _at(self, exponent: int) -> NDArray[Any]:
        return self.integers << (self.exponent - exponent)


def _rounded(integer: int, exponent: int) -> float:
    try:
        # A quotient of integers is rounded once.
        return float(integer << exponent) if exponent >= 0 else integer / (1 << -exponent)
    except OverflowError:
        return float("inf") if integer > 0 else float("-inf")
