"""A reduced set: few free vectors in a projection of the input, with refitted weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import Float32Array, finite, frozen
from kmcompile.ir.batch import Batch
from kmcompile.ir.ends import Ends
from kmcompile.ir.table import Table
from kmcompile.kernels.float32 import Float32Kernel, value_within
from kmcompile.stages.exact_sum import sum_blocks
from kmcompile.stages.inner_products import InnerProducts
from kmcompile.stages.stage import EarlyExit


@dataclass(frozen=True, slots=True, eq=False)
class ReducedSet(EarlyExit):
    """decision_p = sum_c weight_pc K(centre_c, y) + c_p with y = M x, half-width h_p.

    K is the machine's own kernel: a scale is part of M and of the centres. Where M is absent,
    y = x. The vectors are summed in blocks of `lanes`: the products of a block left to right,
    the blocks in order.

    An input is in range if the part of it that M does not see, |x|^2 - |T y|^2, lies between
    `least` and `largest`, T being the lower triangle with |T M x| = the length of x in M's rows.

    Parameters
    ----------
    number : int
        1 for the first reduced set of a program, ...
    kernel : Float32Kernel
        The exact sum's; only its value is used, not its error.
    far : float32
        Kernels whose accumulated sum is this large count as 0.
    products : InnerProducts or None
        M, shape (n_out, n_features).
    centres : ndarray of shape (n_blocks, n_out, lanes), float32
        Filled up with copies of the last one, weight 0.
    weights : ndarray of shape (n_blocks, n_decisions, lanes), float32
    intercept, half_width : ndarray of shape (n_decisions,), float32
    triangle : ndarray of shape (n_out, n_out), float32
        T; of shape (0, 0) without M.
    least, largest : float32
    """

    number: int
    kernel: Float32Kernel
    far: np.float32
    products: InnerProducts | None
    centres: Float32Array
    weights: Float32Array
    intercept: Float32Array
    half_width: Float32Array
    triangle: Float32Array
    least: np.float32
    largest: np.float32

    template: ClassVar[str] = "reduced_set"
    exit: ClassVar[str | None] = "statistical"

    def __post_init__(self) -> None:
        for name in ("centres", "weights", "intercept", "triangle"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        object.__setattr__(self, "half_width", finite(self.half_width))
        for name in ("least", "largest"):
            object.__setattr__(self, name, np.float32(finite(getattr(self, name))))

    @property
    def name(self) -> str:
        """`reduced_set_1`, ..."""
        return f"{self.template}_{self.number}"

    @property
    def n_blocks(self) -> int:
        """Blocks of centres."""
        return int(self.centres.shape[0])

    @property
    def n_out(self) -> int:
        """Features of a centre."""
        return int(self.centres.shape[1])

    @property
    def lanes(self) -> int:
        """Centres of a block."""
        return int(self.centres.shape[2])

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.intercept)

    def project(self, x: Float32Array) -> Float32Array:
        """Return y, shape (n_queries, n_out)."""
        return x if self.products is None else self.products.of(x)

    def operations_of(self, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of each query in range, without those of the label."""
        own = self._gate_operations() + self._sum_operations()
        if self.products is None:
            return np.full(len(x), own, dtype=np.int64)
        return self.products.operations_of(x) + own

    def estimate(self, y: Float32Array) -> Float32Array:
        """Return the decisions for projected inputs, shape (n_queries, n_decisions)."""
        columns = np.ascontiguousarray(self.centres.transpose(1, 0, 2).reshape(self.n_out, -1))
        total = np.zeros((len(y), columns.shape[1]), dtype=np.float32)
        for feature, s in enumerate(columns):
            self.kernel.accumulate(total, y[:, feature, None], s)
        value = value_within(self.kernel, total, self.far).reshape(
            len(y), self.n_blocks, self.lanes
        )
        decision = np.empty((len(y), self.n_decisions), dtype=np.float32)
        for p in range(self.n_decisions):
            decision[:, p] = sum_blocks(value * self.weights[:, p, :])
        decision += self.intercept
        return decision

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

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with estimates, and which queries they decide."""
        y = self.project(batch.x)
        in_range = batch.in_range
        if self.products is not None:
            rest = self.residual(y, batch.square)
            in_range = (rest >= self.least) & (rest <= self.largest)
        decision = self.estimate(y)
        unsaid = self._sum_operations() + ends.label.operations()
        spent = self.operations_of(batch.x) + ends.label.operations()
        batch = replace(
            batch,
            decision=decision,
            bound=np.broadcast_to(self.half_width, decision.shape),
            in_range=in_range,
            operations=batch.operations + spent - np.where(in_range, 0, unsaid),
        )
        batch = ends.label.run(batch)
        return batch, batch.certified & in_range

    def _gate_operations(self) -> int:
        n = len(self.triangle)
        return n * (n + 1) // 2 + n

    def _sum_operations(self) -> int:
        per_centre = self.n_out + self.kernel.value_operations + self.n_decisions
        return self.n_blocks * self.lanes * per_centre + 2 * self.n_decisions

    def operations(self) -> int:
        """Return the multiply-adds for an input without zeros; the label's test comes on top."""
        projection = 0 if self.products is None else self.products.operations()
        return projection + self._gate_operations() + self._sum_operations()

    def tables(self) -> tuple[Table, ...]:
        """Return projection, centres, weights, intercepts and half-widths."""
        prefix = f"reduced_{self.number}"
        projection = (
            ()
            if self.products is None
            else (
                Table(f"{prefix}_projection", self.products.blocks, "M: [block][feature][lane]"),
                Table(f"{prefix}_triangle", self.triangle, "T, lower triangle: [row][column]"),
            )
        )
        return (
            *projection,
            Table(f"{prefix}_centres", self.centres, "free vectors: [block][feature][lane]"),
            Table(f"{prefix}_weights", self.weights, "refitted: [block][decision][lane]"),
            Table(f"{prefix}_intercept", self.intercept, "c, middle of the band: [decision]"),
            Table(f"{prefix}_half_width", self.half_width, "half of the band: [decision]"),
        )
