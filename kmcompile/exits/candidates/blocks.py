"""Rows as the tables of the C have them: blocks of lanes side by side."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array


def as_blocks(rows: Float64Array, lanes: int) -> Float32Array:
    """Return rows, a multiple of `lanes` of them, as float32 of shape (n_blocks, n, lanes)."""
    blocks = rows.astype(np.float32).reshape(-1, lanes, rows.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks)
