"""Pairs of classes of which a leaf of a routed machine has only some."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array


def settled_decisions(present: NDArray[np.bool_]) -> Float64Array:
    """Return the decisions of all pairs of classes that a leaf's classes settle, shape (n_pairs,).

    The pairs i < j are in the order (0, 1), (0, 2), ..., (1, 2), ... A pair of which the leaf has
    one class is won by this class: 1 if it is i, otherwise -1. A pair of which the leaf has
    neither is 1. The leaf's own pairs have to be put in their places. Then the votes of all pairs
    have the same winner as those of the leaf's own pairs: each class of the leaf has as many votes
    more as there are other classes, and these have fewer.

    Parameters
    ----------
    present : ndarray of shape (n_classes,), bool
        Which classes the leaf has.
    """
    first, second = np.triu_indices(len(present), 1)
    settled: Float64Array = np.where(present[second] & ~present[first], -1.0, 1.0)
    return settled
