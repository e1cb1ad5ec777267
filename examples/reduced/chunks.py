"""Any method, on some of the vectors at a time (RSS 2004, section 3.6)."""

from __future__ import annotations

import numpy as np
from problem import Method, Problem

from kmcompile.errors import UsageError
from kmcompile.numeric.arrays import Float64Array


def in_chunks(method: Method, size: int, rounds: int = 1) -> Method:
    """Return the method that applies another one to chunks of vectors, the rest fixed.

    It starts with the weights of the machine; in each chunk W less the other vectors is compressed.
    A chunk must be large enough to hold vectors that nearly depend on each other.

    Parameters
    ----------
    method : Method
    size : int
        Vectors of a chunk.
    rounds : int
        How many times all chunks are passed through.

    Raises
    ------
    UsageError
        The size is not positive.
    """
    if size < 1:
        raise UsageError(f"chunks of {size} vectors: must be 1 or more")

    def chunked(problem: Problem) -> Float64Array:
        weights = problem.start.copy()
        for _ in range(rounds):
            for first in range(0, len(weights), size):
                own = slice(first, first + size)
                gram = problem.gram[own, own]
                rest = problem.gram[own] @ weights - gram @ weights[own]
                products = problem.products[own] - rest
                weights[own] = method(Problem(gram, products, weights[own]))
        return weights

    return chunked


def pursuit_of(n: int) -> Method:
    """Return matching pursuit with backfitting to n vectors as a method, by eq. 13."""

    def pursued(problem: Problem) -> Float64Array:
        weights = np.zeros_like(problem.products)
        rows: list[int] = []
        left = problem.products.copy()
        for _ in range(min(n, len(weights))):
            gains = (left**2).sum(axis=1)
            gains[rows] = 0.0
            rows.append(int(gains.argmax()))
            gram = problem.gram[np.ix_(rows, rows)]
            best = np.linalg.lstsq(gram, problem.products[rows], rcond=1e-12)[0]
            left = problem.products - problem.gram[:, rows] @ best
        if rows:
            weights[rows] = best
        return weights

    return pursued
