"""A reduced set: few free vectors in a projection of the input, fitted to the decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, finite, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.exact_sum import sum_blocks
from kmcompile.program.stages.inner_products import InnerProducts

_VALUE_OPERATIONS = 5  # operations of the limit and of four squares


@dataclass(frozen=True, slots=True, eq=False)
class ReducedSet(EarlyExit):
    """decision_p = sum_c weight_pc bump(v_c) + <slope_p, y> + c_p + earlier_p E_p with y = M x.

    E_p is the estimate of the reduced set before. One more row of weights and slopes gives the
    query's spread, an estimate of the error of its decisions relative to other queries. It is
    clipped to limits, and the half-width of decision p is half_width_p * spread.

    bump(v) = max(0, v)^16 by four squares, and v_c = <z_c, y> + t_c - |y|^2 / 32. With
    t_c = 1 - |z_c'|^2 / 32 and z_c = z_c' / 16 that is (1 - |y - z_c'|^2 / 32)^16, which is close
    to exp(-|y - z_c'|^2 / 2), 0 from a distance of sqrt(32) on, and costs no exponential; other
    t_c make wider or narrower ones. M, the vectors and the weights are fitted together.

    v_c is summed in the order of y, then - |y|^2 / 32, then t_c. The weighted sum is in blocks of
    `lanes`, the products of a block left to right, the blocks in order; then the slopes in the
    order of y, then c_p, then earlier_p E_p.

    An input is in range if its squared norm outside the rows of M, |x|^2 - |T y|^2, lies between
    `least` and `largest`, T being the lower triangle with |T M x| = the length of x in M's rows.

    Parameters
    ----------
    number : int
        Position among the reduced sets of the program, from 1.
    products : InnerProducts
        The projection M, shape (n_out, n_features).
    vectors : ndarray of shape (n_blocks, n_out + 2, lanes), float32
        Each vector is z_c, 1, t_c; the last block is padded with copies of the last vector, of
        weight 0.
    weights : ndarray of shape (n_blocks, n_decisions + 1, lanes), float32
    slopes : ndarray of shape (n_decisions + 1, n_out), float32
    intercept : ndarray of shape (n_decisions + 1,), float32
        The last row of the three gives the spread.
    earlier, half_width : ndarray of shape (n_decisions,), float32
    least_spread, largest_spread : float32
    triangle : ndarray of shape (n_out, n_out), float32
        T; of shape (0, 0) if M reads some columns only, and the range is not checked.
    least, largest : float32
    """

    number: int
    products: InnerProducts
    vectors: Float32Array
    weights: Float32Array
    slopes: Float32Array
    intercept: Float32Array
    earlier: Float32Array
    least_spread: np.float32
    largest_spread: np.float32
    half_width: Float32Array
    triangle: Float32Array
    least: np.float32
    largest: np.float32

    template: ClassVar[str] = "reduced_set"
    exit: ClassVar[str | None] = "statistical"
    hands_on_estimate: ClassVar[bool] = True
    takes_estimate: ClassVar[bool] = True
    uses_spread: ClassVar[bool] = True

    def __post_init__(self) -> None:
        names = ("vectors", "weights", "slopes", "intercept", "earlier", "triangle")
        for name in names:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        object.__setattr__(self, "half_width", finite(self.half_width))

    @property
    def name(self) -> str:
        """Name of the stage with its number: `reduced_set_1`, ..."""
        return f"{self.template}_{self.number}"

    @property
    def n_blocks(self) -> int:
        """Blocks of vectors."""
        return int(self.vectors.shape[0])

    @property
    def n_out(self) -> int:
        """Rows of M."""
        return self.products.n_rows

    @property
    def lanes(self) -> int:
        """Vectors of a block."""
        return int(self.vectors.shape[2])

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.half_width)

    @property
    def watches_range(self) -> bool:
        """Whether the stage tests the norm of the input's part outside the rows of M."""
        return len(self.triangle) > 0

    def rows(self, y: Float32Array) -> Float32Array:
        """Return the decisions without their terms earlier_p E_p, then the spread before clipping.

        Parameters
        ----------
        y : ndarray of shape (n_queries, n_out), float32

        Returns
        -------
        ndarray of shape (n_queries, n_decisions + 1), float32
        """
        columns = np.ascontiguousarray(self.vectors.transpose(1, 0, 2).reshape(self.n_out + 2, -1))
        total = np.zeros((len(y), columns.shape[1]), dtype=np.float32)
        for column, z in zip(self.lifted(y).T, columns, strict=True):
            total += column[:, None] * z
        value = bump(total).reshape(len(y), self.n_blocks, self.lanes)
        rows = np.empty((len(y), self.n_decisions + 1), dtype=np.float32)
        for row in range(self.n_decisions + 1):
            rows[:, row] = sum_blocks(value * self.weights[:, row, :])
        for column, slope in zip(y.T, self.slopes.T, strict=True):
            rows += column[:, None] * slope
        rows += self.intercept
        return rows

    def limited(self, spread: Float32Array) -> Float32Array:
        """Return the spread, clipped to its limits."""
        return np.minimum(np.maximum(spread, self.least_spread), self.largest_spread)

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

    def operations_of(self, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of each query in range, without those of the label."""
        return self.products.operations_of(x) + self._gate_operations() + self._sum_operations()

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with estimates, and which queries they decide."""
        y = self.products.of(batch.x)
        in_range = batch.in_range
        if len(self.triangle):
            rest = self.residual(y, batch.square)
            in_range = (rest >= self.least) & (rest <= self.largest)
        rows = self.rows(y)
        decision = rows[:, :-1] + batch.earlier * self.earlier
        spread = self.limited(rows[:, -1])
        unsaid = self._sum_operations() + ends.label.operations()
        spent = self.operations_of(batch.x) + ends.label.operations()
        batch = replace(
            batch,
            decision=decision,
            bound=spread[:, None] * self.half_width,
            earlier=decision,
            spread=spread,
            in_range=in_range,
            operations=batch.operations + spent - np.where(in_range, 0, unsaid),
        )
        batch = ends.label.run(batch)
        return batch, batch.certified & in_range

    def _gate_operations(self) -> int:
        n = len(self.triangle)
        return n * (n + 1) // 2 + n

    def _sum_operations(self) -> int:
        n_rows = self.n_decisions + 1
        per_vector = self.n_out + 2 + _VALUE_OPERATIONS + n_rows
        per_row = self.n_out + 3
        return self.n_blocks * self.lanes * per_vector + n_rows * per_row + self.n_out

    @property
    def skipped_per_zero(self) -> int:
        """Multiply-adds that an undecided query saves for each prepared feature that is 0."""
        return self.products.skipped_per_zero

    def operations(self) -> int:
        """Return the multiply-adds for an input without zeros; the label's test comes on top."""
        return self.products.operations() + self._gate_operations() + self._sum_operations()

    def shared(self) -> Shared:
        """Return the constants that its projection shares, and the number of decisions."""
        return (
            *self.products.shared(),
            *sizes(self.earlier, "N_DECISIONS"),
            *sizes(self.half_width, "N_DECISIONS"),
            *sizes(self.intercept[1:], "N_DECISIONS"),
            *sizes(self.slopes[1:, 0], "N_DECISIONS"),
            *sizes(self.weights[0, 1:, 0], "N_DECISIONS"),
        )

    def needs(self) -> frozenset[str]:
        """Return the results that its projection needs, and "square" if the range is checked."""
        return self.products.needs() | frozenset({"square"} if len(self.triangle) else ())

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        name = f"REDUCED_{self.number}"
        blocks = (Constant(f"{name}_BLOCKS", self.n_blocks, "its blocks"),)
        return (
            Constant(f"{name}_OUT", self.n_out, f"dimensions of reduced set {self.number}"),
            Constant(f"{name}_LIFTED", self.n_out + 2, "these with - |y|^2 / 32 and 1"),
            Constant(f"{name}_LANES", self.lanes, "its vectors of a block"),
            *(blocks if self.n_blocks > 1 else ()),
        )

    def members(self) -> tuple[Member, ...]:
        """Return the workspace member for the estimate."""
        rows = self.n_decisions + 1
        return (Member("float", "estimate", rows, "of a reduced set: decisions, spread"),)

    def tables(self) -> tuple[Table, ...]:
        """Return projection, vectors, weights, slopes, intercepts and half-widths."""
        prefix = f"reduced_{self.number}"
        columns: tuple[Table, ...] = ()
        triangle: tuple[Table, ...] = ()
        if len(self.products.columns):
            columns = (
                Table(
                    f"{prefix}_columns",
                    self.products.columns,
                    "Numbers of the features that M looks at: [column]",
                ),
            )
        if len(self.triangle):
            triangle = (
                Table(
                    f"{prefix}_triangle",
                    self.triangle,
                    "Lower triangle T, |T y| being the length of x in M: [row][column]",
                ),
            )
        return (
            *columns,
            Table(
                f"{prefix}_projection",
                self.products.blocks,
                "Rows of the projection M, without unit: [block][feature][lane]",
            ),
            *triangle,
            Table(
                f"{prefix}_vectors",
                self.vectors,
                "Vectors (z_c, 1, t_c) of the set: [block][component][lane]",
            ),
            Table(
                f"{prefix}_weights",
                self.weights,
                "Weights of the decisions' estimates and of the spread: [block][row][lane]",
            ),
            Table(
                f"{prefix}_slopes",
                self.slopes,
                "Slopes of the same rows, per dimension of y: [row][dimension]",
            ),
            Table(f"{prefix}_intercept", self.intercept, "Constants of the same rows: [row]"),
            Table(
                f"{prefix}_earlier",
                self.earlier,
                "Share of the set before in the estimate: [decision]",
            ),
            Table(
                f"{prefix}_half_width",
                self.half_width,
                "Half of the calibrated band, in spreads: [decision]",
            ),
        )


def bump(v: Float32Array) -> Float32Array:
    """Return max(0, v)^16 by four squares."""
    value = np.maximum(v, np.float32(0.0))
    for _ in range(4):
        value = value * value
    return value
