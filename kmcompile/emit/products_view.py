"""The views of inner products with the rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.totals_view import TotalsView, totals_view
from kmcompile.stages import InnerProducts
from kmcompile.target import Target


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
    products: InnerProducts, function: str, table: str, target: Target
) -> ProductsView:
    """Return the view of one matrix."""
    kind = "sparse_products" if products.skip_zeros else "products"
    block = totals_view(
        target,
        f"{kind}_{products.lanes}",
        "total[lane] = <row of the matrix, x>",
        products.n_features,
        products.lanes,
        term="product",
    )
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
