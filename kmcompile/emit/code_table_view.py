"""The view of integer support vectors: how their inner products are written for a target."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.ir.table import C_TYPES
from kmcompile.stages.code_table import GROUP, CodeTable
from kmcompile.target import Target

TABLE = "vectors"
"""The table that inner loops may read as words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A vector of a block, and the one in front of it."""

    lane: int
    before: int


@dataclass(frozen=True, slots=True)
class Place:
    """One of four codes, and what its index adds to that of the first."""

    number: int
    plus: str


@dataclass(frozen=True, slots=True)
class CodeTableView:
    """What the templates of templates/code_table/ need.

    Parameters
    ----------
    code_type, sum_type : str
        The C types of a stored code and of sums.
    sum_bits : int
    template : str
        That of the inner products.
    unrolled : bool
        Lanes as scalars, for cores without vector registers, or as loops.
    """

    code_type: str
    sum_type: str
    sum_bits: int
    template: str
    drops_columns: bool
    pads: bool
    unrolled: bool
    lanes: tuple[int, ...]
    later_rows: tuple[Row, ...]
    places: tuple[Place, ...]


def code_table_view(table: CodeTable, lanes: int, target: Target) -> CodeTableView:
    """Return the view of a table whose blocks have `lanes` vectors."""
    bits = 64 if table.wide else 32
    return CodeTableView(
        code_type=C_TYPES[table.width],
        sum_type=f"uint{bits}_t",
        sum_bits=bits,
        template="sparse_products" if table.sparse else "inner_products",
        drops_columns=table.drops_columns,
        pads=table.n_padded > table.n_used,
        unrolled=target.unroll_lanes,
        lanes=tuple(range(lanes)),
        later_rows=tuple(Row(lane, lane - 1) for lane in range(1, lanes)),
        places=tuple(Place(k, f" + {k}U" if k else "") for k in range(GROUP)),
    )
