"""Inputs at the limits of a program's monitor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, prepared
from kmcompile.program.program import Program

_SEED = 20261126
_PAIRS = 16
_BISECTIONS = 60


def monitor_inputs(program: Program, pool: Float32Array) -> tuple[Float32Array, tuple[str, ...]]:
    """Return neighbours in float32 that the monitor parts, and a note.

    Parameters
    ----------
    program : Program
        A program with a monitor.
    pool : ndarray of shape (n, n_features), float32
        Inputs to begin with; noise in their range is added.

    Returns
    -------
    inputs : ndarray of shape (n_inputs, n_features), float32
    notes : tuple of str
    """
    rng = np.random.default_rng(_SEED)
    low, high = pool.min(axis=0), pool.max(axis=0)
    noise = rng.uniform(low, high, size=(_PAIRS, len(low))).astype(np.float32)
    pool = np.concatenate([pool, noise])
    found = _found(program, pool)
    usual, strange = (np.flatnonzero(found == kind) for kind in (1, 0))
    if not len(usual) or not len(strange):
        return pool[:0], ("monitor: no neighbours found that it parts",)
    a, b = pool[rng.choice(usual, _PAIRS)], pool[rng.choice(strange, _PAIRS)]
    for _ in range(_BISECTIONS):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        same = (_found(program, middle) == 1)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate([a, b]), (f"monitor: {_PAIRS} pairs of neighbours that it parts",)


def _found(program: Program, X: Float32Array) -> NDArray[np.int8]:
    """Return 1 for each input that the monitor finds usual, 0 for others, -1 where refused."""
    status, batch = prepared(program, X)
    found = np.full(len(X), -1, dtype=np.int8)
    assert program.monitor is not None
    found[status == Status.OK] = program.monitor.finds_usual(batch)
    return found
