"""Clipping to fixed limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Real, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.steps.step import Length, PrepareStep


@dataclass(frozen=True, slots=True, eq=False)
class Bound(PrepareStep):
    """x -> min(max(x, low), high), which moves no two points apart.

    minimum holds the errors of the stored limits.
    """

    low: Real
    high: Real
    minimum: Real
    n_in: int
    length: Length | None

    name: ClassVar[str] = "bound"

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return self.n_in

    def apply(self, batch: Batch) -> Batch:
        """Return the clipped batch."""
        x: RealArray = np.where(batch.x < self.low, self.low, batch.x)
        x = np.where(x > self.high, self.high, x)
        length = self.measured(x, batch.length)
        return replace(batch, x=x, deviation=batch.deviation + self.minimum, length=length)

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return deviation + float(self.minimum)

    def operations(self) -> int:
        """Return the comparisons."""
        return 2 * self.n_in
