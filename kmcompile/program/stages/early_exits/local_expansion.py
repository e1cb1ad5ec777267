"""Local expansions of an rbf machine about the nearest of a few centres (safe weight-folding)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import Bound, Float32Array
from kmcompile.numeric.batch import UNKNOWN, Batch, in_order, put
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Layout
from kmcompile.program.stages.early_exits.local_bounds import (
    N_CONSTANTS,
    N_CURVED,
    curved_bound,
    form,
    linear_bound,
)
from kmcompile.program.stages.early_exits.local_sizes import LocalSizes
from kmcompile.program.stages.early_exits.nearest_centre import (
    LARGEST_RELATIVE,
    Local,
    narrowed_rows,
    nearest,
    turned,
)
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import proved
from kmcompile.program.stages.leaves.sum_of_leaves import SumOfLeaves
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.fixed_sum import FixedSum
from kmcompile.program.stages.sums.pair_sum import PairSum


@dataclass(frozen=True, slots=True, eq=False)
class LocalExpansion(LocalSizes):
    """Bounds on f by its expansion about a centre c that is near x, from a shallow tree of centres.

    With v = x - c, f - b = exp(-gamma |v|^2) h(v), and `Expansion` derives the orders of h and
    their bounds. At each level of the tree, the nearest child of the last level's centre is taken;
    the bounds hold for any child. There the stage tests

        h^ = C + <w, v> + m |v|^2,   |h - h^| <= E = r1 p + ... + r6 p^6 + d delta

    with m |v|^2 the middle of the second order's range and p >= |v|, if p <= R; beyond R the level
    proves nothing. On the last level, with `basis` B of a few rows and y = B v, it is

        h^ = C + <w, v> + <y, Q y> + m |v|^2,
        E = r1 p + r2 p^2 + <y, P y> + p^2 sqrt(a (<y, T y> + t p^2 + t' delta)) + r8 p^8 + d delta

    with a = 1 + a4 p^2 + a5 p^4 + a6 p^6 + a7 p^8, where the root bounds the orders 3 to 7. In a
    one-vs-one machine, a centre has the pairs of the class that is likeliest there: if this class
    wins all its pairs, no other class can win. The last test leaves out the pairs whose signs are
    proved, unless confidences break ties. b is the exact sum's if that is in float32.

    Rounding, u = 2^-24, n features, gamma_k of Higham. x^ is the prepared input, delta >= |x^ - x|
    its deviation, D = |x^ - c|; c is exact, D + delta >= |v|. The bounds
    include the rounding of the stored w, Q, P, T and m.

    - s = D^2 (1 + theta_(n+2)): two roundings of the difference, the product, n - 1 additions.
      p = root_bound(s) up + delta, up >= (1 - gamma_(n+2))^(-1/2), is at least D + delta. The
      underflow in s is below the 2^-100 that `root_bound` adds.
    - <w, v> rounds by gamma_(n+1) |w| D, and <w, x^ - x> <= |w| delta; the storage adds |dw| |v|.
    - |v|^2 is off s by at most gamma_(n+2) p^2 + 2 p delta, times m. h^ is two additions and
      a product: 2 u |h^| + 3 u m p^2 (curved: 3 u |h^| + 4 u (m p^2 + |<y, Q y>|)).
    - y is off by at most eta = |B|_F (gamma_(n+1) D + delta), a form with matrix Q by
      |Q|_F |B|_F^2 ((2 gamma_(n+1) + gamma_(2r+2)) (1 + 2^-10) p^2 + 2.1 p delta), r rows of B;
      sums with forms, which may be negative, by 12 u |Q|_F |B|_F^2 p^2 more.
    - a = exp(-gamma |v|^2) against a^ = exp_negative(gamma s): the arguments differ by at most
      y = gamma' gamma s + 2 gamma p delta, gamma' = gamma_(n+4) / (1 - gamma_(n+4)): the stored
      gamma and the last product round, too. Up to y = 2^-6: |a - a^| <= a^ tau' with
      tau' = ((1 + 2^-6) y + tau) / (1 - tau), tau the exponential's relative error.
    - f^ = b + a^ h^. |a h - a^ h^| <= a^ (E + q (E + |h^|)), q = tau' + (1 + tau') 3 u + u, and
      2 u |f^| for the last addition and the ends. Absolute errors are in `minimum`: storage of C
      and b, the expansion's `error`, underflow.

    Parameters
    ----------
    branches : ndarray of shape (n_levels,), uint16
        Number of children of a centre, for each level; the first number is the root's.
    centres : ndarray of shape (n_centres, n_features), float32
        Level after level, the children of one centre side by side.
    forms : ndarray of shape (n_leaves, n_rows, 3, n_basis (n_basis + 1) / 2), float32
        Q, P and T of the last level's centres: upper triangles, row by row, the elements beside the
        diagonal doubled.
    up, relative, relative_per_square, relative_per_reach, result_error : float32
        up; q = relative + relative_per_square s + relative_per_reach p delta.
    intercept : ndarray of shape (n_decisions,), float32
        b, before a sum of integers; otherwise of length 0.
    """

    branches: NDArray[np.uint16]
    centres: Annotated[
        Float32Array,
        Layout(
            "Centres c, in prepared features: [centre][feature]",
            ("centres", "N_PREPARED"),
            name="local_centres",
        ),
    ]
    radius: Annotated[
        Float32Array,
        Layout(
            "Radius of each centre, the largest |x - c| of use: [centre]",
            ("centres",),
            name="local_radius",
        ),
    ]
    decisions: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number p of the decision that a row bounds: [centre][row]",
            ("centres", "rows of a centre"),
            name="local_decisions",
            below=Below("N_DECISIONS"),
        ),
    ]
    weights: Annotated[
        Float32Array,
        Layout(
            "Slopes w of the decision, per prepared feature: [centre][row][feature]",
            ("centres", "rows of a centre", "N_PREPARED"),
            name="local_expansion_of",
        ),
    ]
    constants: Annotated[
        Float32Array,
        Layout(
            f"Constants C, m and those of the bounds of a row: [centre][row][{N_CONSTANTS}]",
            ("centres", "rows of a centre", N_CONSTANTS),
            name="expansion_constants",
        ),
    ]
    basis: Annotated[
        Float32Array,
        Layout(
            "Basis B of the curved test, without unit: [row][feature]",
            ("rows of B", "N_PREPARED"),
            name="local_basis",
            where="n_basis",
        ),
    ]
    forms: Annotated[
        Float32Array,
        Layout(
            "Triangles Q, P and T of the curved test: [last centre][row][3][i <= j]",
            "form_axes",
            name="local_forms",
            where="n_basis",
        ),
    ]
    curved: Annotated[
        Float32Array,
        Layout(
            f"Constant m and those of the bounds: [last centre][row][{N_CURVED}]",
            ("last centres", "rows of a last centre", N_CURVED),
            name="local_curved_constants",
            where="n_basis",
        ),
    ]
    up: Bound
    relative: Bound
    relative_per_square: Bound
    relative_per_reach: Bound
    result_error: Bound
    intercept: Annotated[
        Float32Array,
        Layout(
            "Intercepts b_p of the decisions: [decision]", ("N_DECISIONS",), where="intercept.size"
        ),
    ] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    template: ClassVar[str] = "local_expansion"
    exit: ClassVar[str | None] = "certified"
    holds_in_box: ClassVar[bool] = True

    @property
    def form_axes(self) -> tuple[str | int, ...]:
        """The axes of the curved test's triangles."""
        n = self.n_basis
        return ("last centres", "rows of a last centre", 3, n * (n + 1) // 2)

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with narrower intervals, and which queries they decide."""
        kernel = self._kernel(ends)
        places = np.arange(len(batch))
        decided = np.zeros(len(batch), dtype=bool)
        at = np.zeros(len(batch), dtype=np.intp)
        left: list[tuple[NDArray[np.intp], Batch]] = []
        first, width = 0, 1
        for branches in self.branches.astype(int):
            at, square = nearest(self.centres, batch.x, first + at * branches, int(branches))
            batch = replace(batch, operations=batch.operations + self._search(int(branches)))
            local = self._local(batch, at, square, kernel)
            batch = self._tested(batch, local, ends)
            decided[places] = batch.settled
            left.append((places[batch.settled], batch.chosen(batch.settled)))
            stays = ~batch.settled
            width *= int(branches)
            places, batch, at = places[stays], batch.chosen(stays), at[stays] - first
            first += width
        left.append((places, batch))
        return in_order(left), decided

    def _local(
        self,
        batch: Batch,
        node: NDArray[np.intp],
        square: Float32Array,
        kernel: Float32Kernel,
    ) -> Local:
        """Return the nearest centre of each query and the query's distance from it."""
        reach, relative = self.reach_of(square, batch.deviation)
        usable = (reach <= self.radius[node]) & (relative <= LARGEST_RELATIVE)
        return Local(node, square, reach, kernel.value(square), relative, usable)

    def _tested(self, batch: Batch, local: Local, ends: Ends) -> Batch:
        """Return the batch after the tests of one level."""
        operations = batch.operations + self._local_operations(ends)
        batch = replace(batch, operations=operations, settled=np.zeros(len(batch), dtype=bool))
        near = np.flatnonzero(local.usable)
        if not len(near):
            return batch
        inner, local = batch.chosen(near), local.chosen(near)
        inner, base = self._linear(inner, local, ends)
        is_leaf = local.node >= self.first_leaf
        if is_leaf.any():  # all rows of a centre count, or none
            rest = np.flatnonzero(~inner.settled)
            curved = self._curved(inner.chosen(rest), local.chosen(rest), base[rest], ends)
            inner = put(inner, rest, curved)
        return put(batch, near, inner)

    def _linear(self, batch: Batch, local: Local, ends: Ends) -> tuple[Batch, Float32Array]:
        v = batch.x - self.centres[local.node]
        rows = self.constants[local.node]
        weights, own = turned(self.weights, local.node)
        dot = np.zeros(rows.shape[:2], dtype=np.float32)
        for j in range(self.n_features):
            dot += weights[j][own] * v[:, j, None]
        base, h, error, minimum = linear_bound(rows, dot, local, batch.deviation)
        batch = self._narrowed(batch, local, h, error, minimum, ends)
        batch = replace(batch, operations=batch.operations + self.linear_operations(ends))
        return proved(batch, ends.label), base

    def _curved(self, batch: Batch, local: Local, base: Float32Array, ends: Ends) -> Batch:
        v = batch.x - self.centres[local.node]
        leaf = local.node - self.first_leaf
        rows = self.curved[leaf]
        forms, own = turned(self.forms, leaf)
        y = self._projected(leaf, v)
        values = tuple(form(forms[:, :, :, which], own, y) for which in range(3))
        h, error, minimum = curved_bound(rows, base, values, local, batch.deviation)
        tested = np.ones(h.shape, dtype=bool)
        if self.skips_proved(ends):
            decisions = self.decisions[local.node].astype(np.intp)
            least = np.take_along_axis(batch.least, decisions, axis=1)
            most = np.take_along_axis(batch.most, decisions, axis=1)
            tested = (least <= np.float32(0.0)) & (most >= np.float32(0.0))
        batch = self._narrowed(batch, local, h, error, minimum, ends, tested)
        saved = (self.n_rows - tested.sum(axis=1)) * self._bend_operations
        spent = (self.curved_operations(ends) - saved).astype(batch.operations.dtype)
        return proved(replace(batch, operations=batch.operations + spent), ends.label)

    def skips_proved(self, ends: Ends) -> bool:
        """Return whether the curved test leaves rows with proved signs out: votes are signs."""
        return ends.label.counts_signs

    def _projected(self, leaf: NDArray[np.intp], v: Float32Array) -> Float32Array:
        """Return y = B v, shape (n_queries, n_basis)."""
        y = np.zeros((len(v), self.n_basis), dtype=np.float32)
        for j in range(self.n_features):
            y += self.basis[:, j] * v[:, j, None]
        return y

    def _narrowed(
        self,
        batch: Batch,
        local: Local,
        h: Float32Array,
        error: Float32Array,
        minimum: Float32Array,
        ends: Ends,
        tested: NDArray[np.bool_] | None = None,
    ) -> Batch:
        """Return the batch with the bounds of the tested rows, by default of all."""
        decisions = self.decisions[local.node].astype(np.intp)
        b = self._intercepts(local.node, decisions, ends)
        least, most = self.bounds_of(b, h, error, minimum, local.scale, local.relative)
        if tested is not None:
            least, most = np.where(tested, least, -UNKNOWN), np.where(tested, most, UNKNOWN)
        return narrowed_rows(batch, decisions, least, most)

    def _kernel(self, ends: Ends) -> Float32Kernel:
        """Return the kernel of the sum behind the stage."""
        exact = ends.exact
        assert isinstance(exact, ExactSum | PairSum | FixedSum)
        return exact.kernel

    def _intercepts(
        self, node: NDArray[np.intp], decisions: NDArray[np.intp], ends: Ends
    ) -> Float32Array:
        """Return b of the decisions of each query's centre, shape (n_queries, n_rows)."""
        assert not isinstance(ends.exact, SumOfLeaves)
        intercept = self.intercept if len(self.intercept) else ends.exact.intercept
        of_rows: Float32Array = intercept[decisions]
        return of_rows

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum, which must have an rbf kernel."""
        if not isinstance(other, ExactSum | PairSum | FixedSum):
            return False
        if not other.kernel.is_gaussian:
            return False
        if self.decisions.max(initial=0) >= other.n_decisions:
            return False
        return len(self.intercept) > 0 or not isinstance(other, FixedSum)
