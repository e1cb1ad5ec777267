"""Search for lists of free vectors whose kernels decide early (DeCoste 2001, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.vectors.free import SEARCHES, free_vectors
from kmcompile.exits.certified.vectors.refine import EVALUATIONS, NestedCost, refine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array

_SEED = 20010628
_MOST_SAMPLES = 400

_TRIAL = 16
_HOPELESS = 0.87
"""Largest mean number of kernels after the first `_TRIAL` vectors, as a share of the number of
support vectors. Where it is larger, longer lists have not paid on any machine that was tried."""

_PRODUCT_WEIGHT = 4
_VALUE_WEIGHT = 40
"""Operations of a kernel value and its derivative: four products, and the memory they go through
and the exponential as so many multiply-adds."""


def refined_lists(
    normals: Normals,
    intercept: Float64Array,
    samples: Float64Array,
    lengths: Sequence[int],
    budget: SearchBudget,
    relevant: Callable[[Float64Array], NDArray[np.bool_]] | None = None,
) -> Iterator[Float64Array]:
    """Yield lists of refined free vectors, each longer than the one before.

    A list begins with the list before it and with free vectors for what that list leaves of the
    normals; then all its vectors are moved together (`refine`). The search ends early

    - where the first lists show that no list pays (`_HOPELESS`);
    - where the samples need fewer kernels than the list has, so that a longer list saves little;
    - where the budget is spent.

    Parameters
    ----------
    normals : Normals
    intercept : ndarray of shape (n_decisions,), float64
    samples : ndarray of shape (n_samples, n_features), float64
        Prepared inputs. They guide the search; at most 400 of them are used.
    lengths : sequence of int
        Increasing numbers of vectors.
    budget : SearchBudget
    relevant : callable, optional
        Returns which decisions count for each sample, given the decisions' values.
    """
    cost = _cost(normals, intercept, samples, relevant)
    if cost is None:
        return
    m, trial = len(normals.vectors), _trial(normals)
    vectors = np.zeros((0, normals.vectors.shape[1]))
    for number, n in enumerate(lengths, start=1):
        operations = _operations(cost, n)
        if not budget.allows(operations=operations):
            if len(vectors):
                budget.ended(f"{len(vectors)} vectors")
            else:
                budget.left_out()
            return
        budget.spend(operations)
        budget.tell(f"{n} vectors, list {number} of {len(lengths)} at most")
        start = free_vectors(normals, n, _SEED, vectors)
        if not len(start):
            return
        vectors = refine(cost, start)
        yield vectors
        kernels, _ = cost(vectors)
        if len(start) < n or kernels <= n or (n >= trial and kernels > _HOPELESS * m):
            return


def _cost(
    normals: Normals,
    intercept: Float64Array,
    samples: Float64Array,
    relevant: Callable[[Float64Array], NDArray[np.bool_]] | None,
) -> NestedCost | None:
    """Return the cost of vectors on samples with a clear sign, or None if there are none."""
    order = np.random.default_rng(_SEED).permutation(len(samples))
    X = samples[np.sort(order[:_MOST_SAMPLES])]
    f = normals.product(X) + intercept
    clear = (f != 0).all(axis=1)
    if not clear.any():
        return None
    counts = None if relevant is None else relevant(f[clear])
    return NestedCost(normals, X[clear], f[clear], intercept, counts)


def _trial(normals: Normals) -> int:
    """Return after how many vectors the search may end because no list pays.

    A polynomial of degree 2 is a quadratic form in n_features + 1 variables: the eigenvectors of
    the form, as many, leave nothing of the normal. Fewer vectors say little.
    """
    kernel = normals.kernel
    if kernel.is_polynomial and kernel.polynomial.degree == 2:
        n_features = int(normals.vectors.shape[1])
        return max(_TRIAL, n_features + 1)
    return _TRIAL


def _operations(cost: NestedCost, n: int) -> float:
    """Return the multiply-adds of the search of n vectors, weighted by their time."""
    m, n_features = cost.normals.vectors.shape
    n_samples, n_decisions = cost.f.shape
    per_value = _PRODUCT_WEIGHT * n_features + _VALUE_WEIGHT
    free = SEARCHES * (m + n) * per_value
    together = EVALUATIONS * (
        (m + n_samples + n) * per_value + (m + n + 20 * n_samples) * n_decisions
    )
    return float(n * (free + together))
