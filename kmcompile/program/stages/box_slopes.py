"""Bounds on rbf decisions over a box of inputs, by the slope of the sum at its middle."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, frozen, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages.exact_sum import ExactSum

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
    kernel : ndarray of shape (n, n_slots), float32
        K(s_j, x) as the sum has it.
    decision, bound : ndarray of shape (n, n_decisions), float32
    extent : ndarray of shape (n,), float32
        tau = sum_i theta_i |x_i|.
    moved : ndarray of shape (n,), float32
        |theta| delta, what the deviation of x adds to tau.
    """

    x: Float32Array
    kernel: Float32Array
    decision: Float32Array
    bound: Float32Array
    extent: Float32Array
    moved: Float32Array

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
class BoxSlopes:
    """Bounds on f(x + d) for all |d_i| <= t_i, of a sum of rbf kernels.

    With theta = 2 gamma t and w_j = beta_j K(s_j, x), so that sum_j w_j = f(x) - b,

        f(x + d) = f(x) + 2 gamma <d, G> + R,   G = sum_j w_j s_j - (f(x) - b) x.

    - |2 gamma <d, G>| <= sum_i theta_i |G_i|: the largest change of first order in the box, which a
      corner of it has.
    - R is the product of W with phi(x + d) - phi(x) - phi'(x) d in feature space. With u = gamma
      |d|^2, the squares of these three are 1, 1 and 2 u; the first and the second have the product
      exp(-u), the first and the third 2 u exp(-u), the second and the third 0. So the square of
      the vector is 2 + 2 u - 2 exp(-u) - 4 u exp(-u), which increases with u and is at most
      3 u^2: |R| <= |W| sqrt(3) gamma |t|^2, `bends`. It needs no sum over the vectors, whose second
      derivatives cancel each other where |W| is small beside sum_j |w_j|.

    A block of vectors adds at most the sum of its |w_j| rho_j to the first-order term, rho_j =
    sum_i theta_i |s_ji|. Blocks that add little are left out of G at first and stand with that sum,
    as many as fill most of the room |f| - (all other terms). Only if the sign is open then, and
    might be proved, the others follow: two rounds at most.

    Rounding. f^ and K^ are the sum's, with |f^ - f| <= B, which bounds sum_j |w_j - w^_j|, too:
    w^_j = beta^_j K^_j of the stored coefficient; so w_j s_j takes B times the largest rho. A
    stored s_j is off by at most e: |theta| e sum_j |w_j|. In (f - b) x, f is off by B, the stored b
    by 2^-24 |b|, x by the deviation delta: B tau + 2^-22 |b| tau + (|f^ - b^| + B) |theta| delta,
    tau = sum_i theta_i |x_i|. The products and additions of G_i round by at most gamma_N (sum_j
    |w_j| |s_ji| + |f - b| |x_i|), N = blocks + lanes + 8: gamma_N (sum_j |w_j| rho_j + |f - b|
    tau) in all. `final` covers the sums of positive terms themselves, 2^-22 |f| the last
    subtraction, `least` underflow.

    Parameters
    ----------
    scales : ndarray of shape (n_features,), float32
        theta.
    columns : ndarray of shape (n_columns,), uint16, or None
        The features that are not 0 in every vector; None: all are read.
    reaches : ndarray of shape (n_slots,), float32
        rho, of the trained and of the stored vector.
    bends : ndarray of shape (n_decisions,), float32
        |W_p| sqrt(3) gamma |t|^2.
    per_bound : float32
        The largest rho.
    per_weight : float32
        |theta| e.
    per_deviation : float32
        |theta|.
    rounding : float32
        gamma_N.
    final, least : float32
    """

    scales: Float32Array
    columns: NDArray[np.uint16] | None
    reaches: Float32Array
    bends: Float32Array
    per_bound: np.float32
    per_weight: np.float32
    per_deviation: np.float32
    rounding: np.float32
    final: np.float32
    least: np.float32

    def __post_init__(self) -> None:
        for name in ("scales", "reaches", "bends"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        if self.columns is not None:
            object.__setattr__(self, "columns", frozen(self.columns, np.uint16))

    @property
    def n_columns(self) -> int:
        """Number of features in which a slope is summed."""
        return len(self.scales if self.columns is None else self.columns)

    def at(self, batch: Batch, exact: ExactSum) -> AtX:
        """Return what all decisions need. `batch.received` is the deviation of x alone."""
        extent = np.zeros(len(batch), dtype=np.float32)
        for feature, scale in zip(batch.x.T, self.scales, strict=True):
            extent += scale * magnitude(feature)
        moved = self.per_deviation * batch.received
        totals = np.empty((len(batch), exact.n_slots), dtype=np.float32)
        columns = exact.columns()
        rows = max(1, (1 << 18) // columns.shape[1])
        for start in range(0, len(batch), rows):
            part = slice(start, start + rows)
            totals[part] = exact.totals(batch.x[part], columns)
        kernel = exact.kernel.value(totals)
        return AtX(batch.x, kernel, batch.decision, batch.bound, extent, moved)

    def bounds(self, at: AtX, p: int, exact: ExactSum) -> Found:
        """Return the interval of decision p over the box; infinite where it proves nothing."""
        coef, own = self._row(p, exact)
        weight = at.kernel * coef
        shares, total = self._shares(weight, exact)
        f, bound = at.decision[:, p], at.bound[:, p]
        b = exact.intercept[p]
        whole = f - b
        of_weights = bound * self.per_bound + total * self.per_weight
        of_sums = (_in_order(shares) + magnitude(whole) * at.extent) * self.rounding
        of_x = (magnitude(whole) + bound) * at.moved
        of_f = (bound + magnitude(b) * OUTWARD) * at.extent + self.least
        fixed = (bound + self.bends[p]) + ((of_weights + of_sums) + (of_x + of_f))
        apart = magnitude(f) * OUTWARD
        room = magnitude(f) - (fixed * self.final + apart)
        has_room = room > 0
        threshold, skipped, tries = self._threshold(shares, room, has_room)
        taken_first = own & ~(shares < threshold[:, None]) & has_room[:, None]
        slope = np.zeros_like(at.x)
        self._add(slope, weight, taken_first, exact)
        first = self._first(slope, at.x, whole)
        again = has_room & (skipped > 0) & (first + skipped > room) & (first - skipped <= room)
        rest = own & (shares < threshold[:, None]) & again[:, None]
        self._add(slope, weight, rest, exact)
        first = np.where(again, self._first(slope, at.x, whole), first)
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
        return shares, _in_order(size)

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
            left = _in_order(np.where(shares < threshold[:, None], shares, np.float32(0.0)))
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

    def _first(self, slope: Float32Array, x: Float32Array, whole: Float32Array) -> Float32Array:
        """Return sum_i theta_i |G_i|; `whole` is f - b."""
        total = np.zeros(len(x), dtype=np.float32)
        for feature, scale in enumerate(self.scales):
            total += scale * magnitude(slope[:, feature] - whole * x[:, feature])
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

    def shared(self) -> Shared:
        """Return the numbers of features and slots."""
        return (
            *sizes(self.scales, "N_PREPARED"),
            *sizes(self.reaches, "N_SLOTS"),
            *sizes(self.bends, "N_DECISIONS"),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the constant tables, in the order of the C."""
        columns: tuple[Table, ...] = ()
        if self.columns is not None:
            meaning = "Features that are not 0 in every support vector, of a slope: [column]"
            columns = (Table("box_columns", self.columns, meaning),)
        return (
            Table(
                "box_scales",
                self.scales,
                "Tolerances of the prepared features, times 2 gamma: [feature]",
            ),
            *columns,
            Table(
                "box_reaches",
                self.reaches,
                "Most that 2 gamma <d, s_i> is for a d within them: [block][lane]",
            ),
            Table(
                "box_bends",
                self.bends,
                "How far a decision is from linear anywhere in the box: [decision]",
            ),
        )


def own_blocks(p: int, exact: ExactSum) -> int:
    """Return the number of blocks with vectors of a decision."""
    lengths = np.diff(exact.group_ends.astype(np.int64), prepend=0)
    return int(lengths[(exact.group_decisions == p).any(axis=1)].sum())


def _in_order(values: Float32Array) -> Float32Array:
    """Return the sums of rows, added strictly from first to last."""
    start = np.zeros((len(values), 1), dtype=values.dtype)
    running: Float32Array = np.add.accumulate(np.concatenate([start, values], axis=1), axis=1)
    return running[:, -1]
