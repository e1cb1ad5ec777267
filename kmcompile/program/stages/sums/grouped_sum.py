"""A sum over blocks of support vectors in groups: what those in floats and in integers share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.program.layout import Constant
from kmcompile.program.piece import Piece
from kmcompile.program.stages.sums.sum import Sum


class GroupedSum(Sum):
    """A sum of blocks of vectors, in groups that take part in the same decisions (`ExactSum`)."""

    n_vectors: int
    coefficients: NDArray[Any]
    minimum: RealArray
    group_ends: NDArray[Any]

    takes_exits: ClassVar[bool] = True

    @property
    def n_blocks(self) -> int:
        """Blocks of vectors."""
        return int(self.coefficients.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of decisions in which a vector takes part."""
        return int(self.coefficients.shape[1])

    @property
    def n_groups(self) -> int:
        """Groups of vectors."""
        return len(self.group_ends)

    def blocks_of_groups(self) -> list[slice]:
        """Return the blocks of each group."""
        return [slice(*ends) for ends in pairwise([0, *self.group_ends.tolist()])]

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, and that the vectors fill the groups' blocks."""
        super().check_tables(known)
        most = self.n_blocks * self.lanes
        if not most - self.n_groups * (self.lanes - 1) <= self.n_vectors <= most:
            raise ValueError(f"{self.n_vectors} vectors do not fill {self.n_blocks} blocks")

    def in_parts(
        self, batch: Batch, rows: int, sums: Callable[[Batch], tuple[RealArray, RealArray]]
    ) -> Batch:
        """Return the batch with decisions and bounds, which are summed for some rows at a time."""
        decision = np.empty((len(batch), self.n_decisions), dtype=self.dtype_of_reals)
        bound = np.empty_like(decision)
        for start in range(0, len(batch), rows):
            part = slice(start, start + rows)
            decision[part], bound[part] = sums(batch.chosen(part))
        spent = batch.kernel_evals - batch.known + np.uint32(self.n_vectors)
        return replace(batch, decision=decision, bound=bound, kernel_evals=spent)

    @abstractmethod
    def columns(self) -> Float32Array:
        """Return the vectors as (n_features, n_slots), for fitting early exits."""

    @abstractmethod
    def slot_decisions(self) -> RealArray:
        """Return the coefficients as (n_slots, n_decisions), 0 where a slot has no part."""

    @abstractmethod
    def piece_operations(self) -> tuple[int, int, int]:
        """Return the multiply-adds before the blocks, of a block with its group's end, and after.

        The total of a vector counts to its block, those of all sparse codes to the begin.
        """

    def most_blocks(self, n_vectors: int, n_groups: int) -> int:
        """Return the most blocks of so many vectors: each group fills up one block at most."""
        return (n_vectors + n_groups * (self.lanes - 1)) // self.lanes

    def kernel_evaluations(self) -> int:
        """Return the number of support vectors."""
        return self.n_vectors

    def constants(self) -> tuple[Constant, ...]:
        """Return the private #defines of the sizes of blocks and of groups."""
        return (
            *self.block_constants(),
            Constant("N_ROWS", self.n_rows, "decisions that a vector is part of"),
            Constant("N_GROUPS", self.n_groups, "groups of vectors, by what they are part of"),
        )

    def pieces(self, last: int, note: str) -> tuple[Piece, ...]:
        """Return the begin of the sum, its blocks and its end."""
        begin, block, end = self.piece_operations()
        return (
            Piece("begin_sum", f"begin of {self.name}", begin),
            Piece("sum_block", f"block of {self.name}", block, self.n_blocks, "block"),
            Piece("end_sum", f"end of {self.name}{note}", end + last),
        )
