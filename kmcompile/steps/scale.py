"""Scale features: subtract an offset, in two parts, and multiply by a factor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import Precision
from kmcompile.numeric.table import Table
from kmcompile.steps.image import ElementwiseStep, Length, PrepareStep, StepContext
from kmcompile.steps.step import NOT_TRAINED, Order, Step


@dataclass(frozen=True, slots=True, eq=False)
class Scale(ElementwiseStep):
    """x -> ((x - high) - low) * factor.

    The offset is two float32, so that a sensor at 1000 +- 0.01 keeps its signal: both
    differences are rounded relative to their small results, not to the offset. With y the
    result: |error_j| <= 4 u |y_j| + factor_j (u |low_j| + |offset_j - high_j - low_j|), so the
    deviation becomes gain * deviation + relative * |y| + minimum.
    """

    high: RealArray
    low: RealArray
    factor: RealArray
    gain: RealBound
    relative: RealBound
    minimum: RealBound
    length: Length | None

    name: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        for name in ("high", "low", "factor"):
            values = getattr(self, name)
            object.__setattr__(self, name, frozen(values, values.dtype))
        if not len(self.high) == len(self.low) == len(self.factor):
            raise ValueError("a scale has a factor and two parts of an offset for each feature")

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return len(self.factor)

    @property
    def has_offset(self) -> bool:
        """Whether the step subtracts an offset."""
        return bool(self.high.any())

    @property
    def has_low(self) -> bool:
        """Whether the second part of the offset is needed."""
        return bool(self.low.any())

    @property
    def has_factor(self) -> bool:
        """Whether the step multiplies by a factor."""
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

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation + float(self.relative) * after + float(self.minimum)

    def operations(self) -> int:
        """Return the operations of the differences, products and squares."""
        each = int(self.has_offset) + int(self.has_low) + int(self.has_factor) + 1
        return each * self.n_in

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the tables of the offset and the factor."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Affine(Step):
    """x -> (x - offset) * factor, elementwise: the scalers.

    Parameters
    ----------
    offset, factor : ndarray of shape (n_features,), float64
        factor is nowhere 0.
    offset_error : ndarray of shape (n_features,), float64, optional
        Bound on the rounding when the offset was computed in float64 from the model's numbers; not
        a part of the model. Default: the rounding of one operation, 2^-52 |offset|.
    factor_error : float, optional
        Bound on the relative rounding of the factor. Default: the rounding of one operation.
    """

    offset: Float64Array
    factor: Float64Array
    offset_error: Float64Array = field(default_factory=lambda: np.zeros(0), metadata=NOT_TRAINED)
    factor_error: float = field(default=2.0**-53, metadata=NOT_TRAINED)

    name: ClassVar[str] = "Affine"
    formula: ClassVar[str] = "y_j = (x_j - offset_j) factor_j"
    image: ClassVar[type[PrepareStep]] = Scale
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen(self.offset))
        object.__setattr__(self, "factor", frozen(self.factor))
        given = self.offset_error if len(self.offset_error) else 2.0**-52 * np.abs(self.offset)
        object.__setattr__(self, "offset_error", frozen(given))

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return len(self.offset)

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return len(self.offset)

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the scaled rows."""
        return (X - self.offset) * self.factor

    def lower(self, context: StepContext) -> Scale:
        """Return the step as the C computes it; `Scale` derives the constants."""
        precision = context.precision
        high = self.offset.astype(precision.dtype)
        low = (self.offset - high).astype(precision.dtype)
        factor = self.factor.astype(precision.dtype)
        rest = np.abs(self.offset - high - low) + self.offset_error
        u, least = precision.unit_roundoff, precision.smallest_normal
        bound_constant = precision.bound_constant
        scale = np.abs(self.factor)
        each = scale * (1 + 4 * u) * (2 * u * np.abs(low.astype(np.float64)) + rest + 4 * least)
        return Scale(
            high=high,
            low=low,
            factor=factor,
            gain=bound_constant(float(scale.max()) * (1 + 4 * u)),
            relative=bound_constant(self._roundings(precision) * u + self.factor_error),
            minimum=bound_constant(float(np.sqrt((each**2).sum())) + len(each) * 2 * least),
            length=context.length,
        )

    def _roundings(self, precision: Precision) -> int:
        """Return the number of roundings relative to the result, and one for their product.

        Without an offset, only the factor, if it is rounded, and the product, if the factors are
        not all powers of two, bring a rounding.
        """
        if self.offset.any() or self.offset_error.any():
            return 5
        stored = self.factor.astype(precision.dtype)
        if (np.frexp(stored)[0] == 0.5).all() and (stored == self.factor).all():
            return 0
        return 3

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the magnitudes of the products, and the largest magnitude of the differences."""
        difference = before + np.abs(self.offset)
        return difference * np.abs(self.factor), float(difference.max())

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return the rows in the units of the step's input."""
        return rows / self.factor + self.offset

    def reordered(self, order: Order) -> tuple[Step, Order]:
        """Return the step with its numbers in the given order."""
        places = np.argsort(order)
        offset, error = self.offset[places], self.offset_error[places]
        return Affine(offset, self.factor[places], error, self.factor_error), order

    def __str__(self) -> str:
        return "scale"
