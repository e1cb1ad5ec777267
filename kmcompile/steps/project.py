"""A linear projection: PCA, whitening included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound, frozen, lane_blocks
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.steps.image import Length, PrepareStep, StepContext
from kmcompile.steps.step import Order, Step

_FLOAT64 = 2.0**-50  # whitening in float64


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
    gain: RealBound
    relative: RealBound
    minimum: RealBound
    length: Length | None

    name: ClassVar[str] = "project"
    in_place: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", frozen(self.blocks, self.blocks.dtype))
        if len(self.blocks) != -(-self.n_out // self.lanes):
            raise ValueError(f"a projection to {self.n_out} features has other rows")

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return int(self.blocks.shape[1])

    @property
    def lanes(self) -> int:
        """Number of outputs that are computed side by side."""
        return int(self.blocks.shape[2])

    @property
    def has_padding(self) -> bool:
        """Whether the last block is padded."""
        return self.n_padded > self.n_out

    @property
    def n_padded(self) -> int:
        """Number of outputs, with the padding of the last block."""
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

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step."""
        return float(self.gain) * deviation + float(self.relative) * before + float(self.minimum)

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


@dataclass(frozen=True, slots=True, eq=False)
class Projection(Step):
    """x -> matrix x: the linear part of PCA, its whitening included.

    Parameters
    ----------
    matrix : ndarray of shape (n_out, n_features), float64
    """

    matrix: Float64Array

    name: ClassVar[str] = "Projection"
    formula: ClassVar[str] = "y_i = sum_j matrix_ij x_j"
    image: ClassVar[type[PrepareStep]] = Project
    reads_length: ClassVar[bool] = True
    measures_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", frozen(self.matrix))

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return int(self.matrix.shape[1])

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return len(self.matrix)

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the projected rows."""
        return X @ self.matrix.T

    def lower(self, context: StepContext) -> Project:
        """Return the step as the C computes it; `Project` derives the constants."""
        precision = context.precision
        bound_constant = precision.bound_constant
        stored = self.matrix.astype(precision.dtype).astype(np.float64)
        frobenius = float(np.sqrt((stored**2).sum()))
        error = float(np.sqrt(((self.matrix - stored) ** 2).sum())) + _FLOAT64 * frobenius
        least = 2 * self.n_out * self.n_in * precision.smallest_normal
        return Project(
            blocks=lane_blocks(self.matrix, context.lanes, precision.dtype),
            n_out=self.n_out,
            gain=bound_constant(float(np.linalg.norm(self.matrix, 2)) * (1 + 1e-9) + error),
            relative=bound_constant(precision.gamma_factor(self.n_in) * frobenius + error),
            minimum=bound_constant(least),
            length=context.length,
        )

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return |matrix| times the magnitudes, which also bounds products and partial sums."""
        return np.abs(self.matrix) @ before, 0.0

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return the shortest rows whose projections are nearest to the given rows."""
        return rows @ np.linalg.pinv(self.matrix).T

    def reordered(self, order: Order) -> tuple[Step, Order]:
        """Return the step with reordered columns; the order of the outputs does not change."""
        return Projection(self.matrix[:, np.argsort(order)]), np.arange(self.n_out)

    def __str__(self) -> str:
        return f"project to {self.n_out}"
