"""The sum of a routed machine: a walk to a leaf, and the decisions of the leaf."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.stages.leaves.fixed_leaf_parts import FixedPairs
from kmcompile.program.stages.leaves.leaf_parts import KernelProducts
from kmcompile.program.stages.leaves.own_pairs import OwnPairs
from kmcompile.program.stages.leaves.route import RouteTree
from kmcompile.program.stages.sums.described_sum import DescribedSum

_OTHERS = 4
"""Multiply-adds of a query besides its walks and leaves."""


Slots = Annotated[
    NDArray[np.uint16],
    Layout(
        "Number of the support vector of a slot: [slot]", ("N_SLOTS",), below=Below("N_VECTORS")
    ),
]

LeafEnds = Annotated[
    NDArray[np.uint32],
    Layout(
        "Slot after the last one of a leaf: [leaf]",
        ("N_LEAVES",),
        below=Below("N_SLOTS", rises=True),
    ),
]


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """Where queries go: the leaf of each, and the other leaf of `rows`, the queries that have one.

    Parameters
    ----------
    leaf, scores : ndarray of shape (n_queries,), int64
    rows, other : ndarray of shape (n_rows,), int64
    unclear : ndarray of shape (n_queries,), bool
        Rounding leaves more than two leaves possible.
    """

    leaf: NDArray[np.int64]
    scores: NDArray[np.int64]
    rows: NDArray[np.intp]
    other: NDArray[np.int64]
    unclear: NDArray[np.bool_]

    def total(self, of_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of a number over each query's leaves."""
        total = of_leaves[self.leaf]
        total[self.rows] += of_leaves[self.other]
        return total


