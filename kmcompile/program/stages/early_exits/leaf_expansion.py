"""Expansions of the leaves of a routed machine, each about a centre of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch, put
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.local_expansion import LocalExpansion
from kmcompile.program.stages.early_exits.nearest_centre import nearest
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.leaves.routed_sum import RoutedSum
from kmcompile.program.stages.stage import Stage

_HAND_OVER = 24
"""Multiply-adds that take as many instructions as beginning the intervals and keeping the walk."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafExpansion(LocalExpansion):
    """Bounds on the decisions of a query's leaf by their expansion about the leaf's centre.

    The stage walks to the leaf. If rounding leaves other leaves possible, or if the leaf has no
    expansion (its radius is below 0), it proves nothing. Otherwise it bounds the decisions

        f_p - b_leaf,p = exp(-gamma |v|^2) h_p(v),  v = x - c_leaf,

    by the two tests of `LocalExpansion`, whose derivation holds for one leaf as for one centre: a
    linear one, and a curved one along the leaf's own basis. The sum takes over the walk.

    Parameters
    ----------
    branches : ndarray of shape (1,), uint16
        The number of leaves.
    centres, radius, decisions, weights, constants, forms, curved : ndarray
        As in `LocalExpansion`, a centre for each leaf.
    basis : ndarray of shape (n_leaves, n_basis, n_features), float32
        The basis B of each leaf; of shape (1, 0, n_features) if there is no curved test.
    up, relative, relative_per_square, relative_per_reach, result_error : float32
    intercept : ndarray of shape (0,), float32
        Not used: the sum has the intercepts of its leaves.
    """

    centres: Annotated[
        Float32Array,
        Layout(
            "Centre c of each leaf, in prepared features: [leaf][feature]",
            ("centres", "N_PREPARED"),
            name="local_centres",
        ),
    ]
    radius: Annotated[
        Float32Array,
        Layout(
            "The largest |x - c| of use; below 0 none is: [leaf]",
            ("centres",),
            name="local_radius",
        ),
    ]
    basis: Annotated[
        Float32Array,
        Layout(
            "Basis B of a leaf's curved test, without unit: [leaf][row][feature]",
            ("centres", "rows of B", "N_PREPARED"),
            name="local_basis",
            where="n_basis",
        ),
    ]

    template: ClassVar[str] = "leaf_expansion"
    walks: ClassVar[bool] = True

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with narrower intervals, and which queries they decide."""
        exact = self._routed(ends)
        path = exact.route.walk(batch)
        spent = batch.operations + path.scores * exact.route.score_operations + _HAND_OVER
        batch = replace(
            batch,
            operations=spent,
            settled=np.zeros(len(batch), dtype=bool),
            walked=np.ones(len(batch), dtype=bool),
        )
        rows = np.flatnonzero((path.n_open == 0) & (self.radius[path.leaf] >= 0))
        if not len(rows):
            return batch, batch.settled
        inner, leaf = batch.chosen(rows), path.leaf[rows].astype(np.intp)
        leaf, square = nearest(self.centres, inner.x, leaf, 1)
        inner = replace(inner, operations=inner.operations + self._search(1))
        local = self._local(inner, leaf, square, self._kernel(ends))
        batch = put(batch, rows, self._tested(inner, local, ends))
        return batch, batch.settled

    def _routed(self, ends: Ends) -> RoutedSum:
        assert isinstance(ends.exact, RoutedSum)
        return ends.exact

    def _kernel(self, ends: Ends) -> Float32Kernel:
        return self._routed(ends).kernel

    def _projected(self, leaf: NDArray[np.intp], v: Float32Array) -> Float32Array:
        y = np.zeros((len(v), self.n_basis), dtype=np.float32)
        for j in range(self.n_features):
            y += self.basis[leaf, :, j] * v[:, j, None]
        return y

    def _intercepts(
        self, node: NDArray[np.intp], decisions: NDArray[np.intp], ends: Ends
    ) -> Float32Array:
        return np.take_along_axis(self._routed(ends).intercepts[node], decisions, axis=1)

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum: one of rbf leaves of one gamma."""
        if not isinstance(other, RoutedSum) or not other.kernel.is_gaussian:
            return False
        plain = other.products is None and other.linear is None and not other.has_widths
        return plain and int(self.decisions.max(initial=0)) < other.n_decisions

    def operations(self) -> int:
        """Return the multiply-adds of distances and forms."""
        linear = (self.n_rows + 1) * self.n_features
        return self._search(1) + linear + self.n_basis * self.n_features

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of the longest walk and of both tests, labels included."""
        tests = self._local_operations(ends) + self.linear_operations(ends)
        tests += self.curved_operations(ends) if self.n_basis else 0
        return self.saved_operations(ends) + _HAND_OVER + self._search(1) + tests

    def saved_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of the longest walk, which the sum takes over."""
        route = self._routed(ends).route
        return route.most_scores * route.score_operations

    def shared(self) -> Shared:
        """Return the features and the leaves."""
        return (("N_LEAVES", len(self.centres)), *Laid.shared(self))
