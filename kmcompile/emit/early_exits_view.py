"""The views of the stages between `prepare` and the exact sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kmcompile.emit.nearest_view import NearestView, nearest_view
from kmcompile.emit.prepare_view import READ_TOGETHER
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.ir.program import Program
from kmcompile.stages import (
    ExactSum,
    LinearFilter,
    NearestVectors,
    Nonzeros,
    RangeGate,
    ReducedSet,
    Stage,
)

_S = TypeVar("_S", bound=Stage)


@dataclass(frozen=True, slots=True)
class InputMember:
    """What early exits add to an input on its way through the stages."""

    c_type: str
    name: str
    zero: str
    meaning: str


_SQUARE = InputMember("float", "square", "0.0f", "|x|^2, once range_gate has it")
_N_NONZEROS = InputMember("uint32_t", "n_nonzeros", "0U", "features in the list of nonzeros")


@dataclass(frozen=True, slots=True)
class NonzerosView:
    """What templates/stages/nonzeros.c.j2 needs: how many features whole turns read."""

    tiled_features: int
    has_tiles: bool
    has_tail: bool


@dataclass(frozen=True, slots=True)
class ReducedSetView:
    """What templates/stages/reduced_set.c.j2 needs.

    Parameters
    ----------
    number : int
    prefix : str
        Of its functions and tables.
    products : ProductsView or None
        The projection.
    totals : TotalsView
        The kernels' totals of a block of centres.
    limits_far : bool
        Whether any total is large enough to be left out.
    value : str
        The kernel's function.
    """

    number: int
    prefix: str
    products: ProductsView | None
    totals: TotalsView
    limits_far: bool
    value: str


@dataclass(frozen=True, slots=True)
class EarlyExitsView:
    """The early exits of a program; none in exact mode.

    Parameters
    ----------
    exits : tuple of Stage
        What may decide, in order.
    filter_products : ProductsView or None
    reduced_sets : tuple of ReducedSetView
    nearest : NearestView or None
    input_members : tuple of InputMember
    """

    nonzeros: NonzerosView | None
    gate: RangeGate | None
    exits: tuple[Stage, ...]
    filter_products: ProductsView | None
    reduced_sets: tuple[ReducedSetView, ...]
    nearest: NearestView | None
    input_members: tuple[InputMember, ...]

    @property
    def products(self) -> tuple[ProductsView, ...]:
        """All inner products, in the order of the stages."""
        sets = (view.products for view in self.reduced_sets)
        levels = () if self.nearest is None else (level.products for level in self.nearest.levels)
        return tuple(p for p in (self.filter_products, *sets, *levels) if p is not None)

    @property
    def totals(self) -> tuple[TotalsView, ...]:
        """The functions of kernels' totals, in the order of the stages."""
        sets = tuple(view.totals for view in self.reduced_sets)
        levels = () if self.nearest is None else (level.totals for level in self.nearest.levels)
        return (*sets, *levels)

    @property
    def limits_far(self) -> bool:
        """Whether any stage leaves out the kernels of far vectors."""
        return any(view.limits_far for view in (*self.reduced_sets, self.nearest) if view)

    @property
    def reuses_kernels(self) -> bool:
        """Whether the exact sum may find kernels that are already computed."""
        return self.nearest is not None and self.nearest.touches


def early_exits_view(program: Program, functions: BlockFunctions) -> EarlyExitsView:
    """Return the view of a program's early exits."""
    linear = _only(program, LinearFilter)
    nearest = _only(program, NearestVectors)
    gate = _only(program, RangeGate)
    nonzeros = _only(program, Nonzeros)
    exact = program.ends.exact
    filter_products = None
    if linear is not None:
        filter_products = products_view(
            linear.products, "filter_products", "filter_weights", functions
        )
    members = ((gate or nearest, _SQUARE), (nonzeros, _N_NONZEROS))
    return EarlyExitsView(
        nonzeros=None if nonzeros is None else _nonzeros_view(nonzeros),
        gate=gate,
        exits=program.early_exits,
        filter_products=filter_products,
        reduced_sets=tuple(
            reduced_set_view(s, functions) for s in program.stages if isinstance(s, ReducedSet)
        ),
        nearest=(
            nearest_view(nearest, functions)
            if nearest is not None and isinstance(exact, ExactSum)
            else None
        ),
        input_members=tuple(member for needed, member in members if needed),
    )


def reduced_set_view(stage: ReducedSet, functions: BlockFunctions) -> ReducedSetView:
    """Return the view of one reduced set."""
    prefix = f"reduced_{stage.number}"
    products = None
    if stage.products is not None:
        products = products_view(
            stage.products, f"{prefix}_products", f"{prefix}_projection", functions
        )
    totals = functions.totals(stage.n_out, stage.lanes)
    limits_far = bool(np.isfinite(stage.far))
    value = "kernel_value_within" if limits_far else "kernel_value"
    return ReducedSetView(stage.number, prefix, products, totals, limits_far, value)


def _nonzeros_view(stage: Nonzeros) -> NonzerosView:
    tiled = stage.n_features // READ_TOGETHER * READ_TOGETHER
    return NonzerosView(tiled, has_tiles=tiled > 0, has_tail=tiled < stage.n_features)


def _only(program: Program, kind: type[_S]) -> _S | None:
    return next((stage for stage in program.stages if isinstance(stage, kind)), None)
