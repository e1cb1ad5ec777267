"""The views of the stages `reduced_set`."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.stages import NearestVectors, ReducedSet, Stage


@dataclass(frozen=True, slots=True)
class ReducedSetView:
    """What templates/stages/reduced_set.c.j2 and templates/reduced_set/ need.

    Parameters
    ----------
    number : int
    prefix, upper : str
        Of its functions and tables, and of its constants.
    products : ProductsView
        The projection.
    lifted : TotalsView
        The inner products of a block of vectors with (y, - |y|^2 / 32, 1).
    n_lifted : int
        Length of the lifted vector.
    triangle_words : int
        Elements of a lower triangle that are not 0.
    has_blocks : bool
        Whether its vectors stand in several blocks.
    checks_range : bool
        Whether it looks at the part of the input outside the projection.
    has_earlier, is_earlier : bool
        Whether a reduced set stands before, and whether a stage behind uses what it estimates.
    """

    number: int
    prefix: str
    upper: str
    products: ProductsView
    lifted: TotalsView
    n_lifted: int
    triangle_words: int
    has_blocks: bool
    checks_range: bool
    has_earlier: bool
    is_earlier: bool


def reduced_set_views(
    exits: tuple[Stage, ...], functions: BlockFunctions
) -> tuple[ReducedSetView, ...]:
    """Return the views of the reduced sets among the early exits."""
    return tuple(
        _view(stage, exits[:place], exits[place + 1 :], functions)
        for place, stage in enumerate(exits)
        if isinstance(stage, ReducedSet)
    )


def _view(
    stage: ReducedSet,
    before: tuple[Stage, ...],
    behind: tuple[Stage, ...],
    functions: BlockFunctions,
) -> ReducedSetView:
    prefix = f"reduced_{stage.number}"
    return ReducedSetView(
        number=stage.number,
        prefix=prefix,
        upper=f"{functions.upper}_{prefix.upper()}",
        products=products_view(
            stage.products,
            f"{prefix}_products",
            f"{prefix}_projection",
            functions,
            columns=f"{prefix}_columns",
        ),
        lifted=functions.products(stage.n_out + 2, stage.lanes),
        n_lifted=stage.n_out + 2,
        triangle_words=stage.n_out * (stage.n_out + 1) // 2,
        has_blocks=stage.n_blocks > 1,
        checks_range=len(stage.triangle) > 0,
        has_earlier=any(isinstance(other, ReducedSet) for other in before),
        is_earlier=any(isinstance(other, ReducedSet | NearestVectors) for other in behind),
    )
