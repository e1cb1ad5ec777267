"""The rbf kernel in fixed-point integers, of exact squared distances of codes."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import Table

Whole = NDArray[np.uint64]

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
