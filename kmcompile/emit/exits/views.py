"""The views of a program's early exits, each by the class of its stage."""

from __future__ import annotations

from kmcompile.emit.exits.bound_sequence import BoundSequenceView
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.exits.folded_weights import FoldedWeightsView
from kmcompile.emit.exits.linear_filter import LinearFilterView
from kmcompile.emit.exits.nearest_vectors import NearestView
from kmcompile.emit.exits.reduced_set import ReducedSetView
from kmcompile.emit.exits.sign_map import SignMapView
from kmcompile.emit.exits.subspace_certificate import SubspaceView
from kmcompile.emit.totals_view import BlockFunctions
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    BoundSequence,
    EarlyExit,
    FoldedWeights,
    LinearFilter,
    NearestVectors,
    ReducedSet,
    SignMap,
    SubspaceCertificate,
)

_VIEWS: dict[type[EarlyExit], type[ExitView]] = {
    BoundSequence: BoundSequenceView,
    FoldedWeights: FoldedWeightsView,
    LinearFilter: LinearFilterView,
    NearestVectors: NearestView,
    ReducedSet: ReducedSetView,
    SignMap: SignMapView,
    SubspaceCertificate: SubspaceView,
}
"""A stage that is not here is written by the template of its name alone."""


def register_exit_view(of_stage: type[EarlyExit], view: type[ExitView]) -> None:
    """Let the stages of a class be written by a view of their own.

    An exit needs one if it has more than one template, or sums over blocks. The templates lie in
    a folder of `register_templates`.

    Raises
    ------
    ValueError
        If the class has another view already.
    """
    if _VIEWS.setdefault(of_stage, view) is not view:
        raise ValueError(f"{of_stage.__name__} has a view already: {_VIEWS[of_stage].__name__}")


def exit_views(program: Program, functions: BlockFunctions) -> tuple[ExitView, ...]:
    """Return the views of a program's early exits, in their order."""
    exits = program.early_exits
    return tuple(
        _VIEWS.get(type(stage), ExitView).of(
            stage, Site(program, functions, exits[:place], exits[place + 1 :])
        )
        for place, stage in enumerate(exits)
    )
