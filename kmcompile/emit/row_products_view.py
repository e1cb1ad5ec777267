"""The views of loops over the features of a few rows, written out for some rows and features."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.target import Target

_MOST_ROWS = 7
"""Sums of as many rows stay in registers of a floating-point unit, with x_j beside them."""

_MOST_TERMS = 20
"""Products that are written out in one turn; with more, the function is too long to be read."""

_MOST_FEATURES = 12
"""Features of a turn after which a distance is compared; more would find out later."""


@dataclass(frozen=True, slots=True)
class RowWord:
    """A row of those that are summed together, and the offset of its word."""

    row: int
    offset: int


@dataclass(frozen=True, slots=True)
class RowFeature:
    """A feature of a turn with the words of all rows."""

    number: int
    words: tuple[RowWord, ...]


@dataclass(frozen=True, slots=True)
class RowProductsView:
    """Values for templates/early_exits/row_products.c.j2: rows of a matrix, times a vector.

    Parameters
    ----------
    function : str
        The name of the function, without the prefix.
    rows : tuple of RowWord
        The rows that are summed together, with the offsets of their first words.
    n_rows : str
        C expression: rows of the matrix, a multiple of those that are summed together.
    is_one_turn : bool
        Whether all rows are summed together.
    tile : int
        Number of features in one turn of the loop.
    tiled_features : int
        Number of features in whole tiles; the tail loop handles the rest.
    """

    function: str
    rows: tuple[RowWord, ...]
    n_rows: str
    is_one_turn: bool
    tile: int
    tiled_features: int
    tiled: bool
    has_tail: bool
    features: tuple[RowFeature, ...]

    @classmethod
    def of(
        cls, function: str, n_rows: int, n_features: int, target: Target, of_rows: str
    ) -> RowProductsView:
        """Return the view of a matrix of `n_rows` rows, a C expression for whom is `of_rows`."""
        together = _largest_divisor(n_rows, _MOST_ROWS) if target.program.lanes > 1 else 1
        tile = min(target.feature_tile, _MOST_TERMS // together)
        tiled = n_features // tile * tile
        return cls(
            function=function,
            rows=tuple(RowWord(row, row * n_features) for row in range(together)),
            n_rows=of_rows,
            is_one_turn=together == n_rows,
            tile=tile,
            tiled_features=tiled,
            tiled=tiled > 0,
            has_tail=tiled < n_features,
            features=tuple(
                RowFeature(f, tuple(RowWord(row, row * n_features + f) for row in range(together)))
                for f in range(tile)
            ),
        )


@dataclass(frozen=True, slots=True)
class DistanceView:
    """Values for the squared distance of templates/local_expansion/centre.c.j2.

    Parameters
    ----------
    head : int
        Features before the first whole turn.
    has_head : bool
    turns : int
        Whole turns.
    tile : int
        Features of a turn.
    features : tuple of int
        Their numbers.
    """

    head: int
    has_head: bool
    turns: int
    tile: int
    features: tuple[int, ...]

    @classmethod
    def of(cls, n_features: int) -> DistanceView:
        """Return the view of a distance in so many features."""
        tile = _largest_divisor(n_features, _MOST_FEATURES)
        if tile < min(n_features, _MOST_FEATURES // 2):
            tile = min(n_features, _MOST_FEATURES * 2 // 3)
        turns, head = divmod(n_features, tile)
        return cls(head, head > 0, turns, tile, tuple(range(tile)))


def _largest_divisor(n: int, most: int) -> int:
    """Return the largest divisor of n that is `most` at most."""
    return max(divisor for divisor in range(1, most + 1) if n % divisor == 0)
