"""Refuse negative features before a kernel that has no value for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, LARGEST_INTERMEDIATE
from kmcompile.steps.image import ElementwiseStep, Length, PrepareStep, StepContext
from kmcompile.steps.step import UniformStep

REFUSED = 2.0**126
"""The deviation of what is refused: far above `LARGEST_INTERMEDIATE`, the limit of all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Nonnegative(ElementwiseStep):
    """x -> max(x, 0), which moves no two points further apart, and refuses negative features.

    A feature below -deviation is also negative in the exactly prepared input. The deviation then
    becomes `refused`, which is above the limit of prepared inputs. A feature between -deviation
    and 0 may be 0 or more before rounding, and becomes 0. A deviation above `most` is refused, too:
    after a Normalizer, which divides by the size of its input, a tiny row may be any direction.

    The replay refuses nothing: float32 has accepted the input, and negative features count as 0.

    Parameters
    ----------
    refused : float32 or float64
    most : float32 or None
        The largest deviation that is accepted; None in the replay.
    n_in : int
    length : Length or None
    """

    refused: Real
    most: Real | None
    n_in: int
    length: Length | None

    name: ClassVar[str] = "nonnegative"

    @property
    def refuses(self) -> bool:
        """Whether the step refuses inputs; it does not in the replay."""
        return self.most is not None

    @property
    def limits(self) -> bool:
        """Whether `most` is smaller than every other limit on the deviation in the program."""
        return self.most is not None and bool(self.most < LARGEST_INTERMEDIATE)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch without negative features."""
        x: RealArray = np.where(batch.x < 0, batch.x.dtype.type(0.0), batch.x)
        deviation = batch.deviation
        if self.most is not None:
            refused = (batch.x < -deviation[:, None]).any(axis=1) | (deviation > self.most)
            deviation = np.where(refused, self.refused, deviation)
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation of inputs that are not refused."""
        return deviation

    def operations(self) -> int:
        """Return the operations of the comparisons."""
        return 2 * self.n_in


@dataclass(frozen=True, slots=True, eq=False)
class PositivePart(UniformStep):
    """x -> max(x, 0), before a kernel that has no value for negative features.

    It removes negative features that come from rounding; features that are more negative are
    refused (`Nonnegative`). No trained model contains this step: a pass adds it.
    """

    n_out: int

    name: ClassVar[str] = "Nonnegative"
    formula: ClassVar[str] = "y_j = max(x_j, 0)"
    image: ClassVar[type[PrepareStep]] = Nonnegative
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = False

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the rows without negative features."""
        return np.maximum(X, 0.0)

    def lower(self, context: StepContext) -> Nonnegative:
        """Return the step in the C, which rounds nothing; a replay's step refuses nothing."""
        precision = context.precision
        most = np.float32(LARGEST_INTERMEDIATE) if precision is FLOAT32 else None
        return Nonnegative(precision.dtype(REFUSED), most, self.n_out, context.length)

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the magnitudes before the step; there is no intermediate result."""
        return before, 0.0

    def __str__(self) -> str:
        return "refuse negative features"
