"""The views of inner products with the rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.stages import InnerProducts


@dataclass(frozen=True, slots=True)
class ProductsView:
    """What templates/early_exits/inner_products.c.j2 needs.

    Parameters
    ----------
    function : str
        Its own name without the prefix.
    table : str
        The matrix.
    block : TotalsView
        The function of one block, which matrices with as many lanes share.
    n_rows, n_padded : int
        Rows of the matrix, and with those that fill up the last block.
    """

    function: str
    table: str
    skip_zeros: bool
    block: TotalsView
    n_blocks: int
    n_rows: int
    n_padded: int
    has_padding: bool


def products_view(
    products: InnerProducts, function: str, table: str, functions: BlockFunctions
) -> ProductsView:
    """Return the view of one matrix."""
    shape = (products.n_features, products.lanes)
    sparse = products.skip_zeros
    block = functions.sparse_products(*shape) if sparse else functions.products(*shape)
    n_padded = products.n_blocks * products.lanes
    return ProductsView(
        function=function,
        table=table,
        skip_zeros=products.skip_zeros,
        block=block,
        n_blocks=products.n_blocks,
        n_rows=products.n_rows,
        n_padded=n_padded,
        has_padding=n_padded > products.n_rows,
    )
