"""The order in which slots are touched: by score, or as a tug of war (NSV, section 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, magnitude


def by_score(
    score: Float32Array, slots: NDArray[np.intp], n: int | None = None
) -> NDArray[np.intp]:
    """Return the n slots with the largest scores, of equal ones the first, shape (n_queries, n).

    Parameters
    ----------
    score : ndarray of shape (n_queries, n_slots), float32
    slots : ndarray of shape (n_usable,), intp
        Those that may be touched, increasing.
    n : int, optional
        By default all.
    """
    order: NDArray[np.intp] = slots[np.argsort(-score[:, slots], axis=1, kind="stable")[:, :n]]
    return order


def tug_of_war(
    positive: NDArray[np.intp], negative: NDArray[np.intp], beta: Float32Array, n: int
) -> NDArray[np.intp]:
    """Merge the orders of vectors of both signs, shape (n_queries, n).

    The sums of the touched |beta| stay close.
    """
    n_queries = len(positive)
    rows = np.arange(n_queries)
    order = np.empty((n_queries, n), dtype=np.intp)
    taken = [np.zeros(n_queries, dtype=np.intp), np.zeros(n_queries, dtype=np.intp)]
    lead = np.zeros(n_queries, dtype=np.float32)  # sum of the positive minus sum of the negative
    for k in range(n):
        left = [taken[side] < part.shape[1] for side, part in enumerate((positive, negative))]
        heads = [
            part[rows, np.minimum(taken[side], part.shape[1] - 1)] if part.shape[1] else taken[side]
            for side, part in enumerate((positive, negative))
        ]
        up, down = lead + beta[heads[0]], lead - beta[heads[1]]
        take_positive = left[0] & (~left[1] | (magnitude(up) <= magnitude(down)))
        order[:, k] = np.where(take_positive, heads[0], heads[1])
        lead = np.where(take_positive, up, down)
        taken[0] += take_positive
        taken[1] += ~take_positive
    return order
