"""What a kernel without negative features refuses of an input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, LARGEST_INTERMEDIATE
from kmcompile.steps.image import Length, PrepareStep, StepContext
from kmcompile.steps.step import Order, Step

REFUSED = 2.0**126
"""The deviation of what is refused: far above `LARGEST_INTERMEDIATE`, the limit of all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Nonnegative(PrepareStep):
    """x -> max(x, 0), which moves no two points apart; what is negative for certain is refused.

    A feature below -deviation is negative in the exactly prepared input, too: the deviation
    becomes `refused`, which is above the limit of prepared inputs. One between that and 0 may be
    0 or more and has been rounded: it becomes 0. Also refused is a deviation above `most`: behind
    a Normalizer, which divides by the size of its input, a nearly zero one may be anything.

    The replay refuses nothing: what float32 has accepted counts as 0 where it is negative, and is
    answered.

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
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return self.n_in

    @property
    def refuses(self) -> bool:
        """Whether anything is refused: not in the replay."""
        return self.most is not None

    @property
    def limits(self) -> bool:
        """Whether `most` is less than what any other limit of the program is."""
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
        """Return a bound on the deviation of what is not refused."""
        return deviation

    def operations(self) -> int:
        """Return the comparisons."""
        return 2 * self.n_in


@dataclass(frozen=True, slots=True, eq=False)
class PositivePart(Step):
    """x -> max(x, 0), before a kernel that has no value for negative features.

    It is for what rounding leaves: an input that is negative by more is refused (`Nonnegative`).
    It stands in no trained model: a pass adds it.
    """

    n_out: int

    name: ClassVar[str] = "Nonnegative"
    image: ClassVar[type[PrepareStep]] = Nonnegative
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = False

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that enter."""
        return self.n_out

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the rows without negative features."""
        return np.maximum(X, 0.0)

    def lower(self, context: StepContext) -> Nonnegative:
        """Return the image in the C, which rounds nothing; that of a replay refuses nothing."""
        precision = context.precision
        most = np.float32(LARGEST_INTERMEDIATE) if precision is FLOAT32 else None
        return Nonnegative(precision.dtype(REFUSED), most, self.n_out, context.length)

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return those before; nothing is computed."""
        return before, 0.0

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return the rows."""
        return rows

    def reordered(self, order: Order) -> tuple[Step, Order]:
        """Return the step itself: it treats all features alike."""
        return self, order

    def __str__(self) -> str:
        return "refuse negative features"
