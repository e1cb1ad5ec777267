"""Sizes and cost of local expansions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar import root_bound
from kmcompile.program.layout import Constant, Member
from kmcompile.program.stages.early_exits.local_bounds import N_CONSTANTS, N_CURVED
from kmcompile.program.stages.early_exits.nearest_centre import CentredExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS


class LocalSizes(CentredExit):
    """How large `LocalExpansion` is, and what a query takes; the fields are described there."""

    __slots__ = ()

    branches: NDArray[np.uint16]
    basis: Float32Array
    forms: Float32Array
    curved: Float32Array

    @property
    def n_centres(self) -> int:
        """Centres of all levels."""
        return int(self.centres.shape[0])

    @property
    def n_basis(self) -> int:
        """Rows of the basis."""
        return int(self.basis.shape[-2])

    @property
    def n_levels(self) -> int:
        """Levels of the tree."""
        return len(self.branches)

    @property
    def first_leaf(self) -> int:
        """The first centre of the last level."""
        return self.n_centres - len(self.curved)

    def linear_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of the linear forms at a centre, with the label."""
        per_row = self.n_features + 16 + NARROW_OPERATIONS
        return self.n_features + self.n_rows * per_row + ends.label.operations()

    def curved_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of y and the forms at a centre, with the label."""
        rows = self.n_rows * self._bend_operations
        return self.n_basis * self.n_features + rows + ends.label.operations()

    @property
    def _bend_operations(self) -> int:
        """Multiply-adds of the forms of one row."""
        form = self.n_basis * (self.n_basis + 1) // 2 + self.n_basis
        return 3 * form + 30 + root_bound.OPERATIONS + NARROW_OPERATIONS

    def operations(self) -> int:
        """Return the multiply-adds of distances and forms."""
        nearest = self._search(int(self.branches.sum()))
        linear = self.n_levels * (self.n_rows + 1) * self.n_features
        return nearest + linear + self.n_basis * self.n_features

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that no test decides, labels included."""
        nearest = self._search(int(self.branches.sum()))
        level = self._local_operations(ends) + self.linear_operations(ends)
        curved = self.curved_operations(ends) if self.n_basis else 0
        return nearest + self.n_levels * level + curved

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        sizes = (
            Constant("FOLDED_ROWS", self.n_rows, "decisions of a centre"),
            Constant("FOLDED_CONSTANTS", N_CONSTANTS, "constants of a row"),
        )
        if not self.n_basis:
            return sizes
        return (
            *sizes,
            Constant("FIRST_LEAF", self.first_leaf, "the first centre of the last level"),
            Constant("FOLDED_BASIS", self.n_basis, "dimensions of the curved test"),
            Constant("FORM_WORDS", int(self.forms.shape[3]), "elements of a triangle of them"),
            Constant("CURVED_CONSTANTS", N_CURVED, "constants of its rows"),
        )

    def members(self) -> tuple[Member, ...]:
        """Return the members for x - c and the values computed from x - c."""
        offset = "x - c, c being the nearest centre"
        members = (
            Member("float", "local_offset", self.n_features, offset),
            Member("float", "local_base", self.n_rows, "the linear forms of this"),
        )
        if not self.n_basis:
            return members
        return (
            *members,
            Member("float", "local_projected", self.n_basis, "x - c along the basis"),
        )
