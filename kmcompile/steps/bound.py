"""Clipping to fixed limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.steps.image import ElementwiseStep, Length, PrepareStep, StepContext
from kmcompile.steps.step import UniformStep


@dataclass(frozen=True, slots=True, eq=False)
class Bound(ElementwiseStep):
    """x -> min(max(x, low), high) in the C, which moves no two points further apart.

    `minimum` holds the errors of the stored limits.
    """

    low: Real
    high: Real
    minimum: RealBound
    n_in: int
    length: Length | None

    name: ClassVar[str] = "bound"

    def apply(self, batch: Batch) -> Batch:
        """Return the clipped batch."""
        x: RealArray = np.where(batch.x < self.low, self.low, batch.x)
        x = np.where(x > self.high, self.high, x)
        length = self.measured(x, batch.length)
        return replace(batch, x=x, deviation=batch.deviation + self.minimum, length=length)

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        return deviation + float(self.minimum)

    def operations(self) -> int:
        """Return the operations of the comparisons."""
        return 2 * self.n_in


@dataclass(frozen=True, slots=True, eq=False)
class Clip(UniformStep):
    """x -> min(max(x, low), high): MinMaxScaler(clip=True)."""

    low: float
    high: float
    n_out: int

    name: ClassVar[str] = "Clip"
    formula: ClassVar[str] = "y_j = min(max(x_j, low), high)"
    image: ClassVar[type[PrepareStep]] = Bound
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = False

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the clipped rows."""
        return np.clip(X, self.low, self.high)

    def lower(self, context: StepContext) -> Bound:
        """Return the step as the C computes it; rounding to float32 moves the limits."""
        precision = context.precision
        low, high = precision.dtype(self.low), precision.dtype(self.high)
        off = max(abs(self.low - float(low)), abs(self.high - float(high)))
        minimum = precision.bound_constant(off * np.sqrt(self.n_out))
        return Bound(low, high, minimum, self.n_out, context.length)

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the larger limit of each feature; there is no intermediate result."""
        return np.full(self.n_out, max(abs(self.low), abs(self.high))), 0.0

    def __str__(self) -> str:
        return f"clip to [{self.low:g}, {self.high:g}]"
