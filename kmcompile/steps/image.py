"""What a step of the preprocessing is in the C, and how its norms are bounded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from kmcompile.numeric.arrays import Real, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, Precision, precision_of
from kmcompile.numeric.scalar.functions import SQUARE_ROOT
from kmcompile.numeric.table import Table

LENGTH_LANES = 4
"""Interleaved partial sums of a norm: feature j goes to sum j modulo 4."""


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """Upper bound on a Euclidean norm: sqrt(factor * sum of squares + minimum), rounded up.

    factor holds gamma_(n + 1) of the sum and the roundings of the bound, minimum the underflows.
    """

    factor: Real
    minimum: Real

    def of(self, x: RealArray) -> RealArray:
        """Return the bound for every row."""
        root = SQUARE_ROOT[precision_of(self.factor).dtype].of
        bound: RealArray = root(self.factor * sum_of(x * x) + self.minimum)
        return bound


def sum_of(terms: RealArray) -> RealArray:
    """Return the row sums in the order of the C: four interleaved sums, then left to right."""
    partial = np.zeros((len(terms), LENGTH_LANES), dtype=terms.dtype)
    for start in range(0, terms.shape[1], LENGTH_LANES):
        columns = terms[:, start : start + LENGTH_LANES]
        partial[:, : columns.shape[1]] += columns
    total = partial[:, 0].copy()
    for lane in range(1, LENGTH_LANES):
        total += partial[:, lane]
    return total


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the image of a step depends on, besides the step.

    Parameters
    ----------
    length : Length or None
        How the norm after the step is to be bounded; None where nobody asks for it.
    lanes : int
        Numbers that the target computes side by side.
    precision : Precision
        That of the program, or of its replay.
    """

    length: Length | None
    lanes: int
    precision: Precision = FLOAT32


class PrepareStep(ABC):
    """The image of a step: a frozen dataclass whose fields are the constants of the C."""

    name: ClassVar[str]
    """Name of the template in `templates/steps/`, and of the C's function and tables."""
    n_in: int
    n_out: int
    length: Length | None
    """How the norm after the step is bounded; None where nobody asks for it."""
    in_place: ClassVar[bool] = True
    """Whether the C may write the result over the step's input."""

    @property
    def norms(self) -> tuple[Literal["l1", "l2", "max"], ...]:
        """Norms of its input that the template takes, by the functions of `steps/sums.c.j2`."""
        return ()

    @property
    def refuses(self) -> bool:
        """Whether it refuses inputs, by a deviation above `LARGEST_INTERMEDIATE`."""
        return False

    @abstractmethod
    def apply(self, batch: Batch) -> Batch:
        """Return the batch after the step."""

    @abstractmethod
    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step, for the range analysis.

        Parameters
        ----------
        deviation : float
            Bound on the deviation before the step.
        before, after : float
            Bounds on the norms of what enters and of what leaves.
        """

    @abstractmethod
    def operations(self) -> int:
        """Return the multiply-adds of one query."""

    def measured(self, x: RealArray, before: RealArray) -> RealArray:
        """Return the bound on the norm of the result, or the one before where nobody asks."""
        return before if self.length is None else self.length.of(x)

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the constant tables; `number` tells steps of one kind apart."""
        return ()
