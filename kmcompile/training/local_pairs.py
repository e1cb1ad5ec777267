"""The votes of a leaf's local pairs of classes (Segata & Blanzieri 2009, section 3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kmcompile.numeric.arrays import Float64Array
    from kmcompile.training.neighbours import IndexArray


def local_votes(
    values: Float64Array, dual_coef: Float64Array, intercept: Float64Array, counts: IndexArray
) -> IndexArray:
    """Return the votes of a leaf's pairs of classes, shape (n_queries, n_classes).

    The pair of classes i < j of the leaf has the decision value

        f(x) = sum over vectors s of i of dual_coef[j - 1, s] K(s, x)
             + sum over vectors s of j of dual_coef[i, s] K(s, x) + intercept,

    where i and j count the leaf's classes only, and f > 0 is a vote for i, otherwise for j.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_vectors), float64
        K(s, x), class by class.
    dual_coef : ndarray of shape (at least the leaf's classes - 1, n_vectors), float64
    intercept : ndarray of shape (n_pairs,), float64
        In the order (0, 1), (0, 2), ..., (1, 2), ...
    counts : ndarray of shape (n_classes,), int64
        Vectors of each class; 0 if the leaf does not have it.
    """
    votes = np.zeros((len(values), len(counts)), dtype=np.int64)
    present = np.flatnonzero(counts)
    ends = np.cumsum(counts[present])
    of_class = [slice(end - count, end) for end, count in zip(ends, counts[present], strict=True)]
    pairs = zip(*np.triu_indices(len(present), 1), strict=True)
    for (i, j), constant in zip(pairs, intercept, strict=True):
        first, second = of_class[i], of_class[j]
        decision = values[:, first] @ dual_coef[j - 1, first]
        decision += values[:, second] @ dual_coef[i, second] + constant
        votes[:, present[i]] += decision > 0
        votes[:, present[j]] += ~(decision > 0)
    return votes
