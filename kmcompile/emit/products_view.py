"""The views of inner products with the rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.stages import InnerProducts


@dataclass(frozen=True, slots=True)
class ProductsView:
    """Values for templates/early_exits/inner_products.c.j2.

    Parameters
    ----------
    function : str
        Name of the function without the prefix.
    table : str
        Table of the matrix.
    columns : str or None
        Table of the features that are used; None: all.
    block : TotalsView
        Function of one block; matrices with the same number of lanes share it.
    has_blocks : bool
        Whether the matrix has several blocks.
    n_rows, n_padded : int
        Rows of the matrix, without and with the padding of the last block.
    """

    function: str
    table: str
    columns: str | None
    skip_zeros: bool
    block: TotalsView
    n_blocks: int
    has_blocks: bool
    n_rows: int
    n_padded: int
    has_padding: bool


def products_view(
    products: InnerProducts,
    function: str,
    table: str,
    functions: BlockFunctions,
    columns: str | None = None,
) -> ProductsView:
    """Return the view of one matrix; `columns` names the table of its features if it has one."""
    shape = (products.n_used, products.lanes)
    looks_at_some = len(products.columns) > 0
    if looks_at_some:
        block = functions.column_products(*shape)
    elif products.skip_zeros:
        block = functions.sparse_products(*shape)
    else:
        block = functions.products(*shape)
    return ProductsView(
        function=function,
        table=table,
        columns=columns if looks_at_some else None,
        skip_zeros=products.skip_zeros,
        block=block,
        n_blocks=products.n_blocks,
        has_blocks=products.n_blocks > 1,
        n_rows=products.n_rows,
        n_padded=products.n_padded,
        has_padding=products.n_padded > products.n_rows,
    )
