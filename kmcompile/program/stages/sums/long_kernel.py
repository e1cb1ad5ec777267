"""Kernel values exp(-gamma |s - x|^2) in integers of 64 bits, and the sums of their products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.scalar import exp2_long

_LONG = 1 << 64


@dataclass(frozen=True, slots=True)
class LongKernel:
    """The rbf kernel of a replay in integers: from |S - X|^2 to a number with 2 half_bits bits.

    t = gamma log2(e) |S - X|^2 has `exp2_long.ARGUMENT_BITS` bits behind the point; it is the upper
    product of |S - X|^2, shifted to 64 bits, and a factor. From the limit on the kernel is 0. A
    value parts into halves, so that sums of products with coefficients stay below 2^63 and are
    exact: their order changes nothing.

    Parameters
    ----------
    limit : int
        The least |S - X|^2 whose t is at least `exp2_long.RESULT_BITS`; 2^64 - 1 if that is larger
        than every |S - X|^2, which are below 2^63.
    shift : int
        limit 2^shift < 2^64.
    factor : int
        gamma log2(e) 2^(ARGUMENT_BITS + 64 - shift), rounded, below 2^64.
    half_bits : int
        At most 20.
    """

    limit: int
    shift: int
    factor: int
    half_bits: int

    most_half_bits: ClassVar[int] = exp2_long.RESULT_BITS // 2

    def __post_init__(self) -> None:
        if not 0 <= self.shift < 64 or not 0 < self.limit << self.shift < _LONG:
            raise ValueError(f"the limit, shifted by {self.shift} bits, does not fit 64")
        if not 0 <= self.factor < _LONG or not 0 < self.half_bits <= self.most_half_bits:
            raise ValueError("the factor does not fit 64 bits, or a half has too many")

    @property
    def value_bits(self) -> int:
        """Bits of a value."""
        return 2 * self.half_bits

    @property
    def dropped_bits(self) -> int:
        """Bits of the function that a value does not have."""
        return exp2_long.RESULT_BITS - self.value_bits

    @property
    def sum_bits(self) -> int:
        """Bits that the units of a decision may have in all, so that sums stay below 2^63."""
        return 63 - self.half_bits

    @property
    def low_half(self) -> int:
        """The bits of the low half of a value."""
        return (1 << self.half_bits) - 1

    @property
    def half(self) -> float:
        """How much more the high half stands for than the low one."""
        return 2.0**self.half_bits

    @property
    def unit(self) -> float:
        """What the last bit of a value stands for."""
        return 2.0**-self.value_bits

    def values(self, squares: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the values of any |S - X|^2, in units of 2^(-2 half_bits)."""
        below = squares < np.uint64(self.limit)
        shifted = np.where(below, squares, np.uint64(0)) << np.uint64(self.shift)
        t = exp2_long.upper_product(shifted, np.array(self.factor, dtype=np.uint64))
        value = exp2_long.exp2_negative(t) >> np.uint64(self.dropped_bits)
        values: NDArray[np.uint64] = np.where(below, value, np.uint64(0))
        return values

    def weighted(self, values: NDArray[np.uint64], units: NDArray[np.int64]) -> Float64Array:
        """Return sum_i values_i units_i 2^(-2 half_bits) in float64, rounded from exact halves.

        Parameters
        ----------
        values : ndarray of shape (n_queries, n_slots), uint64
        units : ndarray of shape (n_slots, n_decisions), int64
            For each decision at most 2^(63 - half_bits) - 1 in all.
        """
        half = np.uint64(self.half_bits)
        high = (values >> half).astype(np.int64) @ units
        low = (values & ((np.uint64(1) << half) - np.uint64(1))).astype(np.int64) @ units
        joined = np.ldexp(high.astype(np.float64), self.half_bits) + low.astype(np.float64)
        sums: Float64Array = np.ldexp(joined, -2 * self.half_bits)
        return sums
