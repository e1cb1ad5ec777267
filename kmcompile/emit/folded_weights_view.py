"""The view of the stage of local expansions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kmcompile.program.stages import FoldedWeights
from kmcompile.program.stages.folded_weights import N_CONSTANTS, N_CURVED
from kmcompile.program.stages.nearest_centre import LARGEST_RELATIVE


@dataclass(frozen=True, slots=True)
class LevelView:
    """A level below the first one: its first centre, that of the level above, children of each."""

    first: int
    parents: int
    n_children: int


@dataclass(frozen=True, slots=True)
class FoldedWeightsView:
    """What templates/stages/folded_weights.c.j2 and templates/folded_weights/ need.

    Parameters
    ----------
    n_rows, n_first, first_leaf : int
        Decisions of a centre; centres of the first level; the first one of the last level.
    most_centres : int
        Centres that are compared at once.
    later_levels : tuple of LevelView
    n_constants, n_curved : int
        Constants of a row, and of one of the last level.
    n_basis : int
        0: no curved test.
    form_words, two_forms, three_forms : int
        Words of one form, of two and of three.
    up, relative, relative_per_square, relative_per_reach, result_error : float32
    largest_relative : float32
    """

    n_rows: int
    n_first: int
    first_leaf: int
    most_centres: int
    later_levels: tuple[LevelView, ...]
    n_constants: int
    n_curved: int
    n_basis: int
    form_words: int
    two_forms: int
    three_forms: int
    up: np.float32
    relative: np.float32
    relative_per_square: np.float32
    relative_per_reach: np.float32
    result_error: np.float32
    largest_relative: np.float32


def _later_levels(stage: FoldedWeights) -> Iterator[LevelView]:
    parents, first, width = 0, 0, 1
    for n_children in stage.branches.tolist():
        width *= n_children
        if first:
            yield LevelView(first, parents, n_children)
        parents, first = first, first + width


def folded_weights_view(stage: FoldedWeights) -> FoldedWeightsView:
    """Return the view of a stage."""
    words = int(stage.forms.shape[3])
    return FoldedWeightsView(
        n_rows=stage.n_rows,
        n_first=int(stage.branches[0]),
        first_leaf=stage.first_leaf,
        most_centres=int(stage.branches.max()),
        later_levels=tuple(_later_levels(stage)),
        n_constants=N_CONSTANTS,
        n_curved=N_CURVED,
        n_basis=stage.n_basis,
        form_words=words,
        two_forms=2 * words,
        three_forms=3 * words,
        up=stage.up,
        relative=stage.relative,
        relative_per_square=stage.relative_per_square,
        relative_per_reach=stage.relative_per_reach,
        result_error=stage.result_error,
        largest_relative=LARGEST_RELATIVE,
    )
