"""The view of the stage `local_expansion`: local expansions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.row_products_view import DistanceView, RowProductsView
from kmcompile.program.stages import LocalExpansion
from kmcompile.program.stages.early_exits.nearest_centre import LARGEST_RELATIVE


@dataclass(frozen=True, slots=True)
class LevelView:
    """A level below the first: its first centre, the first centre above, children per centre."""

    first: int
    parents: int
    n_children: int


@dataclass(frozen=True, slots=True)
class LocalExpansionView(ExitView):
    """Values for templates/stages/local_expansion.c.j2 and templates/local_expansion/.

    Parameters
    ----------
    n_first : int
        Number of centres of the first level.
    more_centres : int
        Most centres that are compared with the first one at a time.
    later_levels : tuple of LevelView
    n_basis : int
        Number of basis vectors of the curved test; 0: no such test.
    skips_proved : bool
        Whether that test leaves out the rows whose signs are proved.
    up, relative, relative_per_square, relative_per_reach, result_error : float32
    largest_relative : float32
    distance : DistanceView
        The squared distance from a centre.
    slopes, projections : RowProductsView
        The inner products with the slopes of a centre, and with the rows of B.
    intercept, basis_of : str
        C of the intercept of decision p without the prefix, and of the first row of B.
    """

    n_first: int
    more_centres: int
    later_levels: tuple[LevelView, ...]
    n_basis: int
    skips_proved: bool
    up: np.float32
    relative: np.float32
    relative_per_square: np.float32
    relative_per_reach: np.float32
    result_error: np.float32
    largest_relative: np.float32
    distance: DistanceView
    slopes: RowProductsView
    projections: RowProductsView
    intercept: str
    basis_of: str

    @classmethod
    def of(cls, stage: LocalExpansion, site: Site) -> LocalExpansionView:
        """Return the view of a stage at its place."""
        name, upper = site.program.name, site.program.name.upper()
        target, n_features = site.functions.target, stage.n_features
        return cls(
            stage,
            n_first=int(stage.branches[0]),
            more_centres=int(stage.branches.max()) - 1,
            later_levels=tuple(_later_levels(stage)),
            n_basis=stage.n_basis,
            skips_proved=stage.skips_proved(site.program.ends),
            up=stage.up,
            relative=stage.relative,
            relative_per_square=stage.relative_per_square,
            relative_per_reach=stage.relative_per_reach,
            result_error=stage.result_error,
            largest_relative=LARGEST_RELATIVE,
            distance=DistanceView.of(n_features),
            slopes=RowProductsView.of(
                "local_slopes", stage.n_rows, n_features, target, f"{upper}_FOLDED_ROWS"
            ),
            projections=RowProductsView.of(
                "local_projections", stage.n_basis, n_features, target, f"{upper}_FOLDED_BASIS"
            ),
            intercept="intercept[p]",
            basis_of=f"{name}_local_basis",
        )

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions of the stage."""
        own = {**context, "view": self}
        parts = ["centre", "linear", *(["curved"] if self.n_basis else [])]
        return [
            *(render(f"local_expansion/{part}.c.j2", **own) for part in parts),
            render(f"stages/{self.stage.template}.c.j2", **own),
        ]


def _later_levels(stage: LocalExpansion) -> Iterator[LevelView]:
    parents, first, width = 0, 0, 1
    for n_children in stage.branches.tolist():
        width *= n_children
        if first:
            yield LevelView(first, parents, n_children)
        parents, first = first, first + width
