"""What a kernel without negative features refuses of an input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Real, RealArray
from kmcompile.ir.batch import Batch
from kmcompile.steps.step import Length, PrepareStep

REFUSED = 2.0**126
"""The deviation of what is refused: far above `LARGEST_INTERMEDIATE`, the limit of all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Nonnegative(PrepareStep):
    """x -> max(x, 0), which moves no two points apart; what is negative for certain is refused.

    A feature below -deviation is negative in the exactly prepared input, too: the deviation
    becomes `refused`, which is above the limit of prepared inputs. One between that and 0 may be
    0 or more and has been rounded: it becomes 0.

    Parameters
    ----------
    refused : float32 or float64
    n_in : int
    length : Length or None
    """

    refused: Real
    n_in: int
    length: Length | None

    name: ClassVar[str] = "nonnegative"

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return self.n_in

    def apply(self, batch: Batch) -> Batch:
        """Return the batch without negative features."""
        negative = (batch.x < -batch.deviation[:, None]).any(axis=1)
        x: RealArray = np.where(batch.x < 0, batch.x.dtype.type(0.0), batch.x)
        deviation = np.where(negative, self.refused, batch.deviation)
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation of what is not refused."""
        return deviation

    def operations(self) -> int:
        """Return the comparisons."""
        return 2 * self.n_in
