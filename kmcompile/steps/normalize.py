"""Rows divided by their norm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from kmcompile.analysis.rounding import precision_of
from kmcompile.ir.arrays import Real, RealArray, magnitude
from kmcompile.ir.batch import Batch
from kmcompile.scalar.functions import SQUARE_ROOT
from kmcompile.steps.step import Length, PrepareStep, sum_of


@dataclass(frozen=True, slots=True, eq=False)
class Normalize(PrepareStep):
    """x -> x / |x|, a row of zeros stays.

    With y the result and |y| the float32 one: the size has a relative error, the reciprocal and
    the product round once each: relative holds them (for l1 and max times the largest |y|).
    A deviation of the input becomes gain * deviation / size: gain is 2 for l2 and
    1 + sqrt(n) for l1 and max. Below `smallest` the sum of squares may have underflowed; then
    the result is only known to be some normalised row: the deviation is `unknown`, twice the
    largest Euclidean norm of one (1, for max sqrt(n)).
    """

    norm: Literal["l1", "l2", "max"]
    n_in: int
    gain: Real
    relative: Real
    smallest: Real
    unknown: Real
    length: Length | None

    name: ClassVar[str] = "normalize"

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return self.n_in

    @property
    def is_l2(self) -> bool:
        """Whether the size is the Euclidean norm."""
        return self.norm == "l2"

    @property
    def is_max(self) -> bool:
        """Whether the size is the largest magnitude."""
        return self.norm == "max"

    def size(self, x: RealArray) -> RealArray:
        """Return the size of every row as the C computes it."""
        if self.is_l2:
            root = SQUARE_ROOT[precision_of(self.gain).dtype].of
            norm: RealArray = root(sum_of(x * x))
            return norm
        largest: RealArray = magnitude(x).max(axis=1)
        return largest if self.is_max else sum_of(magnitude(x))

    def apply(self, batch: Batch) -> Batch:
        """Return the normalised batch."""
        size = self.size(batch.x)
        one = size.dtype.type(1.0)
        known = size >= self.smallest
        reciprocal = one / np.where(known, size, one)
        x: RealArray = batch.x * reciprocal[:, None]
        grown = self.gain * batch.deviation * reciprocal + self.relative
        still = (batch.deviation == 0) & ~batch.x.any(axis=1)
        unknown = np.where(still, size.dtype.type(0.0), self.unknown)
        deviation = np.where(known & (grown < self.unknown), grown, unknown)
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.unknown)

    def operations(self) -> int:
        """Return the size, the products and the norm."""
        return 3 * self.n_in + 40
