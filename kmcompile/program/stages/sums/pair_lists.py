"""The lists of entries of one-vs-one pairs, each a vector's number and its coefficient."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.layout import Member
from kmcompile.program.piece import Piece, replay_in_blocks
from kmcompile.program.stages.sums.sum import Sum

_CHUNK_VALUES = 1 << 22  # number of float32 values in a work array

ENTRY_MEMBERS = (
    Member("uint32_t", "n_entries", None, "entries of the evaluated pairs"),
    Member("uint32_t", "damaged", None, "1 where a table of the pairs is"),
)
"""What the workspace keeps of the pairs' tables."""


class PairLists(Sum):
    """A sum whose pairs are lists of entries, those with positive coefficients first.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, ...)
    entry_vectors : ndarray of shape (n_entries,), uint16
    pair_ends : ndarray of shape (n_decisions, 2), uint32
        For each pair the index behind its positive entries and behind its last entry. A pair begins
        where the pair before it ends.
    """

    vectors: NDArray[Any]
    entry_vectors: NDArray[np.uint16]
    pair_ends: NDArray[np.uint32]

    sums_pairs: ClassVar[bool] = True

    entry_operations: ClassVar[int]
    """Multiply-adds of an entry."""

    pair_operations: ClassVar[int]
    """Multiply-adds of a pair besides its entries."""

    @property
    @abstractmethod
    def kernel_operations(self) -> int:
        """Multiply-adds of a kernel that is computed and kept."""

    @property
    def n_entries(self) -> int:
        """Entries of all pairs."""
        return len(self.entry_vectors)

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
        """Multiply-adds of the longest pair, once its kernels are computed."""
        return self.entry_operations * self.longest_pair + self.pair_operations

    @property
    def all_pairs_operations(self) -> int:
        """Multiply-adds of all kernels, then all pairs."""
        kernels = len(self.vectors) * self.kernel_operations
        entries = self.entry_operations * self.n_entries
        return kernels + entries + self.pair_operations * len(self.pair_ends)

    def lists(self) -> list[tuple[slice, slice]]:
        """Return the entries of each pair: the positive ones and the negative ones."""
        starts = np.concatenate([[0], self.pair_ends[:-1, 1]]).astype(int)
        return [
            (slice(int(start), int(middle)), slice(int(middle), int(end)))
            for start, (middle, end) in zip(starts, self.pair_ends, strict=True)
        ]

    def steps_of(self, turns: NDArray[np.int32], most_kernels: int) -> NDArray[np.int64]:
        """Return the steps in which the pairs of each query are summed, shape (n_queries,).

        A step computes at most `most_kernels` kernels, all of one pair, and ends the pair once it
        has all of them.

        Parameters
        ----------
        turns : ndarray of shape (n_queries, n_decisions), int32
            The places of the summed pairs in the order of evaluation, increasing; 0 of pairs that
            are not summed.
        most_kernels : int
        """
        needs = self._needs() > 0
        steps = np.zeros(len(turns), dtype=np.int64)
        order = np.argsort(turns, axis=1, kind="stable")
        for row, (own, pairs) in enumerate(zip(turns, order, strict=True)):
            known = np.zeros(len(self.vectors), dtype=bool)
            for p in pairs[own[pairs] > 0]:
                new = np.count_nonzero(needs[p] & ~known)
                steps[row] += max(1, -(-new // most_kernels))
                known |= needs[p]
        return steps

    def touched(self, evaluated: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many vectors the evaluated pairs of each query need, shape (n_queries,)."""
        needs = self._needs()
        rows = max(1, _CHUNK_VALUES // len(self.vectors))
        counts = [
            np.count_nonzero(evaluated[start : start + rows].astype(np.float32) @ needs, axis=1)
            for start in range(0, len(evaluated), rows)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *counts]).astype(np.int64)

    def _needs(self) -> Float32Array:
        """Return 1 for the vectors that a pair needs, shape (n_decisions, n_vectors)."""
        needs = np.zeros((len(self.pair_ends), len(self.vectors)), dtype=np.float32)
        for p, (positive, negative) in enumerate(self.lists()):
            needs[p, self.entry_vectors[positive]] = 1.0
            needs[p, self.entry_vectors[negative]] = 1.0
        return needs

    def replay_pieces(self, exact: Sum) -> tuple[Piece, ...]:
        """Return the begin, all kernels, then all pairs."""
        n_vectors, n_pairs = len(self.vectors), len(self.pair_ends)
        own = self.longest_pair_operations
        pair = Piece("replay_pair", "pair of replay", own, n_pairs, "pair")
        begin, kernel = self.input_operations, self.kernel_operations
        return replay_in_blocks(begin, kernel, n_vectors, "kernel", 0, (pair,))
