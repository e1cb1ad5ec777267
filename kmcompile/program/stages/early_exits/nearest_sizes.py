"""Sizes and cost of the nearest vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.layout import Constant, Member
from kmcompile.program.stages.early_exits.approximate_kernels import (
    approximation_members,
    heap_operations,
    slots,
)
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.vector_blocks import VectorBlocks

_TEST_OPERATIONS = 4
"""Multiply-adds of one decision at one test, without those of the label."""


class NearestSizes(VectorBlocks, EarlyExit):
    """How large `NearestVectors` is, and what a query takes; the fields are described there."""

    __slots__ = ()

    levels: tuple[InnerProducts, ...]
    vectors: Float32Array
    residuals: Float32Array
    from_estimate: bool
    steps: NDArray[np.uint16]
    offset: Float32Array

    @property
    def n_out(self) -> int:
        """Dimensions of the last level."""
        return int(self.vectors.shape[1])

    @property
    def n_levels(self) -> int:
        """Levels of the projection."""
        return len(self.levels)

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return int(self.offset.shape[1])

    @property
    def uses_distance(self) -> bool:
        """Whether squared norms of the parts outside the projection are added."""
        return len(self.residuals) > 0

    @property
    def level_ends(self) -> tuple[int, ...]:
        """Number p_l of dimensions up to each level."""
        return tuple(int(n) for n in np.cumsum([level.n_rows for level in self.levels]))

    @property
    def touches(self) -> bool:
        """Whether any vector is touched."""
        return self.max_touched > 0

    @property
    def n_counts(self) -> int:
        """Numbers of vectors that may be touched: 0 to all."""
        return self.n_slots + 1

    @property
    def max_touched(self) -> int:
        """Largest number of touched vectors."""
        return int(self.steps[-1])

    def operations(self) -> int:
        """Return the multiply-adds for an input without zeros, without kernels, labels and heap."""
        products = sum(level.operations() for level in self.levels)
        return products + self.n_slots * self.n_out

    def level_operations(self, number: int, exact: ExactSum, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of one level for each query, its projection included."""
        n_new = self.levels[number].n_rows
        per_slot = n_new + exact.kernel.value_operations
        if self.uses_distance:
            per_slot += 2
        if self.from_estimate:
            per_slot += exact.n_rows
        projected = self.levels[number].operations_of(x)
        return projected + (self.n_slots * per_slot + 2 * n_new)

    @property
    def order_operations(self) -> int:
        """Multiply-adds of the scores in whose order vectors are touched."""
        return 2 * self.n_slots

    def touch_operations(self, exact: ExactSum, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of one touched vector for each query: heap, kernel, update."""
        heap = heap_operations(self.n_slots)
        each = heap + exact.total_operations + exact.kernel.value_operations + 2 * exact.n_rows
        return each - exact.skipped_features(x)

    def test_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of one test, those of the label included."""
        return _TEST_OPERATIONS * self.n_decisions + ends.label.operations()

    def operations_at_tests(self, x: Float32Array, ends: Ends) -> NDArray[np.int64]:
        """Return what queries have spent behind each test, shape (n_tests, n_queries).

        That is if no test before has decided them.

        Parameters
        ----------
        x : ndarray of shape (n_queries, n_features), float32
            Prepared inputs.
        """
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        levels = [self.level_operations(n, exact, x) for n in range(self.n_levels)]
        reached, touch = np.cumsum(levels, axis=0), self.touch_operations(exact, x)
        spent = []
        for number, step in enumerate(self.steps.astype(np.int64)):
            if self.from_estimate and number < self.n_levels:
                before = reached[number]
            else:
                before = reached[-1] + (self.order_operations + step * touch)
            spent.append(before + (number + 1) * self.test_operations(ends))
        return np.stack(spent)

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that is not decided, its touched kernels included."""
        without_zeros = np.ones((1, ends.exact.n_features), dtype=np.float32)
        return int(self.operations_at_tests(without_zeros, ends)[-1, 0])

    def saved_operations(self, ends: Ends) -> int:
        """Return the multiply-adds that the touched kernels save the exact sum at least."""
        assert isinstance(ends.exact, ExactSum)
        return ends.exact.least_spared(self.max_touched)

    def kernels_at_tests(self) -> tuple[int, ...]:
        """Return the numbers of touched vectors at which there is a test."""
        return tuple(int(k) for k in np.unique(self.steps))

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        tests = (
            Constant("N_TESTS", len(self.steps), "tests of the nearest vectors"),
            Constant("MOST_TOUCHED", self.max_touched, "kernels that they compute, at most"),
        )
        return (
            slots(self.n_slots),
            Constant("NEAREST_OUT", self.level_ends[-1], "dimensions of the nearest vectors"),
            *(tests if self.touches else ()),
        )

    def members(self) -> tuple[Member, ...]:
        """Return the members for approximate kernels and touched vectors."""
        return approximation_members(self.n_decisions, self.n_slots, self.n_blocks, self.touches)
