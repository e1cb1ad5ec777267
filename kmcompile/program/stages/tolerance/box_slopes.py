"""Bounds on decisions over a box of inputs, by the slope of the sum at its middle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, BoundArray, Float32Array, RealArray, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.order_of_sums import sum_blocks

LEVELS = 8
"""Thresholds that are tried for the share of blocks that are left out at first."""

FIRST_THRESHOLD = np.float32(2.0**-4)
"""The first of them, as a part of the room that a decision has; each is half the one before."""

LEFT_OUT = np.float32(0.8)
"""Largest part of the room that blocks which are left out may take."""

OUTWARD = np.float32(2.0**-22)
"""Four times the rounding of one operation."""

_HALF = np.float32(0.5)
_CHUNK_VALUES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class AtX:
    """What the bounds of all decisions of a query need; one row a query.

    Parameters
    ----------
    x : ndarray of shape (n, n_features), float32
    factor : ndarray of shape (n, n_slots), float32
        By which the coefficients of the vectors count in a slope.
    decision, bound : ndarray of shape (n, n_decisions), float32
    first, second : ndarray of shape (n,), float32
        Numbers of the query; each kind of slopes says which.
    """

    x: Float32Array
    factor: Float32Array
    decision: Float32Array
    bound: Float32Array
    first: Float32Array
    second: Float32Array

    def chosen(self, rows: NDArray[np.intp]) -> AtX:
        """Return the chosen queries only."""
        return AtX(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An interval of one decision over the box, with its multiply-adds, one row a query."""

    low: Float32Array
    high: Float32Array
    operations: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BoxSlopes(Laid, ABC):
    """Bounds on f(x + d) for all |d_i| <= t_i, of a sum over vectors.

    With theta = c t, c the kernel's, and w_j a coefficient times a factor that depends on x,

        f(x + d) = f(x) + c <d, G> + R,   G = sum_j w_j s_j + (a term that needs no sum).

    |c <d, G>| <= sum_i theta_i |G_i|: the largest change of first order in the box, which a corner
    of it has. What bounds R, and the errors of G, is the kernel's: `fixed`.

    A block of vectors adds at most the sum of its |w_j| rho_j to the first-order term, rho_j =
    sum_i theta_i |s_ji|. Blocks that add little are left out of G at first and stand with that sum,
    as many as fill most of the room |f| - (all other terms). Only if the sign is open then, and
    might be proved, the others follow: two rounds at most.

    `final` covers the sums of positive terms, 2^-22 |f| the last subtraction.

    Parameters
    ----------
    scales : ndarray of shape (n_features,), float32
        theta.
    columns : ndarray of shape (n_columns,), uint16, or None
        The features that are not 0 in every vector; None: all are read.
    reaches : ndarray of shape (n_slots,), float32
        rho, of the trained and of the stored vector.
    bends : ndarray of shape (n_decisions,), float32
        The part of the bound of R that no input changes.
    per_bound : float32
        What the errors of the weights add, by the decision's bound.
    rounding : float32
        Relative error of the products and additions of G.
    final, least : float32
        `least` is more than what underflows.
    """

    scales: Annotated[
        Float32Array,
        Layout(
            "Tolerances of the prepared features, times {self.of_scales}: [feature]",
            ("N_PREPARED",),
            name="box_scales",
        ),
    ]
    columns: Annotated[
        NDArray[np.uint16] | None,
        Layout(
            "Features that are not 0 in every support vector, of a slope: [column]",
            name="box_columns",
            below=Below("N_PREPARED"),
        ),
    ]
    reaches: Annotated[
        BoundArray,
        Layout(
            "Most that {self.of_scales} <d, s_i> is for a d within them: [block][lane]",
            ("N_SLOTS",),
            name="box_reaches",
        ),
    ]
    bends: Annotated[
        BoundArray,
        Layout(
            "How far a decision is from linear anywhere in the box: [decision]",
            ("N_DECISIONS",),
            name="box_bends",
        ),
    ]
    per_bound: Bound
    rounding: Bound
    final: Bound
    least: np.float32

    template: ClassVar[str]
    """Name of the template in `templates/input_tolerance/` with what is the kernel's."""

    of_factors: ClassVar[str]
    """What the factors of the coefficients are, for the comment of the workspace."""

    of_scales: ClassVar[str]
    """What the tolerances are multiplied by, for the comment of the table."""

    @abstractmethod
    def factors(self, total: RealArray, exact: ExactSum) -> Float32Array:
        """Return the factors of the coefficients, of totals of shape (n, n_slots)."""

    @abstractmethod
    def kept(self, name: str) -> str:
        """Return the C of the factor of a lane, in the sum's loop over a block."""

    @abstractmethod
    def numbers(
        self, batch: Batch, exact: ExactSum, distance: Float32Array | None
    ) -> tuple[Float32Array, Float32Array]:
        """Return the two numbers of each query. `batch.received` is the deviation of x alone."""

    @abstractmethod
    def fixed(
        self, at: AtX, p: int, exact: ExactSum, share: Float32Array, total: Float32Array
    ) -> Float32Array:
        """Return the bound of what is not of first order: the bend, and all errors.

        Parameters
        ----------
        share, total : ndarray of shape (n,), float32
            The sums of |w_j| rho_j and of |w_j| over the vectors.
        """

    @abstractmethod
    def beside(self, at: AtX, p: int, exact: ExactSum) -> Float32Array | None:
        """Return what is taken off each feature of G per unit of x, shape (n,); None: nothing."""

    @property
    def n_columns(self) -> int:
        """Number of features in which a slope is summed."""
        return len(self.scales if self.columns is None else self.columns)

    def at(self, batch: Batch, exact: ExactSum, distance: Float32Array | None) -> AtX:
        """Return what all decisions need.

        Parameters
        ----------
        batch : Batch
        exact : ExactSum
        distance : ndarray of shape (n,), float32, or None
            Of each x from the centre of an input tolerance, where it has one.
        """
        totals = np.empty((len(batch), exact.n_slots), dtype=np.float32)
        columns = exact.columns()
        rows = max(1, (1 << 18) // columns.shape[1])
        for start in range(0, len(batch), rows):
            part = slice(start, start + rows)
            totals[part] = exact.totals(batch.x[part], columns)
        factor = self.factors(totals, exact)
        own = self.numbers(batch, exact, distance)
        return AtX(batch.x, factor, batch.decision, batch.bound, *own)

    def bounds(self, at: AtX, p: int, exact: ExactSum, for_sign: bool) -> Found:
        """Return the interval of decision p over the box; infinite where it proves nothing.

        Parameters
        ----------
        at : AtX
        p : int
        exact : ExactSum
        for_sign : bool
            Whether only the sign counts: then blocks are left out, and there is no interval where
            it must stay open. Otherwise all blocks are in the slope.
        """
        coef, own = self._row(p, exact)
        weight = at.factor * coef
        shares, total = self._shares(weight, exact)
        f = at.decision[:, p]
        fixed = self.fixed(at, p, exact, sum_blocks(shares[:, :, None]), total)
        apart = magnitude(f) * OUTWARD
        room = magnitude(f) - (fixed * self.final + apart)
        has_room = (room > 0) | (not for_sign)
        threshold, skipped, tries = self._threshold(shares, room, has_room & for_sign)
        taken_first = own & ~(shares < threshold[:, None]) & has_room[:, None]
        slope = np.zeros_like(at.x)
        self._add(slope, weight, taken_first, exact)
        beside = self.beside(at, p, exact)
        first = self._first(slope, at.x, beside)
        again = has_room & (skipped > 0) & (first + skipped > room) & (first - skipped <= room)
        rest = own & (shares < threshold[:, None]) & again[:, None]
        self._add(slope, weight, rest, exact)
        first = np.where(again, self._first(slope, at.x, beside), first)
        skipped = np.where(again, np.float32(0.0), skipped)
        wide = (fixed + (first + skipped)) * self.final + apart
        n_added = taken_first.sum(axis=1) + rest.sum(axis=1)
        ends = self._first_operations * (has_room.astype(np.int64) + again)
        operations = self.bound_operations(exact) + 2 * exact.n_blocks * tries + ends
        operations = operations + n_added * exact.lanes * self.n_columns
        infinite = np.float32(np.inf)
        return Found(
            np.where(has_room, f - wide, -infinite),
            np.where(has_room, f + wide, infinite),
            operations,
        )

    def _row(self, p: int, exact: ExactSum) -> tuple[Float32Array, NDArray[np.bool_]]:
        """Return the coefficients of decision p, shape (n_slots,), and which blocks have some."""
        coef = np.zeros((exact.n_blocks, exact.lanes), dtype=np.float32)
        own = np.zeros(exact.n_blocks, dtype=bool)
        first = 0
        for end, decisions in zip(exact.group_ends, exact.group_decisions, strict=True):
            for row in np.flatnonzero(decisions == p)[:1]:
                coef[first:end] = exact.coefficients[first:end, row, :]
                own[first:end] = True
            first = end
        return coef.reshape(-1), own

    def _shares(self, weight: Float32Array, exact: ExactSum) -> tuple[Float32Array, Float32Array]:
        """Return the share of each block, the sum of its |w| rho, and the sum of all |w|."""
        size = magnitude(weight)
        product = size * self.reaches
        by_block = product.reshape(len(weight), exact.n_blocks, exact.lanes)
        shares = by_block[:, :, 0].copy()
        for lane in range(1, exact.lanes):
            shares += by_block[:, :, lane]
        return shares, sum_blocks(size[:, :, None])

    def _threshold(
        self, shares: Float32Array, room: Float32Array, has_room: NDArray[np.bool_]
    ) -> tuple[Float32Array, Float32Array, NDArray[np.int64]]:
        """Return the share below which blocks are left out, the sum of these, and the tries."""
        threshold = room * FIRST_THRESHOLD
        most = room * LEFT_OUT
        found, skipped = np.zeros_like(room), np.zeros_like(room)
        tries = np.zeros(len(room), dtype=np.int64)
        is_open = has_room.copy()
        for _ in range(LEVELS):
            kept = np.where(shares < threshold[:, None], shares, np.float32(0.0))
            left = sum_blocks(kept[:, :, None])
            tries += is_open
            fits = is_open & (left <= most)
            found, skipped = np.where(fits, threshold, found), np.where(fits, left, skipped)
            is_open &= ~fits
            threshold = threshold * _HALF
        return found, skipped, tries

    def _add(
        self, slope: Float32Array, weight: Float32Array, taken: NDArray[np.bool_], exact: ExactSum
    ) -> None:
        """Add w_j s_j of the vectors of taken blocks, shape (n, n_blocks), to the slopes."""
        chunk = max(1, _CHUNK_VALUES // slope.shape[1])
        for start in range(0, len(slope), chunk):
            part = slice(start, start + chunk)
            for block in np.flatnonzero(taken[part].any(axis=0)):
                rows = start + np.flatnonzero(taken[part, block])
                first = block * exact.lanes
                vectors = exact.vectors[block]
                added = weight[rows, first, None] * vectors[:, 0]
                for lane in range(1, exact.lanes):
                    added += weight[rows, first + lane, None] * vectors[:, lane]
                slope[rows] += added

    def _first(
        self, slope: Float32Array, x: Float32Array, beside: Float32Array | None
    ) -> Float32Array:
        """Return sum_i theta_i |G_i|."""
        total = np.zeros(len(x), dtype=np.float32)
        for feature, scale in enumerate(self.scales):
            of_feature = slope[:, feature]
            if beside is not None:
                of_feature = of_feature - beside * x[:, feature]
            total += scale * magnitude(of_feature)
        return total

    @property
    def _first_operations(self) -> int:
        return 3 * len(self.scales)

    def start_operations(self) -> int:
        """Return the multiply-adds of what all decisions need."""
        return len(self.scales) + 2

    def bound_operations(self, exact: ExactSum) -> int:
        """Return the multiply-adds of the weights and the ends of one decision's bounds."""
        return 3 * exact.n_slots + 30

    def worst_operations(self, exact: ExactSum) -> int:
        """Return the most multiply-adds of one decision's bounds, without those of blocks."""
        tests = 2 * exact.n_blocks * LEVELS + 2 * self._first_operations
        return self.bound_operations(exact) + tests


def own_blocks(p: int, exact: ExactSum) -> int:
    """Return the number of blocks with vectors of a decision."""
    lengths = np.diff(exact.group_ends.astype(np.int64), prepend=0)
    return int(lengths[(exact.group_decisions == p).any(axis=1)].sum())
