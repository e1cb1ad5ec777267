"""Select columns, in any order, as a ColumnTransformer does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array, RealBound, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below, Table
from kmcompile.steps.image import Length, PrepareStep, StepContext
from kmcompile.steps.step import Step


@dataclass(frozen=True, slots=True, eq=False)
class Select(PrepareStep):
    """x -> (x_c for c in columns), copies that round nothing.

    A column that is taken m times counts m times in the distance of two points: with `gain` at
    least the root of the largest m, the deviation becomes gain * deviation.

    Parameters
    ----------
    columns : ndarray of shape (n_out,), uint16 or uint32
    n_in : int
    gain : float32 or float64
        1 where no column is taken twice.
    length : Length or None
    """

    columns: NDArray[np.unsignedinteger[Any]]
    n_in: int
    gain: RealBound
    length: Length | None

    name: ClassVar[str] = "select"
    in_place: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns, self.columns.dtype))

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return len(self.columns)

    @property
    def repeats(self) -> bool:
        """Whether a column is taken more than once."""
        return bool(self.gain != 1)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch of the chosen columns."""
        x = np.ascontiguousarray(batch.x[:, self.columns])
        deviation = batch.deviation * self.gain
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation

    def operations(self) -> int:
        """Return the operations of the copies, and of a norm's squares."""
        return self.n_out * (1 if self.length is None else 2)

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the table of the columns."""
        return (
            Table(
                f"select_{number}_columns",
                self.columns,
                "Number of the feature that is taken: [feature]",
                below=Below(self.n_in),
            ),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Columns(Step):
    """x -> (x_c for c in columns): what the steps that select columns have in common.

    Parameters
    ----------
    columns : tuple of int
        Indices into the step's input; at least one, and each may occur several times.
    n_in : int
        Features of the step's input.

    Raises
    ------
    InputError
        If a column is not one of the input's.
    """

    columns: tuple[int, ...]
    n_in: int

    image: ClassVar[type[PrepareStep]] = Select
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        first, last = min(self.columns), max(self.columns)
        if not 0 <= first <= last < self.n_in:
            raise InputError(
                f"{self.name} takes columns {first} to {last}, its input has {self.n_in}; "
                "the model is damaged or not of a supported kind"
            )

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return len(self.columns)

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the chosen columns."""
        return np.ascontiguousarray(X[:, list(self.columns)])

    def lower(self, context: StepContext) -> Select:
        """Return the step as the C computes it; `Select` derives the gain."""
        precision = context.precision
        dtype = np.dtype(np.uint16 if self.n_in <= 1 << 16 else np.uint32)
        columns: NDArray[np.unsignedinteger[Any]] = np.array(self.columns, dtype=dtype)
        most = int(np.bincount(columns).max())
        gain = precision.dtype(1.0) if most == 1 else precision.bound_constant(np.sqrt(most))
        return Select(columns, self.n_in, gain, context.length)

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the magnitudes of the chosen columns; there is no intermediate result."""
        return before[list(self.columns)], 0.0

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return rows with these chosen columns; other columns are 0, repeated ones their mean."""
        taken = np.zeros((self.n_in, self.n_out))
        taken[list(self.columns), np.arange(self.n_out)] = 1.0
        means: Float64Array = (rows @ taken.T) / np.maximum(taken.sum(axis=1), 1.0)
        return means

    def __str__(self) -> str:
        return f"select {self.n_out} of {self.n_in}"


@dataclass(frozen=True, slots=True, eq=False)
class Selection(Columns):
    """The columns that a ColumnTransformer takes, in its order."""

    name: ClassVar[str] = "Selection"
    formula: ClassVar[str] = "y_i = x_c with c = columns_i"


@dataclass(frozen=True, slots=True, eq=False)
class SeenFeatures(Columns):
    """The features that some support vector has: no other one changes a decision."""

    name: ClassVar[str] = "SeenFeatures"
    formula: ClassVar[str] = "y_i = x_c with c = columns_i"
