"""The registry of early exits' views, by the class of the stage."""

from __future__ import annotations

from kmcompile.emit.exits.bound_sequence import BoundSequenceView
from kmcompile.emit.exits.class_scores import ClassScoresView
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.exits.leaf_expansion import LeafExpansionView
from kmcompile.emit.exits.linear_filter import LinearFilterView
from kmcompile.emit.exits.local_expansion import LocalExpansionView
from kmcompile.emit.exits.nearest_vectors import NearestView
from kmcompile.emit.exits.reduced_set import FreeVectorsView
from kmcompile.emit.exits.sign_map import SignMapView
from kmcompile.emit.exits.subspace_certificate import SubspaceView
from kmcompile.emit.totals_view import BlockFunctions
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    BoundSequence,
    ClassScores,
    EarlyExit,
    IntervalRatio,
    LeafExpansion,
    LinearFilter,
    LocalExpansion,
    NearestVectors,
    QuadraticBounds,
    ReducedSet,
    SignMap,
    SubspaceCertificate,
    TaylorPolynomial,
)

_VIEWS: dict[type[EarlyExit], type[ExitView]] = {
    BoundSequence: BoundSequenceView,
    ClassScores: ClassScoresView,
    IntervalRatio: ExitView,
    LocalExpansion: LocalExpansionView,
    LeafExpansion: LeafExpansionView,
    LinearFilter: LinearFilterView,
    NearestVectors: NearestView,
    QuadraticBounds: ExitView,
    ReducedSet: FreeVectorsView,
    SignMap: SignMapView,
    SubspaceCertificate: SubspaceView,
    TaylorPolynomial: ExitView,
}
"""The view of each class of stage; `ExitView` writes the one template of its name."""


def register_exit_view(of_stage: type[EarlyExit], view: type[ExitView]) -> None:
    """Register a view for the stages of a class.

    An exit needs its own view if it has more than one template, or sums over blocks. Its templates
    lie in a folder of `register_templates`.

    Raises
    ------
    ValueError
        If another view is registered for the class.
    """
    if _VIEWS.setdefault(of_stage, view) is not view:
        raise ValueError(f"{of_stage.__name__} has a view already: {_VIEWS[of_stage].__name__}")


def exit_views(program: Program, functions: BlockFunctions) -> tuple[ExitView, ...]:
    """Return the views of a program's early exits, in their order."""
    exits = program.early_exits
    return tuple(
        _VIEWS[type(stage)].of(stage, Site(program, functions, exits[:place], exits[place + 1 :]))
        for place, stage in enumerate(exits)
    )
