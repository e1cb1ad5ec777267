"""The rbf kernel in fixed-point integers, of exact squared distances of codes."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array, magnitude
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import Table

Whole = NDArray[np.uint64]

_WORD = 1 << 32

EXP2_TABLE: Final = Table("exp2_table", exp2_fixed.TABLE, "Powers 2^(31 - i / 64): [i]")


class FixedKernel:
    """k = 2^-t with 31 fractional bits, t = (D^2 >> distance_shift) * multiplier >> product_shift.

    t has 26 fractional bits. From `cutoff` on, where t is 32, k is 0.

    Parameters
    ----------
    distance_shift, multiplier, product_shift, cutoff : int
    """

    distance_shift: int
    multiplier: int
    product_shift: int
    cutoff: int

    def check_scale(self, largest: int) -> None:
        """Check that a product fits 64 bits and t is below 32 for every distance below the cutoff.

        Parameters
        ----------
        largest : int
            The largest distance; the cutoff is at most the next number.

        Raises
        ------
        ValueError
        """
        shifts = self.distance_shift, self.product_shift
        known = min(shifts) >= 0 and max(shifts) < 64 and 0 < self.cutoff <= largest + 1
        last = (self.cutoff - 1) >> self.distance_shift if known else _WORD
        fits = max(last, self.multiplier) < _WORD and self.multiplier > 0
        if not fits or (last * self.multiplier) >> self.product_shift >= exp2_fixed.ARGUMENT_END:
            raise ValueError(f"the kernel's shifts {shifts}, multiplier and cutoff do not fit")

    def exponents(self, distances: NDArray[np.int64]) -> Whole:
        """Return t of every distance below the cutoff, in units of 2^-26."""
        shifted = distances.astype(np.uint64) >> np.uint64(self.distance_shift)
        t: Whole = (shifted * np.uint64(self.multiplier)) >> np.uint64(self.product_shift)
        return t

    def kernels(self, distances: NDArray[np.int64]) -> Whole:
        """Return k in units of 2^-31, 0 from the cutoff on."""
        below = distances < self.cutoff
        t = self.exponents(np.where(below, distances, 0))
        return np.where(below, exp2_fixed.exp2_negative(t), np.uint64(0))


class FixedResult:
    """The decisions of sums in fixed point, and their bounds (`FixedSum`).

    Parameters
    ----------
    result_shift : int
    result_scale, value_error, result_error : float32
    """

    result_shift: int
    result_scale: Bound
    value_error: Bound
    result_error: Bound

    def check_sums(self, products: NDArray[np.object_], start: Whole) -> None:
        """Check that sums of products are below 2^63, and fit 32 bits once they are shifted.

        Parameters
        ----------
        products : ndarray of shape (n_decisions,), int
            The largest sum of the magnitudes of the products of a decision.
        start : ndarray of shape (n_decisions, 2), uint64

        Raises
        ------
        ValueError
        """
        most = max(products + start.astype(object).sum(axis=1), default=0)
        if most >= 1 << 63:
            raise ValueError("coefficients and intercept of a decision add up to 2^32 or more")
        if not 0 <= self.result_shift < 64 or (most >> self.result_shift) + 1 >= _WORD:
            raise ValueError(f"a sum, shifted by {self.result_shift} bits, does not fit 32")

    def result(
        self,
        sums: tuple[Whole, Whole],
        start: Whole,
        of_input: Float32Array,
        minimum: Float32Array,
    ) -> tuple[Float32Array, Float32Array]:
        """Return decisions and bounds, shape (n_queries, n_decisions).

        Parameters
        ----------
        sums : two ndarray of shape (n_queries, n_decisions), uint64
            Of the positive and of the negative products, with the intercept.
        start : ndarray of shape (n_decisions, 2), uint64
            The intercept's parts in them.
        of_input, minimum : ndarray, float32
            The parts of the bound that the deviation makes, and that no input changes.
        """
        positive, negative = sums
        shift = np.uint64(self.result_shift)
        above = positive >= negative
        size = np.where(above, positive - negative, negative - positive)
        size = (size >> shift).astype(np.float32) * self.result_scale
        decision: Float32Array = np.where(above, size, -size)
        of_values = ((positive + negative - start.sum(axis=1)) >> shift) + np.uint64(1)
        rounding = magnitude(decision) * self.result_error
        off = of_values.astype(np.float32) * self.result_scale * self.value_error
        bound: Float32Array = ((off + of_input) + rounding) + minimum
        return decision, bound
