"""The list of the vectors that are not 0 in a group of four features, with the steps to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TURN = 8
"""Number of entries of a sparse list in one iteration of the loop; lists are filled up to it."""

LONGEST_STEP = 255
"""Largest step from one vector of a sparse list to the next; longer steps need entries of zeros
between."""


def sparse_list(vectors: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the list of increasing vectors, -1 for padding, and the steps to them."""
    gaps = np.diff(vectors, prepend=0)
    between = np.maximum(gaps - 1, 0) // LONGEST_STEP
    ends = np.cumsum(between + 1)
    n = int(ends[-1]) if len(vectors) else 0
    slots = np.full(-(-n // TURN) * TURN, -1, dtype=np.int64)
    steps = np.full(len(slots), LONGEST_STEP, dtype=np.uint8)
    slots[ends - 1] = vectors
    steps[ends - 1] = gaps - LONGEST_STEP * between
    steps[n:] = 0
    return slots, steps
