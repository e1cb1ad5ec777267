"""Choosing columns, in any order: what a ColumnTransformer takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Real, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.steps.step import Length, PrepareStep


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
    gain: Real
    length: Length | None

    name: ClassVar[str] = "select"
    in_place: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen(self.columns, self.columns.dtype))

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Features that leave."""
        return len(self.columns)

    @property
    def repeats(self) -> bool:
        """Whether any column is taken twice."""
        return bool(self.gain != 1)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch of the chosen columns."""
        x = np.ascontiguousarray(batch.x[:, self.columns])
        deviation = batch.deviation * self.gain
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation

    def operations(self) -> int:
        """Return the copies, and the squares of a norm."""
        return self.n_out * (1 if self.length is None else 2)

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the columns."""
        return (
            Table(
                f"select_{number}_columns",
                self.columns,
                "Number of the feature that is taken: [feature]",
            ),
        )
