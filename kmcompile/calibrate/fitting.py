"""Fit the early exits that the chooser compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmcompile.calibrate.bands import near_boundary
from kmcompile.calibrate.fit_points import FitPoints, of_samples, with_vectors
from kmcompile.calibrate.linear import linear_filter
from kmcompile.calibrate.nearest import nearest_vectors
from kmcompile.calibrate.reduced_set import Size, fit_reduced_set
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.ir.ends import Ends
from kmcompile.stages import EarlyExit, ExactSum

_SIZES = ((3, 12, 20), (5, 32, 7), (8, 60, 1), (12, 100, 1), (12, 200, 1))
"""Dimensions, vectors and share of the features (one in so many) of the reduced sets tried."""

_FEW_FEATURES = 100
"""Below, a reduced set looks at all of them."""

_LEVELS = ((12,), (16,), (24,), (32,), (10, 20, 40))
"""Dimensions of the projections of nearest vectors that are tried, of each level."""

_STEPS = (4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
_TOUCHED_SHARE = 0.75
"""Share of the vectors that is touched at most."""

_PROBE = Size(5, 32, None, 60)
_PROBE_SHARE = 5


def fit_stages(
    ends: Ends,
    x: Float32Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    skip_zeros: bool,
    n_jobs: int | None,
    fits: Callable[[EarlyExit], bool],
) -> list[tuple[EarlyExit, str]]:
    """Return early exits with bands that decide nothing, and what each is.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples of the shape part.
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        The samples that a decision is about.
    skip_zeros : bool
    n_jobs : int or None
        Of joblib; the stages are the same for any number.
    fits : callable
        Whether there is room for a stage.
    """
    exact = ends.exact
    assert isinstance(exact, ExactSum)
    with threadpool_limits(1):
        points = _points(exact, x, decisions, relevant)
    jobs: list[tuple[Callable[..., EarlyExit], tuple[Any, ...], str]] = [
        (linear_filter, (x, decisions, relevant, skip_zeros), "linear_filter")
    ]
    jobs += [
        (fit_reduced_set, (points, size, exact.lanes, skip_zeros), str(size))
        for size in _sizes(exact)
    ]
    jobs += [
        (
            nearest_vectors,
            (exact, levels, _steps(exact), skip_zeros, np.inf),
            f"nearest_vectors(PCA {' -> '.join(map(str, levels))})",
        )
        for levels in _LEVELS
        if levels[-1] <= exact.n_features // 2
    ]
    stages = Parallel(n_jobs=n_jobs)(delayed(_alone)(fit, arguments) for fit, arguments, _ in jobs)
    named = zip(stages, (text for _, _, text in jobs), strict=True)
    return [(stage, text) for stage, text in named if fits(stage)]


def _alone(fit: Callable[..., EarlyExit], arguments: tuple[Any, ...]) -> EarlyExit:
    """Return what a fit gives with one thread: the sums of a matrix product depend on them."""
    with threadpool_limits(1):
        return fit(*arguments)


def _points(
    exact: ExactSum, x: Float32Array, decisions: Float64Array, relevant: NDArray[np.bool_]
) -> FitPoints:
    """Return the points to fit to: with the support vectors if a small fit is better for them."""
    n_probe = len(x) // _PROBE_SHARE
    kept, probe = slice(n_probe, None), slice(n_probe)
    fewer = of_samples(exact, x[kept], decisions[kept], relevant[kept])
    errors = []
    for points in (fewer, with_vectors(exact, fewer)):
        stage = fit_reduced_set(points, _PROBE, exact.lanes, skip_zeros=False)
        estimate = stage.rows(stage.products.of(x[probe]))[:, :-1]
        error = decisions[probe] - estimate
        near = [
            error[near_boundary(decisions[probe, p], relevant[probe, p]), p]
            for p in range(decisions.shape[1])
        ]
        errors.append(float(np.concatenate(near).std()))
    points = of_samples(exact, x, decisions, relevant)
    return with_vectors(exact, points) if errors[1] < errors[0] else points


def _sizes(exact: ExactSum) -> Iterator[Size]:
    n = exact.n_features
    seen = set()
    for n_out, n_vectors, share in _SIZES:
        columns = None if share == 1 or n < _FEW_FEATURES else max(n_out, n // share)
        size = Size(min(n_out, n), n_vectors, columns)
        if size not in seen:
            seen.add(size)
            yield size


def _steps(exact: ExactSum) -> NDArray[np.int64]:
    steps = np.array(_STEPS)
    return steps[steps <= _TOUCHED_SHARE * exact.n_vectors]
