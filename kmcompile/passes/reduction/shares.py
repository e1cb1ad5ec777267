"""How many vectors each leaf of a routed machine gets of all that a reduced machine has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.selection import Selection


def errors_left(chosen: Selection) -> Float64Array:
    """Return the largest |W_p - W^_p| of a decision after 0, 1, ... vectors of a selection.

    Returns
    -------
    ndarray of shape (len(chosen) + 1,), float64
        Never growing.
    """
    left = chosen.squares.copy()
    errors = [left.max()]
    taken = np.zeros((len(chosen), len(left)))
    for basis in chosen.bases:
        taken[np.ix_(basis.places, basis.pool.decisions)] += basis.weights**2
    for own in taken:
        left = left - own
        errors.append(max(float(left.max()), 0.0))
    return np.minimum.accumulate(np.sqrt(errors))


def shared_out(errors: Sequence[Float64Array], n: int) -> NDArray[np.int64]:
    """Return how many vectors each leaf gets, so that the largest error left is the smallest.

    One after the other, the vectors go to the leaf with the largest error. Leaves whose decisions
    are nearly constant thus get few vectors or none.

    Parameters
    ----------
    errors : sequence of ndarray of shape (n_l + 1,), float64
        Of each leaf the error after 0, 1, ..., n_l vectors, never growing. It gets at most n_l.
    n : int
        Vectors of all leaves together.

    Returns
    -------
    ndarray of shape (n_leaves,), int64
        Their sum is n, or less if all leaves have as many as they can.

    Examples
    --------
    >>> shared_out([np.array([9.0, 4.0, 1.0, 0.0]), np.array([3.0, 2.0])], 3).tolist()
    [2, 1]
    """
    before = np.concatenate([own[:-1] for own in errors])
    leaf = np.repeat(np.arange(len(errors)), [len(own) - 1 for own in errors])
    largest = np.argsort(-before, kind="stable")[:n]
    counts: NDArray[np.int64] = np.bincount(leaf[largest], minlength=len(errors))
    return counts
