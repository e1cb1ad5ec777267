"""Sizes and cost of the subspace certificate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.remainder import ORDER_COLUMNS, PolyRemainder
from kmcompile.numeric.arrays import Count, Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar import root_bound
from kmcompile.program.layout import Constant, Member
from kmcompile.program.stages.early_exits.approximate_kernels import (
    approximation_members,
    heap_operations,
    slots,
)
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.vector_blocks import VectorBlocks

TEST_OPERATIONS = root_bound.OPERATIONS + NARROW_OPERATIONS + 12
_TOUCH_OPERATIONS = 8

_TESTS = 8
"""Numbers of touched vectors that verification looks for."""


class SubspaceSizes(VectorBlocks, EarlyExit):
    """How large `SubspaceCertificate` is, and what a query takes; see there for fields."""

    __slots__ = ()

    remainder: PolyRemainder
    products: InnerProducts
    vectors: Float32Array
    max_touched: Count

    @property
    def n_out(self) -> int:
        """Number p of dimensions of the subspace."""
        return self.products.n_rows

    @property
    def touches(self) -> bool:
        """Whether any kernel may be computed."""
        return self.max_touched > 0

    def level_operations(self, batch: Batch, ends: Ends) -> NDArray[np.int64]:
        """Return the multiply-adds of each query up to the first test, with it."""
        return self.products.operations_of(batch.x) + self._slot_operations(ends)

    def _slot_operations(self, ends: Ends) -> int:
        per_slot = self.n_out + self.remainder.value_operations + 3
        own = self.n_out + 4 + 2 * root_bound.OPERATIONS + self.remainder.share_operations
        return self.n_slots * per_slot + own + TEST_OPERATIONS + ends.label.operations()

    @property
    def built_heap_operations(self) -> int:
        """Multiply-adds of the heap of all slots, before the first is touched."""
        return 2 * self.n_slots

    def touch_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of one touched vector: heap, kernel, update, test."""
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        heap = heap_operations(self.n_slots)
        kernel = exact.total_operations + exact.kernel.finish_operations
        return heap + kernel + _TOUCH_OPERATIONS + TEST_OPERATIONS + ends.label.operations()

    def operations(self) -> int:
        """Return the multiply-adds without those of touched kernels and labels."""
        per_slot = self.n_out + self.remainder.value_operations + 3
        return self.products.operations() + self.n_slots * per_slot

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds that an undecided query costs in addition to its exact sum.

        The exact sum does not compute all touched kernels again.
        """
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        saved = exact.least_spared(self.max_touched)
        heap = self.built_heap_operations * self.touches
        level = self.products.operations() + self._slot_operations(ends)
        return level + heap + self.max_touched * self.touch_operations(ends) - saved

    def kernel_evaluations(self) -> int:
        """Return the largest number of touched vectors."""
        return self.max_touched

    def kernels_at_tests(self) -> tuple[int, ...]:
        """Return some of the numbers of touched vectors: there is a test after each."""
        some = np.linspace(0, self.max_touched, _TESTS).astype(int)
        return tuple(int(k) for k in np.unique(some))

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        most = min(self.max_touched, self.n_slots)
        touched = (
            slots(self.n_slots),
            Constant("SUBSPACE_TOUCHED", most, "kernels that are computed, at most"),
        )
        degree = self.remainder.degree
        return (
            Constant("SUBSPACE_OUT", self.n_out, "dimensions of the subspace"),
            Constant("DEGREE", degree, "of the kernel: orders of its expansion"),
            Constant("ORDER_COLUMNS", ORDER_COLUMNS, "factors of an order"),
            *(touched if self.touches else ()),
        )

    def members(self) -> tuple[Member, ...]:
        """Return the members for kernels in the subspace and touched vectors."""
        return approximation_members(1, self.n_slots, self.n_blocks, self.touches)
