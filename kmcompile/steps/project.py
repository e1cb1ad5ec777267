"""A linear projection: PCA, whitening included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Real, RealArray, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.steps.step import Length, PrepareStep


@dataclass(frozen=True, slots=True, eq=False)
class Project(PrepareStep):
    """x -> matrix x, blocks of `lanes` outputs at a time, each one plain sum over the features.

    |fl(<w, x>) - <w, x>| <= gamma_n |w| |x| for every output and the stored matrix has
    |W - W^|_F <= e, so the deviation becomes gain * deviation + relative * |x| + minimum with
    gain >= |W|_2 and relative >= gamma_n |W|_F + e.
    """

    blocks: RealArray
    """ndarray of shape (n_blocks, n_in, lanes): row `block * lanes + lane` of the matrix."""
    n_out: int
    gain: Real
    relative: Real
    minimum: Real
    length: Length | None

    name: ClassVar[str] = "project"
    in_place: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", frozen(self.blocks, self.blocks.dtype))

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
        total = np.zeros((len(batch.x), columns.shape[1]), dtype=batch.x.dtype)
        for feature, weights in enumerate(columns):
            total += batch.x[:, feature, None] * weights
        x = np.ascontiguousarray(total[:, : self.n_out])
        deviation = self.gain * batch.deviation + self.relative * batch.length + self.minimum
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, length: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation + float(self.relative) * length + float(self.minimum)

    def operations(self) -> int:
        """Return the multiply-adds of the product, padding included."""
        return int(self.blocks.size) + self.n_out

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the matrix."""
        return (
            Table(
                f"project_{number}_matrix",
                self.blocks,
                "Rows of the projection, without unit: [block][feature][lane]",
            ),
        )