class SumOfLeaves(DescribedSum):
    """A walk to a leaf, then the decisions of the leaf, with their bounds.

    Where one other choice on the way may be the right one but for rounding, the walk is repeated
    from there, and the other leaf is summed, too. The decision is then the mean m of the two, and

        max(|f - m| + bound, |f' - m| + bound') * mean_factor

    bounds its distance from either, so that a sign is certified only if both leaves have it. Where
    rounding leaves more than two leaves possible, the bound grows by `apart` or a little more: no
    two leaves' decisions are further apart.

    Parameters
    ----------
    route : RouteTree
    slots : ndarray of shape (n_slots,), uint16
        The number of the vector of each slot, leaf by leaf.
    leaf_ends : ndarray of shape (n_leaves,), uint32
        The slot after the last one of each leaf.
    mean_factor, apart : float32
    own_pairs : OwnPairs, optional
    """

    route: RouteTree
    slots: Slots
    leaf_ends: LeafEnds
    mean_factor: Bound
    apart: Bound
    own_pairs: OwnPairs | None

    counts_evaluations: ClassVar[bool] = True

    @abstractmethod
    def _of_leaf(self, batch: Batch, leaf: int) -> tuple[Float32Array, Float32Array]:
        """Return decisions and bounds of queries in a leaf."""

    @property
    @abstractmethod
    def _leaf_operations(self) -> NDArray[np.int64]:
        """Multiply-adds of each leaf, with the last steps of its decisions."""

    @property
    @abstractmethod
    def kernel_pairs(self) -> KernelProducts | FixedPairs | None:
        """The coefficients of pairs of kernels, if the leaves have some."""

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, those that follow from the leaves' sizes and own pairs included."""
        super().check_tables(known)
        if self.kernel_pairs is not None:
            ends = np.cumsum(self._leaf_sizes * (self._leaf_sizes + 1) // 2)
            if not np.array_equal(np.append(self.kernel_pairs.starts, known["N_PAIRS"])[1:], ends):
                raise ValueError("the pairs of kernels are not those of the leaves' sizes")
        if self.own_pairs is not None:
            ends = np.append(0, self.own_pairs.term_ends)[self.leaf_ends].astype(np.int64)
            most = np.repeat(self.own_pairs.counts, np.diff(ends, prepend=0))
            if (self.own_pairs.terms >= most).any():
                raise ValueError("a term is of no own pair of its leaf")
            self.own_pairs.check_pairs()

    @property
    def n_leaves(self) -> int:
        """Leaves of the tree."""
        return len(self.leaf_ends)

    @property
    def largest_leaf(self) -> int:
        """The most vectors of a leaf."""
        return int(self._leaf_sizes.max())

    @property
    def _leaf_sizes(self) -> NDArray[np.int64]:
        ends = self.leaf_ends.astype(np.int64)
        counts: NDArray[np.int64] = ends - np.concatenate([[0], ends[:-1]])
        return counts

    def _members(self, leaf: int) -> slice:
        """Return the slots of a leaf."""
        end = int(self.leaf_ends[leaf])
        return slice(end - int(self._leaf_sizes[leaf]), end)

    def tree_constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the tree and of its leaves."""
        return (
            Constant("N_SLOTS", len(self.slots), "support vectors of all leaves together"),
            Constant("N_LEAVES", self.n_leaves, "leaves of the tree"),
            Constant("LARGEST_LEAF", self.largest_leaf, "the most support vectors of a leaf"),
            Constant("N_NODES", self.route.n_nodes, "nodes at which a choice is taken"),
            Constant("N_CHOICES", len(self.route.targets), "choices of all nodes"),
            Constant("MOST_CHOICES", self.route.most_choices, "of a node"),
            Constant("DEPTH", self.route.depth, "the most nodes on the way to a leaf"),
        )

    def leaf_members(self, real: str) -> tuple[Member, ...]:
        """Return what the workspace keeps of the first of two leaves, and the count of kernels."""
        n = self.n_decisions
        return (
            Member(real, "first_decision", n, "decisions of the first of two leaves"),
            Member(real, "first_bound", n, ">= their errors"),
            Member("uint32_t", "n_evaluated", None, "kernels of this query"),
        )

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds."""
        ways = self._ways(batch)
        decision, bound = self._of_leaves(batch, ways.leaf)
        rows = ways.rows
        second = self._of_leaves(batch.chosen(rows), ways.other)
        decision[rows], bound[rows] = self._mean((decision[rows], bound[rows]), second)
        evaluations = ways.total(self._leaf_sizes).astype(np.uint32)
        return replace(
            batch,
            decision=decision,
            bound=np.where(ways.unclear[:, None], bound + self._farthest(batch), bound),
            kernel_evals=batch.kernel_evals + evaluations,
        )

    def _ways(self, batch: Batch) -> _Ways:
        """Return each query's leaf, and the other one where two are possible."""
        path = self.route.walk(batch)
        scores = np.where(batch.walked, 0, path.scores)
        rows = np.flatnonzero(path.n_open == 1)
        other = self.route.walk(batch.chosen(rows), path.rival[rows])
        scores[rows] += other.scores
        unclear = path.n_open > 1
        unclear[rows] = other.n_open > 0
        clear = other.n_open == 0
        return _Ways(path.leaf, scores, rows[clear], other.leaf[clear], unclear)

    def _mean(
        self, first: tuple[Float32Array, Float32Array], second: tuple[Float32Array, Float32Array]
    ) -> tuple[Float32Array, Float32Array]:
        """Return the means of two leaves' decisions, and bounds that hold for both leaves."""
        mean = (first[0] + second[0]) * np.float32(0.5)
        of_first = magnitude(first[0] - mean) + first[1]
        of_second = magnitude(second[0] - mean) + second[1]
        return mean, np.maximum(of_first, of_second) * self.mean_factor

    def _of_leaves(
        self, batch: Batch, leaves: NDArray[np.int64]
    ) -> tuple[Float32Array, Float32Array]:
        """Return decisions and bounds of queries in the given leaves."""
        decision = np.empty((len(batch), self.n_decisions), dtype=np.float32)
        bound = np.empty_like(decision)
        order = np.argsort(leaves, kind="stable")
        ends = np.searchsorted(leaves[order], np.arange(self.n_leaves), side="right")
        for leaf, rows in enumerate(np.split(order, ends[:-1])):
            if len(rows):
                decision[rows], bound[rows] = self._of_leaf(batch.chosen(rows), leaf)
        return decision, bound

    def _farthest(self, batch: Batch) -> Float32Array | np.float32:
        """Return what the bound grows by where every leaf is possible."""
        return self.apart

    @property
    def _of_mean(self) -> int:
        """Multiply-adds of the means of two leaves' decisions."""
        return 6 * self.n_decisions

    def operations(self) -> int:
        """Return the multiply-adds of the longest walk and the largest leaf, both twice."""
        walks = 2 * self.route.most_scores * self.route.score_operations
        return walks + 2 * int(self._leaf_operations.max()) + self._of_mean + _OTHERS

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the multiply-adds of each query: its scores, its leaves, the final steps."""
        ways = self._ways(batch)
        operations = ways.total(self._leaf_operations) + ways.scores * self.route.score_operations
        operations[ways.rows] += self._of_mean
        return operations + _OTHERS

    def kernel_evaluations(self) -> int:
        """Return the most kernels of a query: the largest leaf's, twice."""
        return 2 * self.largest_leaf

    @property
    def slot_axes(self) -> tuple[str, ...]:
        """The axes of a table of slots: with own pairs a number for each term."""
        return ("N_SLOTS", "N_DECISIONS") if self.own_pairs is None else ("N_TERMS",)

    @property
    def leaf_axes(self) -> tuple[str, ...]:
        """The axes of a table of leaves: with own pairs a number for each."""
        return ("N_LEAVES", "N_DECISIONS") if self.own_pairs is None else ("N_OWN_PAIRS",)

    @property
    def of_slots(self) -> str:
        """The indices of a table of slots."""
        return "[slot][decision]" if self.own_pairs is None else "[term]"

    @property
    def of_leaves(self) -> str:
        """The indices of a table of leaves."""
        return "[leaf][decision]" if self.own_pairs is None else "[own pair]"
