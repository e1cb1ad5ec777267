"""Rounding to the fine codes of the replay of an integer format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.batch import Batch
from kmcompile.steps.image import ElementwiseStep, Length

SHIFTER = np.float64(1.5 * 2.0**52)
"""Adding it to a number below 2^51 rounds that to an integer, to even where two are as near."""


@dataclass(frozen=True, slots=True, eq=False)
class Integers(ElementwiseStep):
    """x -> the nearest integers from -most to most, in float64: the last step of a replay.

    The deviation grows by the norm of all differences. An input that the first stage accepted lies
    within -most .. most. Any other input would get the nearest end, with a bound that includes the
    difference.

    Parameters
    ----------
    most : float64
    rest : Length
        How the norm of the differences is bounded.
    n_in : int
    length : None
        The norm of the result is not needed.
    """

    most: np.float64
    rest: Length
    n_in: int
    length: Length | None = None

    name: ClassVar[str] = "integers"

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with integers, as float64."""
        x = (np.minimum(np.maximum(batch.x, -self.most), self.most) + SHIFTER) - SHIFTER
        return replace(batch, x=x, deviation=batch.deviation + self.rest.of(batch.x - x))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step, which adds half a unit a feature."""
        return deviation + 0.5 * float(np.sqrt(self.n_in)) * 1.001

    def operations(self) -> int:
        """Return the operations of rounding, clipping and squares."""
        return 6 * self.n_in
