"""The views of sums over features for a block of vectors: how they are written for a target."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.literals import unsigned_literal
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a tile: a lane and where its vector's feature stands."""

    lane: int
    offset: int


@dataclass(frozen=True, slots=True)
class TileFeature:
    """One feature of a tile with the words of all lanes; `offset` is the first lane's."""

    number: int
    offset: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class TotalsView:
    """What templates/exact_sum/block_totals.c.j2 needs.

    Parameters
    ----------
    function, meaning : str
        The function's name without the prefix, and what it computes.
    term : str
        The function of one feature's term, without the prefix.
    accumulates : bool
        Whether it adds to totals that there are.
    n_features, n_lanes, words : str
        C expressions: terms of a sum, vectors of a block, and their product.
    unrolled : bool
        Lanes as scalars, for cores without vector registers, or as arrays, which compilers
        vectorise. The order of every sum is the same.
    tile : int
        Features that one turn of the loop handles.
    tiled_features : int
        Features that whole tiles handle; the tail does the rest.
    """

    function: str
    meaning: str
    term: str
    accumulates: bool
    n_features: str
    n_lanes: str
    words: str
    unrolled: bool
    tile: int
    tiled_features: int
    tiled: bool
    has_tail: bool
    lanes: tuple[int, ...]
    later_lanes: tuple[int, ...]
    tile_features: tuple[TileFeature, ...]


def totals_view(
    target: Target,
    function: str,
    meaning: str,
    n_features: int,
    n_lanes: int,
    *,
    term: str = "kernel_term",
    accumulates: bool = False,
    constants: tuple[str, str, str] | None = None,
) -> TotalsView:
    """Return the view for a target.

    Parameters
    ----------
    constants : tuple of str, optional
        The names that features, lanes and words of a block have in the C; by default numbers.
    """
    lanes = tuple(range(n_lanes))
    tiled = n_features // target.feature_tile * target.feature_tile
    features = tuple(
        TileFeature(f, f * n_lanes, tuple(Word(lane, f * n_lanes + lane) for lane in lanes))
        for f in range(target.feature_tile)
    )
    numbers = (n_features, n_lanes, n_features * n_lanes)
    names = constants or tuple(unsigned_literal(number) for number in numbers)
    return TotalsView(
        function=function,
        meaning=meaning,
        term=term,
        accumulates=accumulates,
        n_features=names[0],
        n_lanes=names[1],
        words=names[2],
        unrolled=target.unroll_lanes,
        tile=target.feature_tile,
        tiled_features=tiled,
        tiled=tiled > 0,
        has_tail=tiled < n_features,
        lanes=lanes,
        later_lanes=lanes[1:],
        tile_features=features,
    )
