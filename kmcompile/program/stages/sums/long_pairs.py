"""The replay's sums of one-vs-one pairs of an rbf machine in float32, over integers of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.laid import Layout
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.fine_sum import FUNCTION_OPERATIONS
from kmcompile.program.stages.sums.long_sum import LongSum
from kmcompile.program.stages.sums.pair_sum import PairSum

_ENTRY_OPERATIONS = 3
"""Multiply-adds of an entry: two, and those of finding the kernel."""

_PAIR_OPERATIONS = 8
"""Multiply-adds of a pair besides its entries: the ends of its sum, and the bound."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LongPairs(LongSum):
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

    @property
    def n_rows(self) -> int:
        """Number of decisions in which a vector takes part; its kernel is only kept here."""
        return 0

    @property
    def longest_list(self) -> int:
        """Largest number of entries of one sign in a pair."""
        return int(np.diff(self.pair_ends.reshape(-1).astype(np.int64), prepend=0).max())

    @property
    def longest_pair(self) -> int:
        """Largest number of entries of a pair."""
        return int(np.diff(self.pair_ends[:, 1].astype(np.int64), prepend=0).max())

    @property
    def longest_pair_operations(self) -> int:
        """Multiply-adds of the longest pair."""
        return _ENTRY_OPERATIONS * self.longest_pair + _PAIR_OPERATIONS

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

    def places(self, exact: ExactSum | PairSum) -> dict[str, tuple[Any, Any]]:
        """Return the tables of entries and pairs: these, and those of the exact sum."""
        assert isinstance(exact, PairSum)
        return {
            "entry_vectors": (self.entry_vectors, exact.entry_vectors),
            "pair_ends": (self.pair_ends, exact.pair_ends),
        }

    def operations(self) -> int:
        """Return the multiply-adds of all kernels and pairs."""
        kernels = self.n_slots * self.kernel_operations
        entries = _ENTRY_OPERATIONS * len(self.entry_vectors)
        return kernels + entries + _PAIR_OPERATIONS * self.n_decisions
