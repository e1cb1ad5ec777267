"""Pairs of classes of which a leaf has only some (Segata & Blanzieri 2009, section 3.3)."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.neighbours import IndexArray


def pair_numbers(classes: IndexArray, n_classes: int) -> IndexArray:
    """Return the numbers of the pairs of a leaf's ascending classes among all pairs."""
    number = np.zeros((n_classes, n_classes), dtype=np.int64)
    first, second = np.triu_indices(n_classes, 1)
    number[first, second] = np.arange(len(first))
    own: IndexArray = number[np.ix_(classes, classes)][np.triu_indices(len(classes), 1)]
    return own


def spread_rows(dual_coef: Float64Array, counts: IndexArray) -> Float64Array:
    """Return LIBSVM's coefficients with a row for each pair of a leaf's classes.

    Parameters
    ----------
    dual_coef : ndarray of shape (n_local - 1, n_vectors), float64
        In the pair of classes i < j, row j - 1 is that of the vectors of i, row i of those of j.
    counts : ndarray of shape (n_local,), int64
        Vectors of each class.

    Returns
    -------
    ndarray of shape (n_local (n_local - 1) / 2, n_vectors), float64
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    first, second = (part[:, None] for part in np.triu_indices(len(counts), 1))
    column = np.arange(dual_coef.shape[1])
    spread: Float64Array = np.where(owner == first, dual_coef[second - 1, column], 0.0)
    spread += np.where(owner == second, dual_coef[first, column], 0.0)
    return spread


def votes_of(decisions: Float64Array, n_classes: int) -> Float64Array:
    """Return the votes of all pairs, shape (n_queries, n_classes); f > 0 is one for the first."""
    votes = np.zeros((len(decisions), n_classes))
    pairs = zip(*np.triu_indices(n_classes, 1), strict=True)
    for decision, (first, second) in zip(decisions.T, pairs, strict=True):
        votes[:, first] += decision > 0
        votes[:, second] += ~(decision > 0)
    return votes
