"""Arrange rows as the tables of the C store them: blocks of interleaved lanes."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array


def as_blocks(rows: Float64Array, lanes: int) -> Float32Array:
    """Return rows as float32, shape (n_blocks, n, lanes); their number is a multiple of `lanes`."""
    blocks = rows.astype(np.float32).reshape(-1, lanes, rows.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks)
