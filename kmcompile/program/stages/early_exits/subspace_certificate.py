"""Subspace certificate: kernels in a projection with a proved error, then exact kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.remainder import PolyRemainder
from kmcompile.numeric.arrays import Bound, Count, Float32Array, magnitude
from kmcompile.numeric.batch import Batch, in_order, joined
from kmcompile.numeric.scalar.root_bound import root_bound as bound_of_root
from kmcompile.numeric.table import Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.approximate_kernels import chunks
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.early_exits.subspace_sizes import SubspaceSizes
from kmcompile.program.stages.early_exits.subspace_state import SubspaceState
from kmcompile.program.stages.early_exits.tug_of_war import by_score
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import narrowed, proved
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.order_of_sums import sum_blocks

LARGEST = np.float32(2.0**100)
"""Largest sum of weights; a larger one would overflow later, and would prove nothing."""

_TOGETHER = 8  # kernels of a query that the interpreter computes at once


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceCertificate(SubspaceSizes):
    """Bounds on f from kernels in a subspace, narrowed by exact kernels with the largest weights.

    A slot is a vector's place in the exact sum's blocks, padding included. V^ are the stored
    rows, z^ = fl(V^ x^) their products with the prepared input x^, s^_i the stored projected
    vectors, t^_i = fl(<s^_i, z^>), and K~_i the kernel there with its share
    w_i = fl(g_i (a y_i^(d-1) + b y_i^m + c)) (`PolyRemainder`). With A the slots that have not been
    touched and W = sum_A w_i,

        f = b + sum_touched beta_i K_i + sum_A beta_i K~_i + remainder,
        |remainder| <= U^d sqrt(T W) .

    The slot with the largest w_i is touched next, of equal weights the first. After each touched
    slot the interval is narrowed and tested. The exact sum reuses the totals of touched slots.

    rho: |x'|^2 = |x^|^2 - |P x^|^2, P onto the rows of V^, and |P x^| >= |V^ x^| / |V^|_2. With
    L >= |x^|, zeta = gamma_n |V^|_F (Higham, eq. 3.5) and v = |V^|_2 + zeta: |V^ x^|^2 >=
    |z^|^2 - 2 zeta v L^2, and the computed sum of z^_j^2 is within gamma_p |z^|^2. So
    |x'|^2 <= (L^2 - sum z^_j^2) + slack L^2 with slack = 2 zeta v + (gamma_(p + 2) +
    max(0, 1 - |V^|_2^-2)) v^2 1.01 + 8 u.

    Rounding of the sums. A term beta_i K~_i passes at most N roundings: d + 2 in K~_i, one in the
    coefficient, product, lanes, blocks and groups. Together at most gamma_N sum |beta_i K~_i|
    <= gamma_N U^d largest sum |beta_i| |u^_i|^(d - 1), and by Cauchy-Schwarz that sum is at most
    |delta|_2 sqrt(sum g_i y_i^(d - 1)) <= |delta|_2 sqrt(W_0 / a), with W_0 the sum W before any
    slot is touched. `rounding` has gamma_N with N twice, as a touched K~_i is taken off again with
    its error. A touched slot adds fl(beta_i fl(K^_i - K~_i)) to the running sum: at most
    2 u |term| + u |running sum|; `moved` is the sum of |term| + |running sum|. Its kernel's error
    is the exact sum's.

    The rounding of W is at most `lost` W_0: gamma of its additions, and u W_0 for each subtraction.
    `minimum` covers underflow: for each w_i a small multiple of (T + 1) 2^-126.

        radius = remainder_factor sqrt(T ((max(0, W) + lost W_0) + share_minimum (T + 1)))
                 + rounding largest sqrt(W_0 / a) + error_factor sum |beta_i| error_i
                 + moved_factor moved + result_error |f| + minimum

    Parameters
    ----------
    weights : ndarray of shape (n_slots,), float32
        The factors g, at most 1; 0 for a padding slot.
    moved_factor, result_error, minimum : float32
        Constants of the radius above; `error_factor` is 1 plus the rounding of the sum it
        multiplies.
    """

    remainder: Annotated[
        PolyRemainder,
        Layout(
            "Factors of the orders of the remainder: [order][column]",
            name="orders",
            of="remainder.orders",
        ),
    ]
    products: Annotated[
        InnerProducts,
        Layout(
            "Rows of the subspace V, without unit: [block][feature][lane]",
            name="projection",
            of="products.blocks",
        ),
    ]
    vectors: Annotated[
        Float32Array,
        Layout(
            "Projected support vectors V s_i: [block][dimension][lane]",
            ("N_BLOCKS", "dimensions of the subspace", "LANES"),
            name="projected",
        ),
    ]
    weights: Annotated[
        Float32Array,
        Layout("Weights (beta_i / delta_i)^2, 0 where it is never touched: [slot]", ("N_SLOTS",)),
    ]
    max_touched: Count
    slack: Bound
    remainder_factor: Bound
    lost: Bound
    share_minimum: Bound
    rounding: Bound
    error_factor: Bound
    moved_factor: Bound
    result_error: Bound
    minimum: Bound

    template: ClassVar[str] = "subspace_certificate"
    exit: ClassVar[str | None] = "certified"
    prefix: ClassVar[str] = "subspace"
    order_in_c: ClassVar[tuple[str, ...]] = ("products", "vectors", "weights")
    needs_root_bound: ClassVar[bool] = True
    sums_approximations: ClassVar[bool] = True

    def __str__(self) -> str:
        """Return a short description for people."""
        return f"subspace_certificate({self.n_out} dimensions, {self.max_touched} kernels)"

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with narrower intervals, and which queries they decide."""
        with np.errstate(over="ignore", invalid="ignore"):  # a NaN proves nothing, as in the C
            parts = chunks(len(batch), self.n_slots)
            whole = joined(*(self._decide(batch.chosen(part), ends) for part in parts))
        return whole, whole.settled

    def _decide(self, batch: Batch, ends: Ends) -> Batch:
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        z = self.products.of(batch.x)
        total, a, b, c = self.remainder.shares(
            self.outside(z, batch.length), batch.length, batch.deviation
        )
        value, share = self.remainder.values(self.totals(z, exact), a, b, c)
        weight = self.weights * share
        whole = sum_blocks(weight.reshape(len(batch), self.n_blocks, self.lanes))
        state = SubspaceState(
            running=(exact.sum_values(value) + exact.intercept)[:, 0],
            share=total,
            open=whole,
            whole=whole,
            fixed=self.fixed(whole, a, batch.length),
            error=np.zeros_like(whole),
            moved=np.zeros_like(whole),
        )
        batch = replace(
            batch,
            settled=np.zeros(len(batch), dtype=bool),
            known=np.zeros(len(batch), dtype=np.uint32),
            spared=np.zeros(len(batch), dtype=np.uint32),
            operations=batch.operations + self.level_operations(batch, ends),
        )
        usable = whole <= LARGEST
        left = [(np.flatnonzero(~usable), batch.chosen(~usable))]
        state = state.chosen(usable)
        batch = self._test(batch.chosen(usable), state, ends)
        seen = (value[usable], weight[usable])
        left += self._touch(np.flatnonzero(usable), batch, state, seen, ends)
        return in_order(left)

    def outside(self, z: Float32Array, length: Float32Array) -> Float32Array:
        """Return rho, a bound on the norm of the input's part outside the subspace."""
        inside = np.zeros(len(z), dtype=np.float32)
        for column in z.T:
            inside += column * column
        square = length * length
        rest: Float32Array = (square - inside) + self.slack * square
        return bound_of_root(np.maximum(rest, np.float32(0.0)))

    def totals(self, z: Float32Array, exact: ExactSum) -> Float32Array:
        """Return the kernels' totals in the subspace, shape (n_queries, n_slots)."""
        columns = np.ascontiguousarray(self.vectors.transpose(1, 0, 2).reshape(self.n_out, -1))
        total = np.zeros((len(z), self.n_slots), dtype=np.float32)
        for column, s in zip(z.T, columns, strict=True):
            exact.kernel.accumulate(total, column[:, None], s)
        return total

    def radius(self, state: SubspaceState) -> Float32Array:
        """Return the radius, a bound on |f - running decision|, shape (n_queries,)."""
        left = np.maximum(state.open, np.float32(0.0)) + self.lost * state.whole
        padded = left + self.share_minimum * (state.share + np.float32(1.0))
        radius: Float32Array = (
            self.remainder_factor * bound_of_root(state.share * padded) + state.fixed
        )
        radius = (radius + self.error_factor * state.error) + self.moved_factor * state.moved
        radius = radius + magnitude(state.running) * self.result_error
        return radius

    def fixed(self, whole: Float32Array, top: Float32Array, length: Float32Array) -> Float32Array:
        """Return the constant part of the radius: rounding of the first sum, and underflow.

        Parameters
        ----------
        whole, top, length : ndarray of shape (n_queries,), float32
            W_0, a and L.
        """
        ratio: Float32Array = whole / top
        largest = self.remainder.largest(length)
        return (self.rounding * largest) * bound_of_root(ratio) + self.minimum

    def _test(self, batch: Batch, state: SubspaceState, ends: Ends) -> Batch:
        """Return the batch with the interval that the state proves, and its label."""
        radius = self.radius(state)
        low, high = state.running - radius, state.running + radius
        return proved(narrowed(batch, low[:, None], high[:, None]), ends.label)

    def _touch(
        self,
        places: NDArray[np.intp],
        batch: Batch,
        state: SubspaceState,
        seen: tuple[Float32Array, Float32Array],
        ends: Ends,
    ) -> Iterator[tuple[NDArray[np.intp], Batch]]:
        """Yield the queries that leave before the next vector is touched: indices and state.

        Parameters
        ----------
        seen : two ndarray of shape (n_queries, n_slots), float32
            The kernels in the subspace and their weights.
        """
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        order = by_score(seen[1], np.flatnonzero(self.weights > 0), self.max_touched)
        approximate, weight = (np.take_along_axis(part, order, axis=1) for part in seen)
        coefficients = exact.slot_coefficients(0)[order]
        columns = exact.columns()
        rows = np.arange(len(batch))
        heap = np.where(batch.settled, 0, 2 * self.n_slots * self.touches)
        batch = replace(batch, operations=batch.operations + heap)
        value = error = np.zeros((len(batch), 0), dtype=np.float32)
        for n in range(order.shape[1] + 1):
            affordable = batch.allowed - batch.kernel_evals >= 1
            stays = affordable & ~batch.settled & (n < order.shape[1])
            spared = exact.spared(order[rows[~stays], :n])
            yield places[~stays], replace(batch.chosen(~stays), spared=spared)
            if not stays.any():
                return
            places, batch, state, rows = (
                places[stays],
                batch.chosen(stays),
                state.chosen(stays),
                rows[stays],
            )
            value, error = value[stays], error[stays]
            now = n % _TOGETHER
            if now == 0:
                totals = exact.totals(batch.x, columns, order[rows, n : n + _TOGETHER])
                value, error = exact.kernel.finish(totals, exact.kernel.query_terms(batch))
            state = state.touched(
                coefficients[rows, n],
                value[:, now] - approximate[rows, n],
                weight[rows, n],
                error[:, now],
            )
            spent = self.touch_operations(ends) - exact.skipped_features(batch.x)
            batch = replace(
                batch,
                kernel_evals=batch.kernel_evals + np.uint32(1),
                known=batch.known + np.uint32(1),
                operations=batch.operations + spent,
            )
            batch = self._test(batch, state, ends)

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum: float32 vectors, polynomial kernel."""
        if not isinstance(other, ExactSum) or not other.has_single_kernels:
            return False
        return isinstance(other.kernel, PolyFloat32)

    def needs(self) -> frozenset[str]:
        """Return the results that its projection needs."""
        return self.products.needs()

    def shared(self) -> Shared:
        """Return the numbers of features, decisions and slots of the exact sum."""
        own = (("dimensions of the subspace", self.n_out), ("N_DECISIONS", 1), ("N_ROWS", 1))
        return (*own, *Laid.shared(self))

    def tables(self) -> tuple[Table, ...]:
        """Return projection, projected vectors, weights and orders."""
        text, columns = "Numbers of the features that V looks at: [column]", self.products.columns
        own = (Table("subspace_columns", columns, text),) if len(columns) else ()
        return (*own, *Laid.tables(self))
