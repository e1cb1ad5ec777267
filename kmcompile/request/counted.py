"""Which samples count as evidence where some were set aside and some repeat others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import frozen


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Which samples count, in each of the two readings of samples that repeat others.

    Parameters
    ----------
    every : ndarray of shape (n,), bool
        Samples that count where every sample is a draw of its own.
    once : ndarray of shape (n,), bool
        Samples whose groups count where each group of copies is one draw.
    """

    every: NDArray[np.bool_]
    once: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for name in ("every", "once"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.dtype(np.bool_)))

    @classmethod
    def whole(cls, n: int) -> Counted:
        """Return that each of n samples counts."""
        return cls(np.ones(n, dtype=np.bool_), np.ones(n, dtype=np.bool_))

    def of(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Counted:
        """Return what counts of some of the samples."""
        return Counted(self.every[rows], self.once[rows])
