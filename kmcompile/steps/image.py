"""The interface of a preprocessing step's image, the step in the C, and bounds on norms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from kmcompile.numeric.arrays import RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, Precision, precision_of
from kmcompile.numeric.scalar.functions import SQUARE_ROOT
from kmcompile.numeric.table import Table

LENGTH_LANES = 4
"""Interleaved partial sums of a norm: feature j goes to sum j modulo 4."""


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """Upper bound on a Euclidean norm: sqrt(factor * sum of squares + minimum), rounded up.

    `factor` covers gamma_(n + 1) of the sum and the roundings of the bound; `minimum` covers
    underflow.
    """

    factor: RealBound
    minimum: RealBound

    def of(self, x: RealArray) -> RealArray:
        """Return the bound on the norm of every row."""
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
    """The values, besides the step, on which the image of a step depends.

    Parameters
    ----------
    length : Length or None
        How to bound the norm after the step; None if no later part needs it.
    lanes : int
        Number of values that the target computes side by side.
    precision : Precision
        Precision of the program, or of its replay.
    """

    length: Length | None
    lanes: int
    precision: Precision = FLOAT32


class PrepareStep(ABC):
    """The image of a step: a frozen dataclass whose fields are the constants in the C."""

    name: ClassVar[str]
    """Name of the template in `templates/steps/`, and of the C's function and tables."""
    n_in: int
    n_out: int
    length: Length | None
    """How the norm after the step is bounded; None if no later part needs it."""
    in_place: ClassVar[bool] = True
    """Whether the C may write the result over the step's input."""

    @property
    def norms(self) -> tuple[Literal["l1", "l2", "max"], ...]:
        """Norms of the input that the template computes by functions of `steps/sums.c.j2`."""
        return ()

    @property
    def refuses(self) -> bool:
        """Whether the step refuses inputs, by a deviation above `LARGEST_INTERMEDIATE`."""
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
            Bounds on the norms of the step's input and of its output.
        """

    @abstractmethod
    def operations(self) -> int:
        """Return the multiply-adds of one query."""

    def measured(self, x: RealArray, before: RealArray) -> RealArray:
        """Return the bound on the norm of the result, or the old one if none is needed."""
        return before if self.length is None else self.length.of(x)

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the constant tables; `number` distinguishes steps of one kind."""
        return ()


class ElementwiseStep(PrepareStep):
    """The image of a step that computes each feature of its result from the same one of x."""

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return self.n_in
