"""Round inputs to the codes of an integer format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Real, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.steps.image import ElementwiseStep, Length

REFUSED = np.float32(2.0**100)
"""The deviation of an input outside the scale, by which it is refused."""

SHIFTER = np.float32(1.5 * 2.0**23)
"""Adding it to a number below 2^22 rounds that to an integer, to even where two are as near."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantize(ElementwiseStep):
    """x -> the nearest multiples of `unit`; the last step of a program in integers.

    The codes are these multiples as integers. `unit` is a power of two, so x_j - unit code_j is
    exact in float32, and the deviation grows by the norm of these differences. The format has no
    code below `low` or above `high`. An input with such a code is refused: its deviation becomes
    `REFUSED`.

    A compiler that contracts cannot change a code: x * per_unit is exact, so that adding SHIFTER
    rounds once, fused or not. It must not carry excess precision (FLT_EVAL_METHOD is 0).

    Parameters
    ----------
    low, high : float32
        The least and the largest code.
    unit, per_unit : float32
        A power of two, at most 1, and its reciprocal.
    rest : Length
        How the norm of the differences is bounded.
    code_deviation : float32
        The deviation of an input that came as codes: the distance between unit * code and the
        scaled value of the x that the code stands for, by the model's scaler.
    n_in : int
    length : Length or None
    """

    low: Real
    high: Real
    unit: RealBound
    per_unit: RealBound
    rest: Length
    code_deviation: RealBound
    n_in: int
    length: Length | None

    name: ClassVar[str] = "quantize"
    refuses: ClassVar[bool] = True  # inputs outside the scale

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with multiples of the unit."""
        half = np.float32(0.5)
        scaled = batch.x * self.per_unit
        inside = (scaled >= self.low - half) & (scaled <= self.high + half)
        scaled = np.where(inside, scaled, self.low)
        codes = (scaled + SHIFTER) - SHIFTER
        inside &= (codes >= self.low) & (codes <= self.high)
        deviation = batch.deviation + self.rest.of((scaled - codes) * self.unit)
        deviation = np.where(inside.all(axis=1), deviation, REFUSED)
        return self.of_codes(replace(batch, deviation=deviation), codes)

    def of_codes(self, batch: Batch, codes: Float32Array) -> Batch:
        """Return the batch of the given codes, as float32."""
        x = codes * self.unit
        return replace(batch, x=x, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step, which adds half a unit a feature."""
        return deviation + 0.5 * float(np.sqrt(self.n_in)) * float(self.unit) * 1.001

    def operations(self) -> int:
        """Return the operations of rounding, tests and squares."""
        return 6 * self.n_in
