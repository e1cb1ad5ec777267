"""Lower integer support vectors to the table of their codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.lowering.codes import Coded
from kmcompile.lowering.sums import SignGroup
from kmcompile.stages.code_table import CodeTable

_WIDE = 1 << 32


def slot_order(groups: list[SignGroup], lanes: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the vector of every slot and which slots only fill up a block."""
    order, filled = [], []
    for group in groups:
        padding = -len(group.vectors) % lanes
        order.append(np.concatenate([group.vectors, np.repeat(group.vectors[-1:], padding)]))
        filled.append(np.arange(len(order[-1])) >= len(group.vectors))
    return np.concatenate(order), np.concatenate(filled)


def code_table(
    coded: Coded, order: NDArray[np.intp], filled: NDArray[np.bool_], sparse: bool
) -> CodeTable:
    """Return the table of the vectors in this order, in which fillings are 0.

    Sums have 32 bits where those are proved to be enough.
    """
    rounded = coded.codes
    codes = np.where(filled[:, None], 0, rounded[order])
    columns = np.flatnonzero(codes.any(axis=0)).astype(np.uint16)
    narrow = CodeTable(
        codes[:, columns],
        columns,
        rounded.shape[1],
        coded.width,
        coded.low,
        coded.high,
        False,
        sparse,
    )
    # One more than the largest distance may be a cutoff.
    fits = narrow.largest_product() < 1 << 31 and narrow.largest_distance() + 1 < _WIDE
    if fits:
        return narrow
    return CodeTable(
        narrow.codes, columns, narrow.n_features, coded.width, coded.low, coded.high, True, sparse
    )
