"""Fit the early exits that the chooser compares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmcompile.calibrate.fit_points import fit_points
from kmcompile.calibrate.linear import linear_filter
from kmcompile.calibrate.nearest import nearest_vectors
from kmcompile.calibrate.reduced_set import fit_reduced_set
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.ir.ends import Ends
from kmcompile.stages import EarlyExit, ExactSum

_REDUCED_SIZES = ((3, 16), (5, 40), (8, 60), (12, 100))
"""Dimensions and vectors of the reduced sets that are tried."""

_LEAST_POINTS, _MOST_POINTS = 3000, 12000
""" For fitting them."""

_LEVELS = ((20,), (10, 20, 40))
"""Dimensions of the projections of nearest vectors that are tried, of each level."""

_STEPS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
_TOUCHED_SHARE = 0.25
"""Share of the vectors that is touched at most: beyond it the exact sum is as cheap."""


def fit_stages(
    ends: Ends,
    x: Float32Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    skip_zeros: bool,
    n_jobs: int | None,
) -> list[tuple[EarlyExit, str]]:
    """Return early exits with bands that decide nothing, and what each is.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples of the shape part.
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        The samples that a decision is about.
    n_jobs : int or None
        Of joblib; the stages are the same for any number.
    """
    exact = ends.exact
    assert isinstance(exact, ExactSum)
    points, targets = fit_points(exact, x, _LEAST_POINTS, _MOST_POINTS)
    about = np.ones(targets.shape, dtype=bool)
    about[: len(x)] = relevant
    jobs = [
        (linear_filter, (x, decisions, relevant, skip_zeros), "linear_filter"),
        *(
            (
                fit_reduced_set,
                (points, targets, about, p, c, exact.lanes, skip_zeros),
                f"reduced_set({c} vectors in {p} dimensions)",
            )
            for p, c in _reduced_sizes(exact)
        ),
        *(
            (
                nearest_vectors,
                (exact, levels, _steps(exact), skip_zeros, np.inf),
                f"nearest_vectors(PCA {' -> '.join(map(str, levels))})",
            )
            for levels in _levels(exact)
        ),
    ]
    stages = Parallel(n_jobs=n_jobs)(delayed(_alone)(fit, arguments) for fit, arguments, _ in jobs)
    return [(stage, text) for stage, (_, _, text) in zip(stages, jobs, strict=True)]


def _alone(fit, arguments) -> EarlyExit:
    with threadpool_limits(1):
        return fit(*arguments)


def _reduced_sizes(exact: ExactSum) -> Iterator[tuple[int, int]]:
    for p, c in _REDUCED_SIZES:
        if c < exact.n_vectors:
            yield min(p, exact.n_features), c


def _levels(exact: ExactSum) -> Iterator[tuple[int, ...]]:
    for levels in _LEVELS:
        if levels[-1] <= exact.n_features // 2:
            yield levels


def _steps(exact: ExactSum) -> NDArray[np.int64]:
    steps = np.array(_STEPS)
    return steps[steps <= _TOUCHED_SHARE * exact.n_vectors]
