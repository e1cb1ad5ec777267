"""Lowering of integer support vectors to a table of codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.lower.codes import Coded
from kmcompile.lower.sums import SignGroup
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.code_table import (
    BYTES,
    CHUNKS,
    COLUMNS,
    FOURS,
    GROUP,
    ROWS,
    SPARSE,
    CodeTable,
)
from kmcompile.target import Target

_MOST_COMPARISONS = 1 << 32
"""Largest number of comparisons of features for grouping them, which take some seconds."""

_LEAST_ZEROS = 0.25
"""Share of zeros among the codes below which a sparse table is not tried: its loop also has a step
for each group of four codes."""

_SPARSE_COST = {COLUMNS: 2.0, FOURS: 2.0, CHUNKS: 6.0, ROWS: 8.0, BYTES: 8.0}
"""Instructions of a multiply-add in a sparse table, relative to a dense one; measured."""

_LANES = 4
"""Vectors in a block of integers on targets that sum floats one vector at a time."""


def code_lanes(target: Target) -> int:
    """Return the number of vectors in a block of an integer format."""
    return max(_LANES, target.lanes)


def slot_order(groups: list[SignGroup], lanes: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the vector of each slot of the table, and which slots only fill up a block."""
    order, filled = [], []
    for group in groups:
        padding = -len(group.vectors) % lanes
        order.append(np.concatenate([group.vectors, np.repeat(group.vectors[-1:], padding)]))
        filled.append(np.arange(len(order[-1])) >= len(group.vectors))
    return np.concatenate(order), np.concatenate(filled)


def code_table(
    coded: Coded,
    order: NDArray[np.intp],
    filled: NDArray[np.bool_],
    layout: str,
    lanes: int,
    of_any: bool = False,
) -> CodeTable:
    """Return the table of the codes of the vectors in this order, with 0 in filled slots.

    Sums have 32 bits if no sum can exceed them, otherwise 64: no sum of these vectors or, with
    `of_any`, of any vectors of this type of codes. Then all features are stored, too.
    """
    codes = np.where(filled[:, None], 0, coded.codes[order])
    if not of_any:
        return _table(coded, codes, layout, lanes)
    table = _of_columns(coded, codes, np.arange(codes.shape[1]), layout, lanes)
    return replace(table, wide=not table.any_fits_words())


def _of_columns(
    coded: Coded, codes: NDArray[np.int64], columns: NDArray[np.intp], layout: str, lanes: int
) -> CodeTable:
    """Return the table of some features."""
    of_inputs = CodeRange(codes.shape[1], coded.width, coded.low, coded.high)
    return CodeTable(
        codes=codes[:, columns],
        columns=columns.astype(np.uint32),
        n_features=of_inputs.n_features,
        width=coded.width,
        low=coded.low,
        high=coded.high,
        wide=not of_inputs.fits_words(codes[:, columns]),
        layout=layout,
        lanes=lanes,
    )


def _table(coded: Coded, codes: NDArray[np.int64], layout: str, lanes: int) -> CodeTable:
    # At least one feature is stored, even if all vectors are 0.
    columns = np.flatnonzero(codes.any(axis=0) if codes.any() else [True])
    if layout == SPARSE:
        columns = columns[alike_features(codes[:, columns] != 0)]
    return _of_columns(coded, codes, columns, layout, lanes)


def sparse_is_better(coded: Coded, target: Target, inputs: Float32Array) -> bool:
    """Return whether a sparse table of codes suits the target better than a dense table.

    A sparse table leaves out the groups of four codes that are all 0. If the target's flash is
    limited, half the bytes count as much as twice the instructions.

    Parameters
    ----------
    coded : Coded
    target : Target
    inputs : ndarray of shape (n, n_features), float32
        Raw ordinary inputs.
    """
    padded = np.pad(coded.codes, ((0, -len(coded.codes) % code_lanes(target)), (0, 0)))
    dense = _table(coded, padded, target.code_layout, code_lanes(target))
    if not (dense.codes == 0).mean() > _LEAST_ZEROS:
        return False
    sparse = _table(coded, padded, SPARSE, code_lanes(target))
    scaled = (inputs.astype(np.float64) - coded.scale.offset) / coded.scale.step
    x = np.clip(np.rint(scaled), coded.low, coded.high).astype(np.int64)
    visited = max(1.0, float(sparse.operations_of(x).mean()))
    gain = dense.operations() / (_SPARSE_COST[target.code_layout] * visited)
    if target.flash_bytes is not None:
        gain *= _bytes(dense) / _bytes(sparse)
    return gain > 1


def _bytes(table: CodeTable) -> int:
    return sum(each.n_bytes for each in table.tables())


def alike_features(nonzero: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return an order of the features that puts features of equal zeros into one group of four.

    The feature with the fewest nonzeros begins a group. The features join it that are nonzero in
    most of its vectors and in the fewest others. A sparse table of this order stores fewer groups
    of four: 8 % fewer for images of digits.

    Parameters
    ----------
    nonzero : ndarray of shape (n_slots, n_used), bool
    """
    by_rarity = np.argsort(nonzero.sum(axis=0), kind="stable")
    if nonzero.shape[1] * nonzero.size > _MOST_COMPARISONS:
        return np.arange(nonzero.shape[1])
    of_feature = nonzero.T.astype(np.float32)
    count = of_feature.sum(axis=1)
    left, order = by_rarity, []
    while len(left):
        four, left = [left[0]], left[1:]
        shared = of_feature[four[0]]
        while len(left) and len(four) < GROUP:
            # Vectors that the feature adds to the group, less the vectors that it shares.
            growth = count[left] - 2 * (of_feature[left] @ shared)
            best = int(np.argmin(growth))
            four.append(left[best])
            shared = np.maximum(shared, of_feature[left[best]])
            left = np.delete(left, best)
        order += four
    return np.array(order, dtype=np.intp)
