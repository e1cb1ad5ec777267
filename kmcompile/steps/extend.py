"""One more feature, the same for every input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Real
from kmcompile.numeric.batch import Batch
from kmcompile.steps.step import Length, PrepareStep


@dataclass(frozen=True, slots=True, eq=False)
class Extend(PrepareStep):
    """x -> (x, value). minimum holds the error of the stored value."""

    value: Real
    minimum: Real
    n_in: int
    length: Length | None

    name: ClassVar[str] = "extend"

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return self.n_in + 1

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with the value behind the features."""
        x = np.column_stack([batch.x, np.full(len(batch.x), self.value)])
        deviation = batch.deviation + self.minimum
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return deviation + float(self.minimum)

    def operations(self) -> int:
        """Return the copies, and the squares of a norm."""
        return self.n_out * (1 if self.length is None else 2)
