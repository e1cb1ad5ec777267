"""The exact sum: f_p = sum_i beta_pi K(s_i, x) + b_p with a bound on its error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import RealArray, RealBound, RealBoundArray, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Member
from kmcompile.program.piece import Piece, replay_in_blocks
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.grouped_sum import GroupedSum
from kmcompile.program.stages.sums.order_of_sums import sum_blocks, sum_groups, sum_totals
from kmcompile.program.stages.sums.rows import Intercept, Minimum
from kmcompile.program.stages.sums.self_bound import SelfBound
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.sums.vector_totals import VectorTotals

_CHUNK_VALUES = 1 << 18  # float32 values in one work array, which fits the second-level cache

_CHUNK_TOTALS = 1 << 22  # and in the arrays of the groups' totals

_FEW_LANES = 8
"""Fewer lanes than this stay in scalar registers."""

MOST_PLAIN = 8
"""Most totals of groups that are added to a decision without keeping what rounding takes off."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactSum(GroupedSum, VectorTotals):
    """Sum over all support vectors, blocks of `lanes` vectors at a time.

    The vectors stand in groups. All vectors of a group take part in the same decisions (for
    one-vs-one a group is a class and its decisions are the class's pairs; a group of many blocks
    is parted, so that fewer roundings act on a product). Within a group the
    coefficients of a decision have one sign. So |sum of coef * error| is the sum of the
    magnitudes, and needs no absolute value per vector.

    For a group and each of its decisions, the products of one block are added left to right,
    the blocks in order, and the group's total is added to the decision. With N additions on the
    longest path: |error| <= gamma_(N + 1) sum |beta K| (Higham, section 4.2), which is part of the
    kernel's value error, as is the rounding of the coefficients (lemmas 4 and 5 of the manual's
    page rounding_proof).

    Where more than `MOST_PLAIN` totals are added to a decision, the sum is compensated: what each
    of these additions rounds off is exactly known, is added up apart, and added to the decision at
    the end. So they count as one addition, and gamma_(m - 1)^2 sum |total| for m totals (T. Ogita,
    S. Rump, S. Oishi, Accurate sum and dot product, 2005, proposition 4.5).

    The bound of a decision is

        final_factor * sum |beta_pi| error_i + result_error * |f_p| + minimum_p.

    In the replay all arrays are float64 instead of float32.

    Parameters
    ----------
    kernel : Float32Kernel
    n_vectors : int
        Support vectors without the padding.
    vectors : ndarray of shape (n_blocks, n_features, lanes), float32
        A group's last block is padded with copies of its last vector, with coefficient 0.
    group_ends : ndarray of shape (n_groups,), uint16
        The block after the last one of each group.
    group_decisions : ndarray of shape (n_groups, n_rows), uint16
        The decision to which each row of the group's coefficients belongs.
    final_factor, result_error : float32
    minimum : ndarray of shape (n_decisions,), float32
        The part of the bound that does not depend on the query: rounding of the stored intercept,
        underflow, the exponential's cutoff.
    trivial_bound : float32
        The bound of queries whose deviation is too large for the kernel's bound.
    skip_zeros : bool
    mixed_signs : bool
        Whether a row of a group has coefficients of both signs. Then errors are multiplied by the
        magnitudes of the coefficients.
    squares : ndarray of shape (n_blocks, lanes), float32
        |s|^2 of the vectors; of shape (0, 0) where no distance is expanded.
    reduced : SelfBound or None
        What is added to the bound of a reduced machine whose K(x, x) depends on the query.
    """

    kernel: Float32Kernel = field()
    n_vectors: int
    vectors: Annotated[
        RealArray,
        Layout(
            "Support vectors s_i, in prepared features: [block][feature][lane]",
            ("N_BLOCKS", "N_PREPARED", "LANES"),
            where="in_floats",
        ),
    ]
    coefficients: Annotated[
        RealArray,
        Layout(
            "Dual coefficients beta_pi, 0 where a block is filled up: [block][row][lane]",
            ("N_BLOCKS", "N_ROWS", "LANES"),
        ),
    ]
    group_ends: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number of the block after the last one of a group: [group]",
            ("N_GROUPS",),
            below=Below("N_BLOCKS", rises=True),
        ),
    ]
    group_decisions: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number p of the decision that a row adds to: [group][row]",
            ("N_GROUPS", "N_ROWS"),
            below=Below("N_DECISIONS"),
        ),
    ]
    intercept: Intercept
    final_factor: RealBound
    result_error: RealBound
    minimum: Minimum
    trivial_bound: RealBound
    skip_zeros: bool = field()
    mixed_signs: bool
    squares: Annotated[
        RealBoundArray,
        Layout(
            "Squares |s_i|^2 of the support vectors: [block][lane]",
            ("N_BLOCKS", "LANES"),
            where="expands",
        ),
    ]
    reduced: SelfBound | None

    template: ClassVar[str] = "exact_sum"
    in_floats: ClassVar[bool] = True
    """Whether the vectors are stored as floats."""
    has_single_kernels: ClassVar[bool] = True
    """Whether an early exit can compute the kernel of one vector and the sum reuses it."""

    @property
    def most_totals(self) -> int:
        """Largest number of totals of groups that are added to a decision."""
        return max(Counter(self.group_decisions.ravel().tolist()).values())

    @property
    def compensates(self) -> bool:
        """Whether the decisions keep what rounding takes off the totals of groups."""
        return self.most_totals > MOST_PLAIN

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the groups, and that only coefficients of a group with mixed signs have both."""
        GroupedSum.check_tables(self, known)
        for own in () if self.mixed_signs else self.blocks_of_groups():
            rows = self.coefficients[own]
            if ((rows < 0).any(axis=(0, 2)) & (rows > 0).any(axis=(0, 2))).any():
                raise ValueError("a row of a group has coefficients of both signs, without saying")

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds."""
        columns = self.columns()
        rows = max(1, _CHUNK_TOTALS // (self.n_groups * self.n_rows))
        return self.in_parts(batch, rows, lambda part: self._sum(part, columns))

    def sum_values(self, value: RealArray) -> RealArray:
        """Return sum_i beta_pi value_i in the order of the stage, shape (n_queries, n_decisions).

        Parameters
        ----------
        value : ndarray of shape (n_queries, n_slots), float32
        """
        value = value.reshape(len(value), self.n_blocks, self.lanes)
        decision = np.zeros((len(value), self.n_decisions), dtype=value.dtype)
        for own, decisions in zip(self.blocks_of_groups(), self.group_decisions, strict=True):
            for row, p in enumerate(decisions):
                decision[:, p] += sum_blocks(value[:, own] * self.coefficients[own, row, :])
        return decision

    def add_slots(self, running: RealArray, slots: NDArray[np.intp], value: RealArray) -> None:
        """Add beta value of one slot for each query to the query's decisions, in place."""
        blocks, lanes = np.divmod(slots, self.lanes)
        groups = np.searchsorted(self.group_ends, blocks, side="right")
        rows = np.arange(len(slots))
        for row in range(self.n_rows):
            coef = self.coefficients[blocks, row, lanes]
            running[rows, self.group_decisions[groups, row]] += coef * value

    def columns(self) -> RealArray:
        """Return the vectors as (n_features, n_slots): a slot is a vector's place in the blocks."""
        return VectorTotals.columns(self)

    def slot_decisions(self) -> RealArray:
        """Return beta of every slot in every decision, shape (n_slots, n_decisions)."""
        table = np.zeros((self.n_blocks, self.lanes, self.n_decisions), dtype=np.float32)
        for own, decisions in zip(self.blocks_of_groups(), self.group_decisions, strict=True):
            for row, p in enumerate(decisions):
                table[own, :, p] = self.coefficients[own, row, :]
        return table.reshape(-1, self.n_decisions)

    def slot_coefficients(self, row: int) -> RealArray:
        """Return beta of every slot in one row, shape (n_slots,)."""
        return np.ascontiguousarray(self.coefficients[:, row, :].reshape(-1))

    def _sum(self, batch: Batch, columns: RealArray) -> tuple[RealArray, RealArray]:
        n = len(batch)
        sums = np.empty((n, self.n_groups, self.n_rows), dtype=columns.dtype)
        errors = np.empty_like(sums)
        usable = np.empty(n, dtype=bool)
        rows = max(1, _CHUNK_VALUES // columns.shape[1])
        for start in range(0, n, rows):
            part = slice(start, start + rows)
            some = batch.chosen(part)
            terms = self.kernel.query_terms(some)
            value, error = self.kernel.finish(self.totals(some.x, columns), terms)
            sums[part], errors[part] = self._totals_of_groups(value, error)
            usable[part] = terms.usable
        added = sum_totals(sums, self.group_decisions, self.n_decisions, self.compensates)
        decision = added + self.intercept
        bound = np.zeros_like(decision)
        for group, decisions in enumerate(self.group_decisions):
            for row, p in enumerate(decisions):
                bound[:, p] += magnitude(errors[:, group, row])
        rounding = magnitude(decision) * self.result_error
        bound = bound * self.final_factor + rounding + self.minimum
        bound = np.where(usable[:, None], bound, rounding + self.trivial_bound)
        if self.reduced is not None:
            bound = bound + self.reduced.of(batch)
        return decision, bound

    def _totals_of_groups(self, value: RealArray, error: RealArray) -> tuple[RealArray, RealArray]:
        """Return the totals of values and errors, each of shape (n_queries, n_groups, n_rows)."""
        shape = (len(value), self.n_blocks, self.lanes)
        value, error = value.reshape(shape), error.reshape(shape)
        totals = np.empty((len(value), self.n_groups, self.n_rows), dtype=value.dtype)
        errors = np.empty_like(totals)
        for row in range(self.n_rows):
            coef = self.coefficients[:, row, :]
            weights = magnitude(coef) if self.mixed_signs else coef
            totals[:, :, row] = sum_groups(value * coef, self.group_ends)
            errors[:, :, row] = sum_groups(error * weights, self.group_ends)
        return totals, errors

    @property
    def has_several_lanes(self) -> bool:
        """Whether a block has more than one vector."""
        return self.lanes > 1

    @property
    def most_single(self) -> int:
        """Largest number of vectors of a block that are summed one by one.

        Where an early exit has left more of a block to be summed, summing the whole block again
        takes less: a block reads each feature, or its index and the feature, once for all lanes,
        and keeps lanes in vector registers where it has many.
        """
        few = self.lanes // 2 if self.skip_zeros else self.lanes - 1
        return min(self.lanes - 1, few if self.lanes < _FEW_LANES else self.lanes // _FEW_LANES)

    def spared(self, slots: NDArray[np.intp]) -> NDArray[np.uint32]:
        """Return how many totals of touched slots are not summed again, shape (n_queries,).

        Parameters
        ----------
        slots : ndarray of shape (n_queries, n_touched), intp
            Different slots of each query.
        """
        places = np.arange(len(slots))[:, None] * self.n_blocks + slots // self.lanes
        counts = np.bincount(places.ravel(), minlength=len(slots) * self.n_blocks)
        touched = counts.astype(np.uint32).reshape(len(slots), self.n_blocks)
        taken = touched + np.uint32(self.most_single) >= self.lanes
        spared: NDArray[np.uint32] = np.where(taken, touched, 0).sum(axis=1, dtype=np.uint32)
        return spared

    def least_spared(self, n_touched: int) -> int:
        """Return the multiply-adds of totals that any n_touched slots save at least."""
        lost = self.n_blocks * (self.lanes - 1 - self.most_single)
        return max(0, n_touched - lost) * self.total_operations

    @property
    def row_operations(self) -> int:
        """Multiply-adds of a vector in one decision: value, error, magnitude for mixed signs."""
        return 3 if self.mixed_signs else 2

    @property
    def bound_needs_input(self) -> bool:
        """Whether the machine is reduced, and K(x, x) part of the bound."""
        return self.reduced is not None

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the sums of a group, and what is lost of the decisions."""
        lost = Member(real, "lost", self.n_decisions, "what rounding takes off")
        return (
            *((lost,) if self.compensates else ()),
            Member(real, "row_sum", self.n_rows, "sums of one group of vectors"),
            Member(real, "row_error", self.n_rows, "and of their errors"),
        )

    def operations(self) -> int:
        """Return the multiply-adds: distances, kernel functions, both sums, final steps."""
        blocks = self.n_blocks * self.block_operations(self.total_operations)
        return blocks + self.n_groups * self.group_operations + self.end_operations

    def block_operations(self, total: int) -> int:
        """Return the multiply-adds of a block of vectors, each with those of its total."""
        per_vector = total + self.kernel.finish_operations + self.row_operations * self.n_rows
        return self.lanes * per_vector

    @property
    def group_operations(self) -> int:
        """Multiply-adds at the end of a group of blocks."""
        return (8 if self.compensates else 2) * self.n_rows

    @property
    def end_operations(self) -> int:
        """Multiply-adds of the final steps."""
        return 6 * self.n_decisions + (0 if self.reduced is None else self.reduced.operations)

    def piece_operations(self) -> tuple[int, int, int]:
        """Return the multiply-adds before the blocks, of one with its group's end, and after."""
        block = self.block_operations(self.total_operations) + self.group_operations
        return 0, block, self.end_operations

    def replay_pieces(self, exact: Sum) -> tuple[Piece, ...]:
        """Return the blocks and the end."""
        begin, block, end = self.piece_operations()
        return replay_in_blocks(begin, block, self.n_blocks, "block", end)

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the multiply-adds of each query; totals that are spared are not summed again."""
        kept = batch.spared.astype(np.int64)
        skipped = self.skipped_features(batch.x) * (self.n_blocks * self.lanes - kept)
        return self.operations() - kept * self.total_operations - skipped

    def shared(self) -> Shared:
        """Return the numbers of features, slots, groups and decisions."""
        return (("N_SLOTS", self.n_slots), *Laid.shared(self))
