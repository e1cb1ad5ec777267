"""Parameters of local machines by k'-internal cross-validation (Segata & Blanzieri 2009, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import pdist

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.covering import Covering
from kmcompile.training.neighbours import IndexArray, LocalKernel

_PAIRS_OF = 300
"""Distances are those between at most so many points of a neighbourhood."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The parameters to choose from, and how; the defaults are the paper's (section 5.2.1).

    Parameters
    ----------
    k : sequence of int
    C : sequence of float
    percentiles : sequence of float
        Of squared distances in a neighbourhood, for rbf kernels.
    n_centres : int
        m of Definition 5.
    n_folds : int
    """

    k: Sequence[int] = (500, 1000, 2000, 4000)
    C: Sequence[float] = (1.0, 4.0, 16.0, 64.0)
    percentiles: Sequence[float] = (1.0, 10.0, 50.0, 90.0)
    n_centres: int = 10
    n_folds: int = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """Chosen parameters.

    Parameters
    ----------
    k : int
    C : float
    percentile : float or None
        None if the kernel has no local width.
    error : float
        The mean share of wrong labels in the cross-validation.
    """

    k: int
    C: float
    percentile: float | None
    error: float


def select(
    data: tuple[Float64Array, IndexArray],
    coverings: Callable[[int], Covering],
    kernel: LocalKernel,
    grid: Grid,
    jobs: tuple[int | None, np.random.RandomState],
) -> Choice:
    """Return the parameters of the smallest mean error on random centres (Definition 5).

    Of equal errors the first in the order of the grid is chosen: smallest k, C, percentile.

    Parameters
    ----------
    data : tuple of ndarray of shape (n, n_features), float64, and (n,), int64
    coverings : callable
        Returns the covering for a k.
    kernel : LocalKernel
    grid : Grid
    jobs : tuple of int or None and RandomState
        joblib's number of jobs; the random numbers that choose centres and folds.
    """
    n_jobs, random = jobs
    best: Choice | None = None
    for k in grid.k:
        covering = coverings(k)
        m = min(grid.n_centres, len(covering.centres))
        centres = random.choice(len(covering.centres), m, replace=False)
        seeds = random.randint(np.iinfo(np.int32).max, size=m)
        tables = Parallel(n_jobs=n_jobs)(
            delayed(_errors)(data[0][rows], data[1][rows], covering.k_prime, kernel, grid, seed)
            for rows, seed in zip(covering.neighbourhoods[centres], seeds, strict=True)
        )
        mean = np.mean(tables, axis=0)
        at = int(mean.argmin())
        if best is None or mean.flat[at] < best.error:
            i, j = divmod(at, mean.shape[1])
            percentile = grid.percentiles[j] if kernel.kernel == "rbf" else None
            best = Choice(k, grid.C[i], percentile, float(mean.flat[at]))
    if best is None:
        raise ValueError("the grid of k is empty")
    return best


def local_gamma(X: Float64Array, percentile: float) -> float:
    """Return 1 / sigma with sigma the percentile of squared distances in a neighbourhood.

    Of a neighbourhood of many points those at equal steps of rank count. A percentile of 0, where
    points are equal, is replaced by the smallest distance above 0, or by 1.

    Parameters
    ----------
    X : ndarray of shape (k, n_features), float64
        Nearest first.
    percentile : float
    """
    if len(X) < 2:
        return 1.0
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), _PAIRS_OF)).astype(int))
    squared = pdist(X[rows], "sqeuclidean")
    sigma = np.percentile(squared, percentile)
    if sigma < np.finfo(np.float64).tiny:
        sigma = min(squared[squared > np.finfo(np.float64).tiny], default=1.0)
    return float(1.0 / sigma)


def _errors(
    X: Float64Array, y: IndexArray, k_prime: int, kernel: LocalKernel, grid: Grid, seed: int
) -> Float64Array:
    """Return the errors of a neighbourhood, shape (n_C, n_percentiles) (Definition 4)."""
    rbf = kernel.kernel == "rbf"
    gammas = [local_gamma(X, p) for p in grid.percentiles] if rbf else [kernel.gamma]
    errors = np.zeros((len(grid.C), len(gammas)))
    folds = list(_folds(len(X), k_prime, grid.n_folds, seed))
    for i, C in enumerate(grid.C):
        local = LocalKernel(kernel.kernel, C, kernel.gamma, kernel.degree, kernel.coef0)
        for j, gamma in enumerate(gammas):
            errors[i, j] = sum(_wrong(X, y, fold, local, gamma) for fold in folds) / k_prime
    return errors


def _folds(k: int, k_prime: int, n_folds: int, seed: int) -> Iterator[IndexArray]:
    inner = np.random.RandomState(seed).permutation(k_prime)
    return (inner[start::n_folds] for start in range(min(n_folds, k_prime)))


def _wrong(
    X: Float64Array, y: IndexArray, fold: IndexArray, kernel: LocalKernel, gamma: float
) -> int:
    rest = np.setdiff1d(np.arange(len(X)), fold)
    if len(rest) == 0:
        return len(fold)
    if (y[rest] == y[rest[0]]).all():
        return int((y[fold] != y[rest[0]]).sum())
    predicted = kernel.machine(gamma).fit(X[rest], y[rest]).predict(X[fold])
    return int((predicted != y[fold]).sum())
