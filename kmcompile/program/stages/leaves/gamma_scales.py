"""The rbf kernels of several gammas in fixed-point integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.table import Below, Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.fixed_kernel import FixedKernel, Whole

_WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class GammaScale(FixedKernel):
    """The constants of one gamma."""

    distance_shift: int
    multiplier: int
    product_shift: int
    cutoff: int


@dataclass(frozen=True, slots=True, eq=False)
class GammaScales(Laid):
    """The constants of `FixedKernel` for each gamma of a machine, and which slot has which.

    Parameters
    ----------
    of_slots : ndarray of shape (n_slots,), uint8 or uint16
        The number of the gamma of each slot; empty if there is only one.
    """

    distance_shifts: Annotated[NDArray[np.uint8], Layout("", ("N_GAMMAS",))]
    multipliers: Annotated[NDArray[np.uint32], Layout("", ("N_GAMMAS",))]
    product_shifts: Annotated[NDArray[np.uint8], Layout("", ("N_GAMMAS",))]
    cutoffs: Annotated[Whole, Layout("", ("N_GAMMAS",))]
    of_slots: Annotated[
        NDArray[np.uint16],
        Layout("", ("N_SLOTS",), where="several", narrow=np.uint8, below=Below("N_GAMMAS")),
    ]

    @property
    def several(self) -> bool:
        """Whether there is more than one gamma."""
        return len(self.multipliers) > 1

    def scale(self, number: int) -> GammaScale:
        """Return the constants of a gamma."""
        return GammaScale(
            int(self.distance_shifts[number]),
            int(self.multipliers[number]),
            int(self.product_shifts[number]),
            int(self.cutoffs[number]),
        )

    def kernels(self, distances: NDArray[np.int64], slot: int) -> Whole:
        """Return k of a slot in units of 2^-31."""
        return self.scale(int(self.of_slots[slot]) if self.several else 0).kernels(distances)

    def shifts(self) -> NDArray[np.uint8]:
        """Return what the C shifts, of shape (n_gammas, 3): D^2 right, then left, then t right.

        The upper half of a product of 64 bits is t, or t before the last shift.
        """
        product = self.product_shifts.astype(np.int64)
        up = np.clip(_WORD_BITS - product, 0, _WORD_BITS - 1)
        down = np.maximum(product - _WORD_BITS, 0)
        return np.column_stack([self.distance_shifts, up, down]).astype(np.uint8)

    def constants(self) -> tuple[Constant, ...]:
        """Return the number of gammas, if there are several."""
        if not self.several:
            return ()
        return (Constant("N_GAMMAS", len(self.multipliers), "different gammas"),)

    def in_c(self, wide: bool) -> tuple[Table, ...]:
        """Return the constants of all gammas, if there are several.

        Parameters
        ----------
        wide : bool
            Whether distances have 64 bits.
        """
        if not self.several:
            return ()
        last = (self.cutoffs - np.uint64(1)).astype(np.uint64 if wide else np.uint32)
        return (
            Table("slot_gammas", self.of_slots, "Number of the gamma of a slot: [slot]"),
            Table("multipliers", self.multipliers, "Factors of |s - x|^2 that give t: [gamma]"),
            Table(
                "shifts",
                self.shifts(),
                "Shifts of |s - x|^2 right and left, and of its product right: [gamma][3]",
            ),
            Table("last_distances", last, "Largest |s - x|^2 with a kernel that is not 0: [gamma]"),
        )
