"""The private #defines of the model file that early exits need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.nearest_view import NearestView
from kmcompile.emit.subspace_view import SubspaceView
from kmcompile.kernels.remainder import ORDER_COLUMNS
from kmcompile.program.stages import (
    BoundSequence,
    FoldedWeights,
    NearestVectors,
    ReducedSet,
    SignMap,
)
from kmcompile.program.stages.folded_weights import N_CONSTANTS, N_CURVED
from kmcompile.program.stages.sign_map import HALVED, NEGATIVE, OPEN, POSITIVE
from kmcompile.program.stages.subspace_certificate import SubspaceCertificate


@dataclass(frozen=True, slots=True)
class Constant:
    """A private #define of the model file."""

    name: str
    value: int
    meaning: str


def exit_constants(early: EarlyExitsView) -> Iterator[Constant]:
    """Yield the sizes of the early exits in order, each once."""
    yield from {constant.name: constant for constant in _of_exits(early)}.values()


def _of_exits(early: EarlyExitsView) -> Iterator[Constant]:
    for stage in early.exits:
        if isinstance(stage, ReducedSet):
            yield from _of_reduced_set(stage)
        elif isinstance(stage, NearestVectors) and early.nearest is not None:
            yield from _of_nearest_vectors(stage, early.nearest)
        elif isinstance(stage, SubspaceCertificate) and early.subspace is not None:
            yield from _of_subspace(stage, early.subspace)
        elif isinstance(stage, FoldedWeights):
            yield from _of_folded_weights(stage)
        elif isinstance(stage, SignMap):
            yield from _of_sign_map(stage)
        elif isinstance(stage, BoundSequence):
            yield from _of_bound_sequence(stage, early)


def _of_bound_sequence(stage: BoundSequence, early: EarlyExitsView) -> Iterator[Constant]:
    yield Constant("SEQUENCE_BLOCKS", stage.n_blocks, "blocks of the bound sequence")
    if early.has_own_sequence:
        words = stage.n_features * stage.lanes
        yield Constant("SEQUENCE_LANES", stage.lanes, "vectors of a block of the bound sequence")
        yield Constant("SEQUENCE_WORDS", words, "N_PREPARED * SEQUENCE_LANES: of such a block")


def _of_reduced_set(stage: ReducedSet) -> Iterator[Constant]:
    name = f"REDUCED_{stage.number}"
    yield Constant(f"{name}_OUT", stage.n_out, f"dimensions of reduced set {stage.number}")
    yield Constant(f"{name}_LIFTED", stage.n_out + 2, "the same with - |y|^2 / 32 and 1")
    yield Constant(f"{name}_LANES", stage.lanes, "its vectors of a block")
    if stage.n_blocks > 1:
        yield Constant(f"{name}_BLOCKS", stage.n_blocks, "its blocks")


def _of_nearest_vectors(stage: NearestVectors, view: NearestView) -> Iterator[Constant]:
    yield _slots(stage.n_slots)
    yield Constant("NEAREST_OUT", stage.level_ends[-1], "dimensions of the nearest vectors")
    if view.touches:
        yield Constant("N_TESTS", len(stage.steps), "tests of the nearest vectors")
        yield Constant("MOST_TOUCHED", stage.max_touched, "kernels that they compute, at most")


def _of_subspace(stage: SubspaceCertificate, view: SubspaceView) -> Iterator[Constant]:
    yield Constant("SUBSPACE_OUT", stage.n_out, "dimensions of the subspace")
    yield Constant("DEGREE", stage.remainder.degree, "of the kernel: orders of its expansion")
    yield Constant("ORDER_COLUMNS", ORDER_COLUMNS, "factors of an order")
    if stage.touches:
        yield _slots(stage.n_slots)
        yield Constant("SUBSPACE_TOUCHED", view.most_touched, "kernels that are computed, at most")


def _slots(n: int) -> Constant:
    return Constant("N_SLOTS", n, "N_BLOCKS * LANES: places of vectors")


def _of_folded_weights(stage: FoldedWeights) -> Iterator[Constant]:
    yield Constant("FOLDED_ROWS", stage.n_rows, "decisions of a centre")
    yield Constant("FOLDED_CONSTANTS", N_CONSTANTS, "constants of a row")
    if stage.n_basis:
        words = int(stage.forms.shape[3])
        yield Constant("FIRST_LEAF", stage.first_leaf, "the first centre of the last level")
        yield Constant("FOLDED_BASIS", stage.n_basis, "dimensions of the curved test")
        yield Constant("FORM_WORDS", words, "elements of a triangle of them")
        yield Constant("CURVED_CONSTANTS", N_CURVED, "constants of its rows")


def _of_sign_map(stage: SignMap) -> Iterator[Constant]:
    yield Constant("MAP_NODES", stage.n_nodes, "boxes of the map")
    yield Constant("MAP_OPEN", OPEN, "the kind of a box that holds both signs")
    yield Constant("MAP_NEGATIVE", NEGATIVE, "of one where the decision is negative")
    yield Constant("MAP_POSITIVE", POSITIVE, "of one where it is positive")
    if stage.depth > 0:
        yield Constant("MAP_HALVED", HALVED, "of one that is halved")
        yield Constant("MAP_ROOTS", stage.n_roots, "boxes of the first level")
        yield Constant("MAP_DEPTH", stage.depth, "how often a box is halved, at most")
