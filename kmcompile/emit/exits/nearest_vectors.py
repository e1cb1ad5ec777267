"""The view of the stage `nearest_vectors`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, NearestVectors


@dataclass(frozen=True, slots=True)
class LevelView:
    """One level of the projection.

    Parameters
    ----------
    number, index : int
        Number of the level counted from 1, and from 0.
    products : ProductsView
        The new dimensions.
    totals : TotalsView
        Adds them to the kernels' totals.
    first, end : int
        Dimensions before and after the level.
    approximates : bool
        Whether the kernels are needed after this level.
    """

    number: int
    index: int
    products: ProductsView
    totals: TotalsView
    first: int
    end: int
    approximates: bool


@dataclass(frozen=True, slots=True)
class NearestView(ExitView):
    """Values for templates/stages/nearest_vectors.c.j2 and templates/nearest_vectors/.

    Parameters
    ----------
    limits_far : bool
        Whether a large total makes an approximate kernel count as 0.
    value : str
        The kernel's function for approximations.
    touches : bool
        Whether any kernel is computed.
    first_test : int
        The first test after a kernel may have been computed.
    has_earlier : bool
        Whether the tests use the estimate and the spread of an earlier stage.
    forgets : bool
        Whether this exit overwrites kernels that an earlier exit may have computed.
    group_steps : int
        Most steps of the search for a slot's group.
    limits_kernels : bool
        Whether the caller may limit the kernels, as in a program with a certified exit.
    """

    stage: NearestVectors
    levels: tuple[LevelView, ...]
    limits_far: bool
    value: str
    touches: bool
    first_test: int
    has_earlier: bool
    forgets: bool
    group_steps: int
    limits_kernels: bool

    @classmethod
    def of(cls, stage: NearestVectors, site: Site) -> NearestView:
        """Return the view of a stage at its place."""
        functions = site.functions
        limits_far = bool(np.isfinite(stage.far))
        return cls(
            stage,
            levels=tuple(_level_view(stage, index, functions) for index in range(stage.n_levels)),
            limits_far=limits_far,
            value="kernel_value_within" if limits_far else "kernel_value",
            touches=stage.touches,
            first_test=stage.n_levels if stage.from_estimate else 0,
            has_earlier=any(other.hands_on_estimate for other in site.before),
            forgets=any(other.touches for other in site.before),
            group_steps=_group_steps(site.program),
            limits_kernels=any(not exit_.is_calibrated for exit_ in (*site.before, *site.behind)),
        )

    def inner_products(self) -> tuple[ProductsView, ...]:
        """Return the projection of every level."""
        return tuple(level.products for level in self.levels)

    def block_totals(self) -> tuple[TotalsView, ...]:
        """Return the kernels' totals of every level."""
        return tuple(level.totals for level in self.levels)

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions of the stage."""
        stage = self.stage
        sections = [
            render("nearest_vectors/level.c.j2", level=level, dimensions=stage.n_out, **context)
            for level in self.levels
        ]
        own = {**context, "stage": stage, "view": self}
        order = "tug_of_war" if stage.tug_of_war else "by_score"
        parts = [
            *(["kernel_value_within"] if self.limits_far else []),
            *("approximate", "test"),
            *([order, "touch"] if self.touches else []),
        ]
        sections += [render(f"nearest_vectors/{part}.c.j2", **own) for part in parts]
        return [*sections, render("stages/nearest_vectors.c.j2", **own)]


def _group_steps(program: Program) -> int:
    """Return the most halvings of the groups of the exact sum until one is left."""
    summed = program.sum
    return (summed.n_groups - 1).bit_length() if isinstance(summed, ExactSum) else 0


def _level_view(stage: NearestVectors, index: int, functions: BlockFunctions) -> LevelView:
    products = stage.levels[index]
    number = index + 1
    shape = (products.n_rows, stage.lanes)
    end = stage.level_ends[index]
    return LevelView(
        number=number,
        index=index,
        products=products_view(
            products, f"nearest_products_{number}", f"nearest_projection_{number}", functions
        ),
        totals=functions.more_totals(*shape) if index else functions.totals(*shape),
        first=end - products.n_rows,
        end=end,
        approximates=stage.from_estimate or number == stage.n_levels,
    )
