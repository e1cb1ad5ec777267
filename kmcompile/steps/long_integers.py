"""Rounding to integers for the replay in integers of a program in float32."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.batch import Batch
from kmcompile.steps.image import ElementwiseStep, Length
from kmcompile.steps.integers import SHIFTER


@dataclass(frozen=True, slots=True, eq=False)
class LongIntegers(ElementwiseStep):
    """x -> the integers nearest to scale x, from -most to most, in float64: the last step.

    The deviation is then in units of 1 / scale. It grows by the sum of |scale x - integer|, which
    is at least the norm of these differences, and is at most `largest`: beyond it no two inputs are
    further apart in the kernel's feature space.

    Parameters
    ----------
    scale : float64
        A power of two.
    most, widen, largest : float64
        `widen` covers the roundings of the deviation.
    n_in : int
    length : None
        The norm of the result is not needed.
    """

    scale: np.float64
    most: np.float64
    widen: np.float64
    largest: np.float64
    n_in: int
    length: Length | None = None

    name: ClassVar[str] = "long_integers"
    shifter: ClassVar[np.float64] = SHIFTER

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with integers, as float64."""
        scaled = batch.x * self.scale
        x = (np.minimum(np.maximum(scaled, -self.most), self.most) + SHIFTER) - SHIFTER
        rest = np.zeros(len(x))
        for column in np.abs(scaled - x).T:
            rest += column
        deviation = (batch.deviation * self.scale + rest) * self.widen
        return replace(batch, x=x, deviation=np.minimum(deviation, self.largest))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.largest)

    def operations(self) -> int:
        """Return the operations of scaling, rounding, clipping and differences."""
        return 6 * self.n_in
