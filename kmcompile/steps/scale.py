"""Scalers: an offset in two parts and a factor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kmcompile.numeric.arrays import Real, RealArray, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.steps.step import Length, PrepareStep


@dataclass(frozen=True, slots=True, eq=False)
class Scale(PrepareStep):
    """x -> ((x - high) - low) * factor.

    The offset is two float32, so that a sensor at 1000 +- 0.01 keeps its signal: both
    differences are rounded relative to their small results, not to the offset. With y the
    result: |error_j| <= 4 u |y_j| + factor_j (u |low_j| + |offset_j - high_j - low_j|), so the
    deviation becomes gain * deviation + relative * |y| + minimum (math.md section 6).
    """

    high: RealArray
    low: RealArray
    factor: RealArray
    gain: Real
    relative: Real
    minimum: Real
    length: Length | None

    name: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        for name in ("high", "low", "factor"):
            values = getattr(self, name)
            object.__setattr__(self, name, frozen(values, values.dtype))

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that enter."""
        return len(self.factor)

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return len(self.factor)

    @property
    def has_offset(self) -> bool:
        """Whether anything is subtracted."""
        return bool(self.high.any())

    @property
    def has_low(self) -> bool:
        """Whether the second part of the offset is needed."""
        return bool(self.low.any())

    @property
    def has_factor(self) -> bool:
        """Whether anything is multiplied."""
        return bool((self.factor != 1).any())

    def apply(self, batch: Batch) -> Batch:
        """Return the scaled batch."""
        x = batch.x
        if self.has_offset:
            x = x - self.high
        if self.has_low:
            x = x - self.low
        if self.has_factor:
            x = x * self.factor
        length = self.measured(x, batch.length)
        deviation = self.gain * batch.deviation + self.relative * length + self.minimum
        return replace(batch, x=x, deviation=deviation, length=length)

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation + float(self.relative) * length + float(self.minimum)

    def operations(self) -> int:
        """Return the differences, products and squares."""
        each = int(self.has_offset) + int(self.has_low) + int(self.has_factor) + 1
        return each * self.n_in

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return offset and factor."""
        named = [
            (
                "offset_high",
                "Offset of each feature, in its own unit: [feature]",
                self.high,
                self.has_offset,
            ),
            (
                "offset_low",
                "Rest of the offset that float leaves off: [feature]",
                self.low,
                self.has_low,
            ),
            (
                "factor",
                "Factor of each feature, per its own unit: [feature]",
                self.factor,
                self.has_factor,
            ),
        ]
        return tuple(
            Table(f"scale_{number}_{name}", values, layout)
            for name, layout, values, present in named
            if present
        )
