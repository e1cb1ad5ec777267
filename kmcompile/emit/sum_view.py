"""The view of the stage `exact_sum`: how its inner loops are written out for a target."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.stages import ExactSum
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a tile: a lane and where its vector's feature stands."""

    lane: int
    offset: int


@dataclass(frozen=True, slots=True)
class TileFeature:
    """One feature of a tile with the words of all lanes."""

    number: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class SumView:
    """What templates/stages/exact_sum.c.j2 needs.

    Parameters
    ----------
    unrolled : bool
        Lanes as scalars, for cores without vector registers, or as arrays, which compilers
        vectorise. The order of every sum is the same.
    tile : int
        Features that one turn of the loop handles.
    tiled_features : int
        Features that whole tiles handle; the tail does the rest.
    """

    unrolled: bool
    tile: int
    tiled_features: int
    tiled: bool
    has_tail: bool
    lanes: tuple[int, ...]
    later_lanes: tuple[int, ...]
    tile_features: tuple[TileFeature, ...]
    uses_length: bool


def sum_view(stage: ExactSum, target: Target) -> SumView:
    """Return the view for a target."""
    lanes = tuple(range(stage.lanes))
    tiled = stage.n_features // target.feature_tile * target.feature_tile
    features = tuple(
        TileFeature(f, tuple(Word(lane, f * stage.lanes + lane) for lane in lanes))
        for f in range(target.feature_tile)
    )
    return SumView(
        unrolled=target.unroll_lanes,
        tile=target.feature_tile,
        tiled_features=tiled,
        tiled=tiled > 0,
        has_tail=tiled < stage.n_features,
        lanes=lanes,
        later_lanes=lanes[1:],
        tile_features=features,
        uses_length=stage.kernel.uses_length,
    )
