"""Codes beside float queries: the inputs of the code entry of an integer format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, check
from kmcompile.program.program import Program
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.code_table import CodeTable

_SEED = 20030704


def codes_beside(program: Program, X: Float32Array) -> NDArray[np.int64]:
    """Return one input of codes for every float input, of a program in an integer format.

    An input that the float entry accepts gets its codes. The other inputs get codes at the edges:
    all least, all largest, both in turn, random codes, and one feature below the least or above the
    largest code if the type holds such a number.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_queries, n_features), float32
    """
    table, quantize = program.codes, program.prepare.quantize
    assert table is not None and quantize is not None
    checked = np.flatnonzero(check(X, program.prepare.limit) == Status.OK)
    batch = program.prepare.run(Batch.of(np.ascontiguousarray(X[checked]), program.n_decisions))
    kept = ~program.prepare.beyond(batch)
    codes = np.zeros(X.shape, dtype=np.int64)
    refused = np.ones(len(X), dtype=bool)
    refused[checked[kept]] = False
    codes[~refused] = (batch.x[kept] * quantize.per_unit).astype(np.int64)
    codes[refused] = edge_codes(table, int(refused.sum()))
    return codes


def edge_codes(table: CodeTable | CodeRange, n: int) -> NDArray[np.int64]:
    """Return inputs at the edges of what the code entry accepts, and beyond them.

    Returns
    -------
    ndarray of shape (n, n_features), int64
        The codes, within the range of the C type.
    """
    rng = np.random.default_rng(_SEED)
    limits = np.iinfo(table.width)
    d = table.n_features
    random = rng.integers(table.low, table.high + 1, size=(n, d))
    below, above = random.copy(), random.copy()
    rows = np.arange(n)
    below[rows, rows // 6 % d] = max(table.low - 1, limits.min)
    above[rows, rows // 6 % d] = min(table.high + 1, limits.max)
    in_turn = np.where(np.arange(d) % 2, table.low, table.high) * np.ones((n, 1), dtype=np.int64)
    kinds = np.stack(
        [np.full((n, d), table.low), np.full((n, d), table.high), in_turn, random, below, above]
    )
    edges: NDArray[np.int64] = kinds[rows % len(kinds), rows]
    return edges


def query_words(X: Float32Array, codes: NDArray[np.int64] | None) -> NDArray[np.uint32]:
    """Return the words of the harness's queries: floats and, in an integer format, codes."""
    words = np.ascontiguousarray(X).view(np.uint32)
    if codes is None:
        return words
    return np.hstack([words, codes.astype(np.int32).view(np.uint32)])
