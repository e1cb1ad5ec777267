"""Free vectors in a projection of the input: what reduced sets and class scores have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.table import Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.sums.order_of_sums import sum_blocks
from kmcompile.program.stages.vector_blocks import VectorBlocks

_VALUE_OPERATIONS = 5  # operations of the limit and of four squares


@dataclass(frozen=True, slots=True, eq=False)
class FreeVectors(VectorBlocks, EarlyExit):
    """row_r = sum_c weight_rc bump(v_c) + <slope_r, y> + c_r with y = M x.

    bump(v) = max(0, v)^16 by four squares, and v_c = <z_c, y> + t_c - |y|^2 / 32. With
    t_c = 1 - |z_c'|^2 / 32 and z_c = z_c' / 16 that is (1 - |y - z_c'|^2 / 32)^16, which is close
    to exp(-|y - z_c'|^2 / 2), 0 from a distance of sqrt(32) on, and costs no exponential; other
    t_c make wider or narrower ones. M, the vectors and the weights are fitted together.

    v_c is summed in the order of y, then - |y|^2 / 32, then t_c. The weighted sum is in blocks of
    `lanes`, the products of a block left to right, the blocks in order; then the slopes in the
    order of y, then c_r.

    An input is in range if its squared norm outside the rows of M, |x|^2 - |T y|^2, lies between
    `least` and `largest`, T being the lower triangle with |T M x| = the length of x in M's rows.

    Parameters
    ----------
    number : int
        Position among the stages of its kind in the program, from 1.
    vectors : ndarray of shape (n_blocks, n_out + 2, lanes), float32
        Each vector is z_c, 1, t_c; the last block is padded with copies of the last vector, of
        weight 0.
    triangle : ndarray of shape (n_out, n_out), float32
        T; of shape (0, 0) if M reads some columns only, and the range is not checked.
    """

    number: int
    products: Annotated[
        InnerProducts,
        Layout(
            "Rows of the projection M, without unit: [block][feature][lane]",
            name="projection",
            of="products.blocks",
        ),
    ]
    vectors: Annotated[
        Float32Array, Layout("Vectors (z_c, 1, t_c) of the set: [block][component][lane]")
    ]
    weights: Float32Array
    slopes: Annotated[
        Float32Array, Layout("Slopes of the same rows, per dimension of y: [row][dimension]")
    ]
    intercept: Annotated[Float32Array, Layout("Constants of the same rows: [row]")]
    triangle: Annotated[
        Float32Array,
        Layout(
            "Lower triangle T, |T y| being the length of x in M: [row][column]",
            where="watches_range",
        ),
    ]
    least: np.float32
    largest: np.float32

    order_in_c: ClassVar[tuple[str, ...]] = ("products", "triangle")

    @property
    def name(self) -> str:
        """Name of the stage with its number: `reduced_set_1`, ..."""
        return f"{self.template}_{self.number}"

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, and that a set has weights for its vectors."""
        Laid.check_tables(self, known)
        blocks, length, lanes = self.vectors.shape
        if self.weights.shape != (blocks, self.n_rows, lanes) or length != self.n_out + 2:
            raise ValueError(f"{self.name} has other weights or components than its vectors")
        if self.slopes.shape not in ((self.n_rows, 0), (self.n_rows, self.n_out)):
            raise ValueError(f"{self.name} has slopes of {self.slopes.shape}")
        if self.watches_range and self.triangle.shape != (self.n_out, self.n_out):
            raise ValueError(f"{self.name} has a triangle of {self.triangle.shape}")

    @property
    def n_out(self) -> int:
        """Rows of M."""
        return self.products.n_rows

    @property
    def n_rows(self) -> int:
        """Weighted sums of the vectors."""
        return len(self.intercept)

    @property
    def watches_range(self) -> bool:
        """Whether the stage tests the norm of the input's part outside the rows of M."""
        return len(self.triangle) > 0

    @property
    def n_projected(self) -> int:
        """Number of inner products that the stage keeps; for its vectors it lifts them in place."""
        return max(self.products.n_padded, self.n_out + 2 if self.n_blocks else 0)

    def rows(self, y: Float32Array) -> Float32Array:
        """Return the weighted sums, shape (n_queries, n_rows), float32.

        Parameters
        ----------
        y : ndarray of shape (n_queries, n_out), float32
        """
        columns = np.ascontiguousarray(self.vectors.transpose(1, 0, 2).reshape(self.n_out + 2, -1))
        total = np.zeros((len(y), columns.shape[1]), dtype=np.float32)
        for column, z in zip(self.lifted(y).T, columns, strict=True):
            total += column[:, None] * z
        value = bump(total).reshape(len(y), self.n_blocks, self.lanes)
        rows = np.empty((len(y), self.n_rows), dtype=np.float32)
        for row in range(self.n_rows):
            rows[:, row] = sum_blocks(value * self.weights[:, row, :])
        for column, slope in zip(y.T, self.slopes.T, strict=True):
            rows += column[:, None] * slope
        rows += self.intercept
        return rows

    def lifted(self, y: Float32Array) -> Float32Array:
        """Return y with -|y|^2 / 32 and 1 appended, shape (n_queries, n_out + 2)."""
        square = np.zeros(len(y), dtype=np.float32)
        for column in y.T:
            square += column * column
        return np.column_stack([y, square * np.float32(-1 / 32), np.ones_like(square)])

    def residual(self, y: Float32Array, square: Float32Array) -> Float32Array:
        """Return |x|^2 - |T y|^2: rows of T in order, each a sum in the order of y."""
        inside = np.zeros(len(y), dtype=np.float32)
        for row, factors in enumerate(self.triangle):
            component = np.zeros(len(y), dtype=np.float32)
            for column in range(row + 1):
                component += factors[column] * y[:, column]
            inside += component * component
        rest: Float32Array = square - inside
        return rest

    def is_inside(
        self, y: Float32Array, square: Float32Array, in_range: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which queries are in range; `in_range` where the stage does not check it."""
        if not self.watches_range:
            return in_range
        rest = self.residual(y, square)
        inside: NDArray[np.bool_] = (rest >= self.least) & (rest <= self.largest)
        return inside

    def operations_of(self, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of each query in range, without those of the label."""
        return self.products.operations_of(x) + self._gate_operations() + self._sum_operations()

    def _gate_operations(self) -> int:
        n = len(self.triangle)
        return n * (n + 1) // 2 + n

    def _sum_operations(self) -> int:
        per_vector = self.n_out + 2 + _VALUE_OPERATIONS + self.n_rows
        per_row = self.n_out + 3
        return self.n_blocks * self.lanes * per_vector + self.n_rows * per_row + self.n_out

    def operations(self) -> int:
        """Return the multiply-adds for an input without zeros; the label's test comes on top."""
        return self.products.operations() + self._gate_operations() + self._sum_operations()

    def needs(self) -> frozenset[str]:
        """Return the results that its projection needs, and "square" if the range is checked."""
        return self.products.needs() | frozenset({"square"} if len(self.triangle) else ())

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        name = self.prefix.upper()
        title = self.name.replace("_", " ")
        blocks = (Constant(f"{name}_BLOCKS", self.n_blocks, "its blocks"),)
        return (
            Constant(f"{name}_OUT", self.n_out, f"dimensions of {title}"),
            Constant(f"{name}_LIFTED", self.n_out + 2, "these with - |y|^2 / 32 and 1"),
            Constant(f"{name}_LANES", self.lanes, "its vectors of a block"),
            *(blocks if self.n_blocks > 1 else ()),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return projection, vectors, weights, slopes, intercepts and half-widths."""
        text, columns = "Numbers of the features that M looks at: [column]", self.products.columns
        own = (Table(f"{self.prefix}_columns", columns, text),) if len(columns) else ()
        return (*own, *Laid.tables(self))


def bump(v: Float32Array) -> Float32Array:
    """Return max(0, v)^16 by four squares."""
    value = np.maximum(v, np.float32(0.0))
    for _ in range(4):
        value = value * value
    return value
