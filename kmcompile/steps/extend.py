"""Append one feature that is the same for every input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.steps.image import Length, PrepareStep, StepContext
from kmcompile.steps.step import Order, Step


@dataclass(frozen=True, slots=True, eq=False)
class Extend(PrepareStep):
    """x -> (x, value) in the C.

    `minimum` holds the error of the stored value.
    """

    value: Real
    minimum: RealBound
    n_in: int
    length: Length | None

    name: ClassVar[str] = "extend"

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return self.n_in + 1

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with the value appended to the features."""
        x = np.column_stack([batch.x, np.full(len(batch.x), self.value)])
        deviation = batch.deviation + self.minimum
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        return deviation + float(self.minimum)

    def operations(self) -> int:
        """Return the operations of the copies, and of a norm's squares."""
        return self.n_out * (1 if self.length is None else 2)


@dataclass(frozen=True, slots=True, eq=False)
class Extension(Step):
    """x -> (x, value): append one feature that is the same for every input.

    Parameters
    ----------
    value : float
    n_out : int
    """

    value: float
    n_out: int

    name: ClassVar[str] = "Extension"
    formula: ClassVar[str] = "y is x with one more feature at its end, value"
    image: ClassVar[type[PrepareStep]] = Extend
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = False
    n_constant: ClassVar[int] = 1

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return self.n_out - 1

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the rows with the value appended."""
        return np.column_stack([X, np.full(len(X), self.value)])

    def lower(self, context: StepContext) -> Extend:
        """Return the step as the C computes it; the value's error is its rounding to float32."""
        precision = context.precision
        value = precision.dtype(self.value)
        # A subnormal may be read as 0.
        lost = abs(self.value) if abs(value) < precision.smallest_normal else 0.0
        error = precision.bound_constant(abs(self.value - float(value)) + lost)
        return Extend(value, error, self.n_in, context.length)

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the magnitudes with the value's appended; there is no intermediate result."""
        return np.append(before, abs(self.value)), 0.0

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return the rows without the value."""
        return rows[:, :-1]

    def reordered(self, order: Order) -> tuple[Step, Order]:
        """Return the step itself: the value stays the last feature."""
        return self, np.append(order, len(order))

    def __str__(self) -> str:
        return f"extend by {self.value:g}"
