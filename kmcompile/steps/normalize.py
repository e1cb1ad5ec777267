"""Rows divided by their norm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from kmcompile.numeric.arrays import Real, RealArray, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import precision_of
from kmcompile.numeric.scalar.functions import SQUARE_ROOT
from kmcompile.steps.step import Length, PrepareStep, sum_of

SMALLEST_SIZE = {np.float32: 2.0**-47, np.float64: 0.75 * 2.0**-47}
"""The least size that a row is divided by: more than twice scikit-learn's own limit, N.

That of the replay is less, so that it knows of a row what float32 knows of it."""

_STAYING = {np.float32: 2.0**-50, np.float64: 2.0**-49}
"""Below it a row stays: so far below N that no rounding of the size matters."""


@dataclass(frozen=True, slots=True, eq=False)
class Normalize(PrepareStep):
    """x -> x / |x|; a row whose size is below N = 10 eps of float64 stays, as in scikit-learn.

    With y the result and |y| the float32 one: the size has a relative error, the reciprocal and
    the product round once each: relative holds them (for l1 and max times the largest |y|).
    A deviation d of the input moves its size by at most (gain - 1) d and becomes gain d / size:
    gain is 2 for l2 and 1 + sqrt(n) for l1 and max. N lies between two powers of two:

    - from `smallest`, which is more than 2 N, the row is divided. If the exact size is below N and
      the exact row stays, d is so large that gain d / size covers that, too: with x^ the row here
      and x the exact one, |x^ / size - x| <= (d + |x|) / size + |x| <= gain d / size, because
      (gain - 1) d >= size - N >= N (1 + size), for max times sqrt(n) as |x| may be sqrt(n) N;
    - where size + gain d is below `staying`, at most 4 N / 5, the exact row stays as well: nothing
      is divided and the deviation is the same;
    - between them the result is only known to be some normalised row or a tiny one: the deviation
      is `unknown`, twice the largest Euclidean norm of one (1, for max sqrt(n)). It is that also
      where gain d / size is more.
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

    @property
    def staying(self) -> Real:
        """Below this size a row stays."""
        dtype = precision_of(self.smallest).dtype
        limit: Real = dtype(_STAYING[dtype])
        return limit

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
        stays = size + self.gain * batch.deviation < self.staying
        small = np.where(stays, batch.deviation, self.unknown)
        deviation = np.where(known, np.where(grown < self.unknown, grown, self.unknown), small)
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step: one that stays is smaller."""
        return float(self.unknown)

    def operations(self) -> int:
        """Return the size, the products and the norm."""
        return 3 * self.n_in + 40
