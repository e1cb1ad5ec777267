"""The views of sums over features for a block of vectors, as loops that suit a target."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmcompile.emit.literals import unsigned_literal
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.sums.vector_totals import VectorTotals
from kmcompile.target import Target

_TILED_LANES = 5
"""With more unrolled lanes, one feature a turn is long enough to outweigh the loop's overhead."""

_TILES_OF_ONE = (16, 15, 14, 13, 12, 11, 10, 9)
"""Features of one turn of the loop over one vector, where they divide all features."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a tile: its lane, and the offset of this vector's feature."""

    lane: int
    offset: int


@dataclass(frozen=True, slots=True)
class TileFeature:
    """One feature of a tile with the words of all lanes.

    Parameters
    ----------
    number, offset : int
        `offset` is that of the first lane.
    row : str
        What the C adds to the number of a lane to find the word of the feature.
    """

    number: int
    offset: int
    row: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class TotalsView:
    """Values for templates/exact_sum/block_totals.c.j2.

    Parameters
    ----------
    function, term : str
        The names of the function and of that of one feature's term, without the prefix.
    accumulates : bool
        Whether the function adds to existing totals.
    n_features, n_lanes, words : str
        C expressions: terms of a sum, vectors of a block, and their product.
    skips_zeros : bool
        Whether the function runs over the list of nonzero features, of the workspace and the input;
        it then sums products, and is that of templates/exact_sum/sparse_totals.c.j2.
    unrolled : bool
        Whether lanes are scalars, for cores without vector registers, or arrays, which compilers
        vectorise. Both add in the same order.
    tile : int
        Number of features in one turn of the loop.
    tiled_features : int
        Number of features in whole tiles; the tail loop handles the rest.
    """

    function: str
    term: str
    accumulates: bool
    skips_zeros: bool
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


