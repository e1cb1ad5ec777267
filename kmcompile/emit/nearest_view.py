"""The view of the stage `nearest_vectors`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.stages import NearestVectors, ReducedSet, Stage, SubspaceCertificate


@dataclass(frozen=True, slots=True)
class LevelView:
    """One level of the projection.

    Parameters
    ----------
    number, index : int
        From 1, from 0.
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
class NearestView:
    """What templates/stages/nearest_vectors.c.j2 and templates/nearest_vectors/ need.

    Parameters
    ----------
    limits_far : bool
        Whether any total is large enough to be left out.
    value : str
        The kernel's function for approximations.
    lanes : TotalsView
        The lanes of the exact sum's blocks.
    touches : bool
        Whether any kernel is computed.
    first_test : int
        The first test after a kernel may have been computed.
    has_earlier : bool
        Whether a reduced set stands before, of which the tests use estimate and spread.
    forgets : bool
        Whether an exit before may have computed kernels, which this one writes over.
    """

    levels: tuple[LevelView, ...]
    lanes: TotalsView
    limits_far: bool
    value: str
    touches: bool
    first_test: int
    n_tests: int
    has_earlier: bool
    forgets: bool


def nearest_view(
    stage: NearestVectors, functions: BlockFunctions, before: tuple[Stage, ...]
) -> NearestView:
    """Return the view of the stage; `before` are the early exits that stand before it."""
    levels = tuple(_level_view(stage, index, functions) for index in range(stage.n_levels))
    first_test = stage.n_levels if stage.from_estimate else 0
    limits_far = bool(np.isfinite(stage.far))
    return NearestView(
        levels=levels,
        lanes=functions.of_exact_sum,
        limits_far=limits_far,
        value="kernel_value_within" if limits_far else "kernel_value",
        touches=first_test < len(stage.steps),
        first_test=first_test,
        n_tests=len(stage.steps),
        has_earlier=any(isinstance(other, ReducedSet) for other in before),
        forgets=any(isinstance(other, SubspaceCertificate) for other in before),
    )


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
