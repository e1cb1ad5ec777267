"""The first stage: check the input, apply the preprocessing, bound what that rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from kmcompile.ir.arrays import Float32Array, frozen, magnitude
from kmcompile.ir.table import Table
from kmcompile.stages.stage import Batch, Stage

LENGTH_LANES = 4
"""Interleaved partial sums of a norm: feature j goes to sum j modulo 4."""


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """Upper bound on a Euclidean norm: sqrt(factor * sum of squares + minimum), rounded up.

    factor holds gamma_(n + 1) of the sum and the roundings of the bound, minimum the underflows.
    """

    factor: np.float32
    minimum: np.float32

    def of(self, x: Float32Array) -> Float32Array:
        """Return the bound for every row."""
        bound: Float32Array = np.sqrt(self.factor * sum_of(x * x) + self.minimum)
        return bound


def sum_of(terms: Float32Array) -> Float32Array:
    """Return the row sums in the order of the C: four interleaved sums, then left to right."""
    partial = np.zeros((len(terms), LENGTH_LANES), dtype=np.float32)
    for start in range(0, terms.shape[1], LENGTH_LANES):
        columns = terms[:, start : start + LENGTH_LANES]
        partial[:, : columns.shape[1]] += columns
    total = partial[:, 0].copy()
    for lane in range(1, LENGTH_LANES):
        total += partial[:, lane]
    return total


class PrepareStep(ABC):
    """One transformer in float32, with the growth of the deviation that it causes."""

    name: ClassVar[str]
    n_in: int
    n_out: int
    length: Length | None
    """How the norm after the step is bounded; None where nobody asks for it."""

    @abstractmethod
    def apply(self, batch: Batch) -> Batch:
        """Return the batch after the step."""

    @abstractmethod
    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step, for the range analysis.

        Parameters
        ----------
        deviation : float
            Bound on the deviation before the step.
        length : float
            Bound on the norm of what the step's error is relative to: a projection's input,
            the others' result.
        """

    @abstractmethod
    def operations(self) -> int:
        """Return the multiply-adds of one query."""

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the constant tables; `number` tells steps of one kind apart."""
        return ()


def _measure(step: PrepareStep, x: Float32Array, old: Float32Array) -> Float32Array:
    return old if step.length is None else step.length.of(x)


@dataclass(frozen=True, slots=True, eq=False)
class Scale(PrepareStep):
    """x -> ((x - high) - low) * factor.

    The offset is two float32, so that a sensor at 1000 +- 0.01 keeps its signal: both
    differences are rounded relative to their small results, not to the offset. With y the
    result: |error_j| <= 4 u |y_j| + factor_j (u |low_j| + |offset_j - high_j - low_j|), so the
    deviation becomes gain * deviation + relative * |y| + minimum (math.md section 6).
    """

    high: Float32Array
    low: Float32Array
    factor: Float32Array
    gain: np.float32
    relative: np.float32
    minimum: np.float32
    length: Length | None

    name: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        for name in ("high", "low", "factor"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))

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
        length = _measure(self, x, batch.length)
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
            ("offset_high", "offset: [feature]", self.high, self.has_offset),
            ("offset_low", "the rest of the offset: [feature]", self.low, self.has_low),
            ("factor", "factor: [feature]", self.factor, self.has_factor),
        ]
        return tuple(
            Table(f"scale_{number}_{name}", values, layout)
            for name, layout, values, present in named
            if present
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bound(PrepareStep):
    """x -> min(max(x, low), high), which moves no two points apart.

    minimum holds the errors of the stored limits.
    """

    low: np.float32
    high: np.float32
    minimum: np.float32
    n_in: int
    length: Length | None

    name: ClassVar[str] = "bound"

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return self.n_in

    def apply(self, batch: Batch) -> Batch:
        """Return the clipped batch."""
        x: Float32Array = np.where(batch.x < self.low, self.low, batch.x)
        x = np.where(x > self.high, self.high, x)
        length = _measure(self, x, batch.length)
        return replace(batch, x=x, deviation=batch.deviation + self.minimum, length=length)

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return deviation + float(self.minimum)

    def operations(self) -> int:
        """Return the comparisons."""
        return 2 * self.n_in


@dataclass(frozen=True, slots=True, eq=False)
class Project(PrepareStep):
    """x -> matrix x, blocks of `lanes` outputs at a time, each one plain sum over the features.

    |fl(<w, x>) - <w, x>| <= gamma_n |w| |x| for every output and the stored matrix has
    |W - W^|_F <= e, so the deviation becomes gain * deviation + relative * |x| + minimum with
    gain >= |W|_2 and relative >= gamma_n |W|_F + e.
    """

    blocks: Float32Array
    """ndarray of shape (n_blocks, n_in, lanes): row `block * lanes + lane` of the matrix."""
    n_out: int
    gain: np.float32
    relative: np.float32
    minimum: np.float32
    length: Length | None

    name: ClassVar[str] = "project"

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", frozen(self.blocks, np.float32))

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that enter."""
        return int(self.blocks.shape[1])

    @property
    def lanes(self) -> int:
        """Outputs computed side by side."""
        return int(self.blocks.shape[2])

    @property
    def n_padded(self) -> int:
        """Outputs with those that fill the last block."""
        return int(self.blocks.shape[0]) * self.lanes

    def apply(self, batch: Batch) -> Batch:
        """Return the projected batch."""
        columns = self.blocks.transpose(1, 0, 2).reshape(self.n_in, -1)
        total = np.zeros((len(batch.x), columns.shape[1]), dtype=np.float32)
        for feature, weights in enumerate(columns):
            total += batch.x[:, feature, None] * weights
        x = np.ascontiguousarray(total[:, : self.n_out])
        deviation = self.gain * batch.deviation + self.relative * batch.length + self.minimum
        return replace(batch, x=x, deviation=deviation, length=_measure(self, x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation + float(self.relative) * length + float(self.minimum)

    def operations(self) -> int:
        """Return the multiply-adds of the product, padding included."""
        return int(self.blocks.size) + self.n_out

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the matrix."""
        return (Table(f"project_{number}_matrix", self.blocks, "rows: [block][feature][lane]"),)


@dataclass(frozen=True, slots=True, eq=False)
class Normalize(PrepareStep):
    """x -> x / |x|, a row of zeros stays.

    With y the result and |y| the float32 one: the size has a relative error, the reciprocal and
    the product round once each: relative holds them (for l1 and max times the largest |y|).
    A deviation of the input becomes gain * deviation / size: gain is 2 for l2 and
    1 + sqrt(n) for l1 and max. Below `smallest` the sum of squares may have underflowed; then
    the result is only known to be a point of the unit ball: the deviation is `unknown`.
    """

    norm: Literal["l1", "l2", "max"]
    n_in: int
    gain: np.float32
    relative: np.float32
    smallest: np.float32
    unknown: np.float32
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

    def size(self, x: Float32Array) -> Float32Array:
        """Return the size of every row as the C computes it."""
        if self.is_l2:
            norm: Float32Array = np.sqrt(sum_of(x * x))
            return norm
        return magnitude(x).max(axis=1) if self.is_max else sum_of(magnitude(x))

    def apply(self, batch: Batch) -> Batch:
        """Return the normalised batch."""
        size = self.size(batch.x)
        one = np.float32(1.0)
        known = size >= self.smallest
        reciprocal = (one / np.where(known, size, one)).astype(np.float32, copy=False)
        x: Float32Array = batch.x * reciprocal[:, None]
        grown = self.gain * batch.deviation * reciprocal + self.relative
        still = (batch.deviation == 0) & ~batch.x.any(axis=1)
        unknown = np.where(still, np.float32(0.0), self.unknown)
        deviation = np.where(known & (grown < self.unknown), grown, unknown)
        return replace(batch, x=x, deviation=deviation, length=_measure(self, x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.unknown)

    def operations(self) -> int:
        """Return the size, the products and the norm."""
        return 3 * self.n_in + 40


@dataclass(frozen=True, slots=True, eq=False)
class Prepare(Stage):
    """Refuse what is not finite or too large, then apply the steps in order.

    Parameters
    ----------
    n_features : int
    limit : float32
        Largest magnitude of an input for which no later intermediate can overflow.
    input_length : Length or None
        The norm of the raw input, where the first step or the kernel needs it.
    steps : tuple of PrepareStep
    """

    n_features: int
    limit: np.float32
    input_length: Length | None
    steps: tuple[PrepareStep, ...]

    name: ClassVar[str] = "prepare"

    @property
    def n_out(self) -> int:
        """Features that enter the kernel."""
        return self.steps[-1].n_out if self.steps else self.n_features

    @property
    def limit_bits(self) -> int:
        """The bit pattern of the limit: magnitudes compare like their bits."""
        return int(self.limit.view(np.uint32))

    def run(self, batch: Batch) -> Batch:
        """Return the prepared batch; the inputs have been checked by `interpret`."""
        if self.input_length is not None:
            batch = replace(batch, length=self.input_length.of(batch.x))
        for step in self.steps:
            batch = step.apply(batch)
        return batch

    def operations(self) -> int:
        """Return check, steps and norm."""
        own = self.n_features * (2 if self.input_length is not None else 1)
        return own + sum(step.operations() for step in self.steps)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of all steps."""
        return tuple(t for n, step in enumerate(self.steps) for t in step.tables(n))