@dataclass(frozen=True, slots=True)
class BlockFunctions:
    """Names the C functions that sum over a block, so that sums of equal shape share one function.

    Parameters
    ----------
    target : Target
    exact : Sum
        The program's last sum; the function of its blocks has a reserved name.
    upper : str
        The prefix of the C's constants.
    """

    target: Target
    exact: Sum
    upper: str

    @property
    def of_exact_sum(self) -> TotalsView:
        """The kernels' totals of the exact sum."""
        constants = (f"{self.upper}_N_PREPARED", f"{self.upper}_LANES", f"{self.upper}_BLOCK_WORDS")
        shape = (self.exact.n_features, self.exact.lanes)
        return self._totals("block_totals", *shape, constants)

    def named_totals(self, name: str, n_features: int, n_lanes: int) -> TotalsView:
        """Return the kernels' totals of a stage that may have its own constants for its blocks.

        They skip zeros if the exact sum's do. Blocks with the shape of the exact sum share its
        function. Other blocks have `<name>_totals`, with constants <NAME>_LANES and <NAME>_WORDS.
        """
        if (n_features, n_lanes) == (self.exact.n_features, self.exact.lanes):
            return self.of_exact_sum
        own = tuple(f"{self.upper}_{name.upper()}_{size}" for size in ("LANES", "WORDS"))
        constants = (f"{self.upper}_N_PREPARED", *own)
        return self._totals(f"{name}_totals", n_features, n_lanes, constants)

    def _totals(
        self, function: str, n_features: int, n_lanes: int, constants: tuple[str, ...]
    ) -> TotalsView:
        """Return the kernels' totals in the form of the exact sum's, which may skip zeros."""
        skips_zeros = self._skips_zeros
        term = "product" if skips_zeros else "kernel_term"
        view = self._view(function, n_features, n_lanes, term, constants)
        return replace(view, skips_zeros=skips_zeros)

    @property
    def _skips_zeros(self) -> bool:
        return isinstance(self.exact, VectorTotals) and self.exact.skip_zeros

    def totals(self, n_features: int, n_lanes: int) -> TotalsView:
        """Return the view of kernels' totals."""
        same_shape = (n_features, n_lanes) == (self.exact.n_features, self.exact.lanes)
        has_own = not self._skips_zeros and not self.exact.stores_codes
        if same_shape and has_own:
            return self.of_exact_sum
        return self._view(f"totals_{n_features}_by_{n_lanes}", n_features, n_lanes, "kernel_term")

    def more_totals(self, n_features: int, n_lanes: int) -> TotalsView:
        """Return the view of kernels' totals that are added to existing totals."""
        view = self._view(
            f"more_totals_{n_features}_by_{n_lanes}", n_features, n_lanes, "kernel_term"
        )
        return replace(view, accumulates=True)

    def products(self, n_features: int, n_lanes: int) -> TotalsView:
        """Return the view of inner products: the totals of a kernel of inner products."""
        if isinstance(self.exact, VectorTotals) and self.exact.kernel.uses_inner_product:
            return self.totals(n_features, n_lanes)
        return self._view(f"products_{n_features}_by_{n_lanes}", n_features, n_lanes, "product")

    def sparse_products(self, n_features: int, n_lanes: int) -> TotalsView:
        """Return the view of inner products that skip features equal to 0."""
        return self._view(f"sparse_products_by_{n_lanes}", n_features, n_lanes, "product")

    def column_products(self, n_features: int, n_lanes: int) -> TotalsView:
        """Return the view of inner products over some of the features only."""
        return self._view(
            f"column_products_{n_features}_by_{n_lanes}", n_features, n_lanes, "product"
        )

    def _view(
        self,
        function: str,
        n_features: int,
        n_lanes: int,
        term: str,
        constants: tuple[str, ...] = (),
    ) -> TotalsView:
        tile = self._tile(n_features, n_lanes)
        tiled = n_features // tile * tile
        numbers = (n_features, n_lanes, n_features * n_lanes)
        names = constants or tuple(unsigned_literal(number) for number in numbers)
        lanes = tuple(range(n_lanes))
        return TotalsView(
            function=function,
            term=term,
            accumulates=False,
            skips_zeros=False,
            n_features=names[0],
            n_lanes=names[1],
            words=names[2],
            unrolled=self.target.unroll_lanes,
            tile=tile,
            tiled_features=tiled,
            tiled=tiled > 0,
            has_tail=tiled < n_features,
            lanes=lanes,
            later_lanes=lanes[1:],
            tile_features=tuple(
                TileFeature(
                    f,
                    f * n_lanes,
                    _row(f, names[1]),
                    tuple(Word(lane, f * n_lanes + lane) for lane in lanes),
                )
                for f in range(tile)
            ),
        )

    def _tile(self, n_features: int, n_lanes: int) -> int:
        """Return the features of one turn of a loop.

        A vector on its own shares no feature, so that the loop's overhead weighs more. Where
        floats are called functions, it weighs nothing.
        """
        if self.target.unroll_lanes and n_lanes > _TILED_LANES:
            return 1
        if n_lanes > 1 or self.target.program.lanes == 1 or not self.target.unroll_lanes:
            return self.target.feature_tile
        fits = [tile for tile in _TILES_OF_ONE if n_features % tile == 0]
        return fits[0] if fits else self.target.feature_tile


def total_call(stage: VectorTotals) -> str:
    """Return the call that computes the total of one vector."""
    return f"vector_total({'workspace, ' if stage.skip_zeros else ''}input, slot)"


def totals_call(stage: VectorTotals) -> str:
    """Return the call that computes the totals of the vectors of a block."""
    x = "workspace, input" if stage.skip_zeros else "input->x"
    return f"block_totals(vectors, {x}, total)"


def _row(number: int, n_lanes: str) -> str:
    """Return C that leads from the word of the first feature to that of another one."""
    if number < 2:
        return f" + {n_lanes}" if number else ""
    return f" + ({unsigned_literal(number)} * {n_lanes})"
