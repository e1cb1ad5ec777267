"""The replay's sums of one-vs-one pairs of an rbf machine in float32, over integers of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Member
from kmcompile.program.stages.sums.fine_sum import FUNCTION_OPERATIONS
from kmcompile.program.stages.sums.long_sum import LongSum
from kmcompile.program.stages.sums.pair_lists import ENTRY_MEMBERS, PairLists
from kmcompile.program.stages.sums.pair_sum import PairSum
from kmcompile.program.stages.sums.sum import Sum


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LongPairs(PairLists, LongSum):
    """`LongSum` over the entries of `PairSum`: each a vector's number and its coefficient.

    All kernels are computed, then all pairs. There are no groups.
    """

    vectors: Annotated[NDArray[np.int32], Layout("", ("N_BLOCKS", "N_PREPARED"))]
    coefficients: Annotated[Float64Array, Layout("", ("N_ENTRIES",))]
    group_ends: NDArray[np.int64]
    group_decisions: NDArray[np.int64]
    entry_vectors: Annotated[NDArray[np.uint16], Layout("", ("N_ENTRIES",))]
    pair_ends: Annotated[NDArray[np.uint32], Layout("", ("N_DECISIONS", 2))]

    template: ClassVar[str] = "long_pairs"
    n_rows: ClassVar[int] = 0  # a vector's kernel is only kept here

    entry_operations: ClassVar[int] = 3
    """Multiply-adds of an entry: two, and those of finding the kernel."""
    pair_operations: ClassVar[int] = 8
    """Multiply-adds of a pair besides its entries: the ends of its sum, and the bound."""

    @property
    def kernel_operations(self) -> int:
        """Multiply-adds of a kernel that is computed and kept."""
        return int(self.vectors.shape[1]) + FUNCTION_OPERATIONS

    def units(self) -> NDArray[np.int64]:
        """Return the coefficients in steps, shape (n_slots, n_decisions)."""
        ends = self.pair_ends[:, 1].astype(np.int64)
        pairs = np.repeat(np.arange(self.n_decisions), np.diff(ends, prepend=0))
        units = np.zeros((self.n_slots, self.n_decisions), dtype=np.int64)
        np.add.at(
            units, (self.entry_vectors, pairs), (self.coefficients / self.step).astype(np.int64)
        )
        return units

    def places(self, exact: Sum) -> dict[str, tuple[Any, Any]]:
        """Return the tables of entries and pairs: these, and those of the exact sum."""
        assert isinstance(exact, PairSum)
        return {
            "entry_vectors": (self.entry_vectors, exact.entry_vectors),
            "pair_ends": (self.pair_ends, exact.pair_ends),
        }

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the kernels."""
        return (Member("uint64_t", "kernel", self.n_slots, "of all vectors"),)

    def last_members(self, exact: Sum) -> tuple[Member, ...]:
        """Return the parts of the input, and what is found of the entries."""
        return (*LongSum.last_members(self, exact), *ENTRY_MEMBERS)

    def operations(self) -> int:
        """Return the multiply-adds of the input, all kernels and all pairs."""
        return self.input_operations + self.all_pairs_operations
