"""A step from outside the package that makes large inputs larger: x -> x^3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real
from kmcompile.numeric.batch import Batch
from kmcompile.steps import ElementwiseStep, Length, PrepareStep, Step, StepContext


@dataclass(frozen=True, slots=True, eq=False)
class CubeFloat32(ElementwiseStep):
    """x -> (x x) x, elementwise, as the C computes it, with the growth of the deviation.

    Let x^ be the step's input, |x - x^| <= d and |x^| <= X, all norms Euclidean:

    - |a^3 - b^3| <= 3 max(|a|, |b|)^2 |a - b|, and no feature exceeds X + d: exact cubes of x and
      x^ lie within 3 (X + d)^2 d of each other.
    - Two products round: y = x^^3 (1 + theta), |theta| <= gamma_2, and so |y - x^^3| <=
      gamma_2 / (1 - gamma_2) |y|, also as norms.
    - A square that underflows belongs to an |x| below 1: square and product each cost a feature at
      most 2^-126, and so does the product of the bound itself.
    """

    gain: Real
    relative: Real
    minimum: Real
    n_in: int
    length: Length | None

    name: ClassVar[str] = "cube"

    def apply(self, batch: Batch) -> Batch:
        """Return the batch of cubes."""
        x = (batch.x * batch.x) * batch.x
        length = self.measured(x, batch.length)
        reach = batch.length + batch.deviation
        moved = ((self.gain * reach) * reach) * batch.deviation
        deviation = (moved + self.relative * length) + self.minimum
        return replace(batch, x=x, deviation=deviation, length=length)

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        moved = float(self.gain) * (before + deviation) ** 2 * deviation
        return moved + float(self.relative) * after + float(self.minimum)

    def operations(self) -> int:
        """Return the multiply-adds of the products, and of the norm's squares."""
        return 3 * self.n_in + 5


@dataclass(frozen=True, slots=True, eq=False)
class Cube(Step):
    """x -> x^3, elementwise."""

    n_out: int

    name: ClassVar[str] = "Cube"
    image: ClassVar[type[PrepareStep]] = CubeFloat32
    reads_length: ClassVar[bool] = True
    measures_length: ClassVar[bool] = True

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return self.n_out

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the cubes of the rows."""
        return X**3

    def lower(self, context: StepContext) -> CubeFloat32:
        """Return the step as the C computes it; `CubeFloat32` derives the constants."""
        precision = context.precision
        g = precision.gamma_factor(2)
        return CubeFloat32(
            gain=precision.bound_constant(3.0),
            relative=precision.bound_constant(g / (1 - g)),
            minimum=precision.bound_constant(
                (2 * np.sqrt(self.n_out) + 1) * precision.smallest_normal
            ),
            n_in=self.n_out,
            length=context.length,
        )

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the cubes of the magnitudes, and the largest gain of the deviation."""
        reach = float(np.sqrt((before**2).sum())) + deviation
        return before**3, 3.0 * reach**2 * (1 + 1e-5)

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return the cube roots of the rows."""
        return np.cbrt(rows)

    def __str__(self) -> str:
        return "cube"
