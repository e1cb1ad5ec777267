"""Taylor polynomials of an rbf machine about the nearest of some centres, of degree 2 to 6."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import Bound, Float32Array, Positive
from kmcompile.numeric.batch import Batch, put
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.nearest_centre import (
    LARGEST_RELATIVE,
    CentredExit,
    narrowed_rows,
    nearest,
)
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS, proved
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.nested_loops import NestedLoop, nested_loops
from kmcompile.program.stages.sums.pair_sum import PairSum

N_HIGHER = 3
"""Powers of the reach above the degree in the bound: the last stands for all orders from it on."""


@dataclass(frozen=True, slots=True, eq=False)
class TaylorPolynomial(CentredExit):
    """Bounds on f by its Taylor polynomial about a centre c near x, in all features.

    With v = x - c, f - b = exp(-gamma |v|^2) h(v), and `Expansion` derives the orders of h and
    their bounds. A tree of centres leads to one of the last level, which has the orders of h up to
    K as a polynomial in v, for some decisions:

        h^ = C + sum_k sum_t c_t v^t,   |h - h^| <= E = sum_(k = 1)^(K + 3) r_k p^k + d delta

    with p >= |v|, if p <= R; beyond R nothing is proved. Nested sums over the features compute h^
    (Horner's scheme, as in `PolynomialSum`). Any centre of the last level gives bounds that hold.

    Rounding, u = 2^-24, n features. x^ is the prepared input, delta >= |x^ - x| its deviation,
    D = |x^ - c|; c is exact. p, exp(-gamma |v|^2) and the product with h^ round as
    `LocalExpansion` derives. Let C_k be the norm of the stored coefficients of degree k, as a
    symmetric tensor, and e_k that of their errors: sum_t |c_t v^t| <= C_k |v|^k.

    - The computed v^ is off by at most u D + delta, and |v^| <= (1 + u) p. Hence order k is off by
      at most k (C_k + e_k) (u p + delta) ((1 + u) p)^(k - 1).
    - A coefficient of degree k takes part in k products and at most n + k additions, and C + ..
      is one more: gamma_(n + 2k + 1) C_k |v^|^k. Their storage adds e_k |v|^k.
    - So r_k, k <= K, has these three; above K it has the bounds of the orders that are left out. d
      is sum_k k (C_k + e_k) ((1 + u) R)^(k - 1). `minimum` has what no input changes: storage of C
      and b, rounding in float64, kernels that are left out, underflow.

    Parameters
    ----------
    degree : int
        K, from 2 to 6.
    branches : ndarray of shape (n_levels,), uint16
        Number of children of a centre, for each level; the first number is the root's.
    centres : ndarray of shape (n_centres, n_features), float32
        Level after level, the children of one centre side by side.
    bounds : ndarray of shape (n_leaves, n_rows, degree + 5), float32
        r_1 .. r_(K + 3), d, minimum.
    up, relative, relative_per_square, relative_per_reach, result_error : float32
        As in `LocalExpansion`.
    """

    degree: Positive
    branches: NDArray[np.uint16]
    centres: Annotated[
        Float32Array,
        Layout(
            "Centres c of polynomials, in prepared features: [centre][feature]",
            ("centres of polynomials", "N_PREPARED"),
        ),
    ]
    radius: Annotated[
        Float32Array, Layout("The largest |x - c| of use: [last centre]", ("polynomials' leaves",))
    ]
    decisions: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number p of the decision that a row bounds: [last centre][row]",
            ("polynomials' leaves", "polynomials of a leaf"),
            below=Below("N_DECISIONS"),
        ),
    ]
    terms: Annotated[
        Float32Array,
        Layout(
            "Constant, then coefficients in the order of nested sums: [last centre][row][term]",
            ("polynomials' leaves", "polynomials of a leaf", "their terms"),
        ),
    ]
    bounds: Annotated[
        Float32Array,
        Layout(
            "Constants r_{self.n_powers} .. r_1, d and the least bound: "
            "[last centre][row][constant]",
            "bounds_axes",
            of="falling_bounds",
        ),
    ]
    up: Bound
    relative: Bound
    relative_per_square: Bound
    relative_per_reach: Bound
    result_error: Bound

    template: ClassVar[str] = "taylor_polynomial"
    exit: ClassVar[str | None] = "certified"
    prefix: ClassVar[str] = "taylor"
    largest_relative: ClassVar[np.float32] = LARGEST_RELATIVE
    """Largest relative error of the exponential with which the bounds hold."""

    @property
    def n_terms(self) -> int:
        """Coefficients of a polynomial without its constant."""
        return int(self.terms.shape[2]) - 1

    @property
    def first_leaf(self) -> int:
        """The first centre of the last level."""
        return len(self.centres) - len(self.radius)

    @property
    def levels(self) -> tuple[tuple[int, int, int], ...]:
        """Of each level: its first centre, the first one of the level above, children of one."""
        found, above, first, width = [], 0, 0, 1
        for n in self.branches.tolist():
            found.append((first, above, n))
            width *= n
            above, first = first, first + width
        return tuple(found)

    @property
    def loops(self) -> NestedLoop:
        """The loops of the C over the features."""
        return nested_loops(self.n_features, self.degree)

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with narrower intervals, and which queries they decide."""
        node = np.zeros(len(batch), dtype=np.intp)
        for first, above, n in self.levels:
            node, square = nearest(self.centres, batch.x, first + (node - above) * n, n)
        spent = batch.operations + self._search_operations(ends)
        batch = replace(batch, operations=spent, settled=np.zeros(len(batch), dtype=bool))
        leaf = node - self.first_leaf
        reach, relative = self.reach_of(square, batch.deviation)
        rows = np.flatnonzero((reach <= self.radius[leaf]) & (relative <= LARGEST_RELATIVE))
        if len(rows):
            scale = self._kernel(ends).value(square[rows])
            inner = self._tested(
                batch.chosen(rows), leaf[rows], reach[rows], scale, relative[rows], ends
            )
            batch = put(batch, rows, inner)
        return batch, batch.settled

    def _tested(
        self,
        batch: Batch,
        leaf: NDArray[np.intp],
        reach: Float32Array,
        scale: Float32Array,
        relative: Float32Array,
        ends: Ends,
    ) -> Batch:
        v = batch.x - self.centres[leaf + self.first_leaf]
        terms, bounds = self.terms[leaf], self.bounds[leaf]
        total = np.zeros(terms.shape[:2], dtype=np.float32)
        self._add(total, v, iter(range(1, 1 + self.n_terms)), terms, self.n_features, 1)
        h = terms[:, :, 0] + total
        error = bounds[:, :, self.degree + N_HIGHER - 1]
        p = reach[:, None]
        for k in range(self.degree + N_HIGHER - 2, -1, -1):
            error = error * p + bounds[:, :, k]
        error = error * p + bounds[:, :, -2] * batch.deviation[:, None]
        decisions = self.decisions[leaf].astype(np.intp)
        assert isinstance(ends.exact, ExactSum | PairSum)
        b = ends.exact.intercept[decisions]
        bounds_of_f = self.bounds_of(b, h, error, bounds[:, :, -1], scale, relative)
        batch = narrowed_rows(batch, decisions, *bounds_of_f)
        spent = batch.operations + self._test_operations(ends)
        return proved(replace(batch, operations=spent), ends.label)

    def _add(
        self,
        total: Float32Array,
        v: Float32Array,
        places: Iterator[int],
        terms: Float32Array,
        end: int,
        depth: int,
    ) -> None:
        """Add the products of the features before `end` with the sums below them, in place."""
        for feature in range(end):
            own = terms[:, :, next(places)]
            if depth < self.degree:
                own = own.copy()
                self._add(own, v, places, terms, feature + 1, depth + 1)
            total += v[:, feature, None] * own

    def _kernel(self, ends: Ends) -> Float32Kernel:
        assert isinstance(ends.exact, ExactSum | PairSum)
        return ends.exact.kernel

    def _search_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of the search for a centre, of p and of the exponential."""
        return self._search(int(self.branches.sum())) + self._local_operations(ends)

    def _test_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of the polynomials with their bounds, and of the label."""
        per_row = self.n_terms + self.degree + N_HIGHER + 14 + NARROW_OPERATIONS
        return self.n_features + self.n_rows * per_row + ends.label.operations()

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum, which must have an rbf kernel."""
        if not isinstance(other, ExactSum | PairSum) or not other.kernel.is_gaussian:
            return False
        return int(self.decisions.max(initial=0)) < other.n_decisions

    def operations(self) -> int:
        """Return the multiply-adds of distances and polynomials."""
        return self._search(int(self.branches.sum())) + self.n_rows * self.n_terms

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that is not decided, label included."""
        return self._search_operations(ends) + self._test_operations(ends)

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        return (
            Constant("TAYLOR_ROWS", self.n_rows, "decisions of a centre with polynomials"),
            Constant("TAYLOR_TERMS", self.n_terms + 1, "coefficients of a polynomial"),
            Constant("TAYLOR_BOUNDS", self.bounds.shape[2], "constants of its bound"),
            Constant("TAYLOR_POWERS", self.degree + N_HIGHER, "of these with a power"),
        )

    def members(self) -> tuple[Member, ...]:
        """Return x - c."""
        return (Member("float", "taylor_offset", self.n_features, "x - c of the polynomials"),)

    @property
    def bounds_axes(self) -> tuple[str | int, ...]:
        """The axes of the constants of the bounds."""
        return ("polynomials' leaves", "polynomials of a leaf", self.n_powers + 2)

    @property
    def n_powers(self) -> int:
        """Powers of the bound, each of which has a constant r."""
        return self.degree + N_HIGHER

    @property
    def falling_bounds(self) -> Float32Array:
        """The constants of the bounds as the C has them: the highest power first."""
        powers = self.bounds[:, :, self.n_powers - 1 :: -1]
        return np.concatenate([powers, self.bounds[:, :, self.n_powers :]], axis=2)

    def shared(self) -> Shared:
        """Return the features and the sizes of the tables."""
        terms = 1 + sum(loop.turns for loop in _chain(self.loops))
        return (("their terms", terms), *Laid.shared(self))


def _chain(loop: NestedLoop | None) -> Iterator[NestedLoop]:
    """Yield a loop and those inside."""
    while loop is not None:
        yield loop
        loop = loop.inner
