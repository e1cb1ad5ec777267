"""Fit the early exits that the chooser compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmcompile.exits.statistical.bands import near_boundary
from kmcompile.exits.statistical.fit_points import FitPoints, of_samples, with_vectors
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.reduced_set import Size, fit_reduced_set
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import EarlyExit, ExactSum, FixedSum
from kmcompile.program.stages.ends import Ends

_SIZES = ((3, 12, 20), (5, 32, 7), (8, 60, 1), (12, 100, 1), (12, 200, 1))
"""Dimensions, vectors and share of the features (one in so many) of the reduced sets tried."""

_FEW_FEATURES = 100
"""Below, a reduced set looks at all of them."""

_LEVELS = ((12,), (16,), (24,), (32,), (10, 20, 40))
"""Dimensions of the projections of nearest vectors that are tried, of each level."""

_STEPS = (8, 32, 96, 256, 768, 2048)
_TOUCHED_SHARE = 0.75
"""Share of the vectors that is touched at most."""

_PROBE = Size(8, 60, None, 80)
_PROBE_SHARE = 5
_MARGINS = (1.0, 2.0)

_Result = TypeVar("_Result")


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
    assert isinstance(exact, ExactSum | FixedSum)
    with threadpool_limits(1):
        points, margin = _points(exact, x, decisions, relevant, n_jobs)
    jobs: list[tuple[Callable[..., EarlyExit], tuple[Any, ...], str]] = [
        (linear_filter, (x, decisions, relevant, skip_zeros), "linear_filter")
    ]
    jobs += [
        (fit_reduced_set, (points, size, margin, exact.lanes, skip_zeros), str(size))
        for size in _sizes(exact)
    ]
    jobs += [
        (
            nearest_vectors,
            (exact, levels, _steps(exact), skip_zeros, np.inf),
            f"nearest_vectors(PCA {' -> '.join(map(str, levels))})",
        )
        for levels in _LEVELS
        # They compute kernels of the exact sum, in float32, and guess them from projections.
        if not ends.in_integers and exact.kernel.projects and levels[-1] <= exact.n_features // 2
    ]
    stages = _each([(fit, arguments) for fit, arguments, _ in jobs], n_jobs)
    named = zip(stages, (text for _, _, text in jobs), strict=True)
    return [(stage, text) for stage, text in named if stage is not None and fits(stage)]


def _each(
    jobs: list[tuple[Callable[..., _Result], tuple[Any, ...]]], n_jobs: int | None
) -> list[_Result | None]:
    """Return what the jobs give.

    In threads, unless joblib is configured otherwise: nearly all time is spent in numpy, outside
    the interpreter's lock, and nothing is copied.
    """
    with threadpool_limits(1):
        done = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_alone)(fit, arguments) for fit, arguments in jobs
        )
    return list(done)


def _alone(fit: Callable[..., _Result], arguments: tuple[Any, ...]) -> _Result | None:
    """Return what a fit gives with one thread: the sums of a matrix product depend on them.

    None where the samples do not determine it.
    """
    with threadpool_limits(1):
        try:
            return fit(*arguments)
        except np.linalg.LinAlgError:
            return None


def _points(
    exact: ExactSum | FixedSum,
    x: Float32Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    n_jobs: int | None,
) -> tuple[FitPoints, float]:
    """Return the points to fit to and the margin: what gives a small fit the least error.

    With the support vectors or without, and decisions clipped to the machine's margin or to
    twice that.
    """
    n_probe = len(x) // _PROBE_SHARE
    kept, probe = slice(n_probe, None), slice(n_probe)
    fewer = of_samples(exact, x[kept], decisions[kept], relevant[kept])
    points = {False: fewer}
    more = with_vectors(exact, fewer)
    if more is not fewer:
        points[True] = more
    choices = [(vectors, margin) for vectors in points for margin in _MARGINS]
    probes = _each(
        [
            (fit_reduced_set, (points[vectors], _PROBE, margin, exact.lanes, False))
            for vectors, margin in choices
        ],
        n_jobs,
    )
    best, chosen = np.inf, choices[0]
    for choice, stage in zip(choices, probes, strict=True):
        if stage is None:
            continue
        error = decisions[probe] - stage.rows(stage.products.of(x[probe]))[:, :-1]
        near = [
            error[near_boundary(decisions[probe, p], relevant[probe, p]), p]
            for p in range(decisions.shape[1])
        ]
        errors = np.concatenate(near)
        if len(errors) and (size := float(errors.std())) < best:
            best, chosen = size, choice
    everything = of_samples(exact, x, decisions, relevant)
    return (with_vectors(exact, everything) if chosen[0] else everything), chosen[1]


def _sizes(exact: ExactSum | FixedSum) -> Iterator[Size]:
    n = exact.n_features
    seen = set()
    for n_out, n_vectors, share in _SIZES:
        columns = None if share == 1 or n < _FEW_FEATURES else max(n_out, n // share)
        size = Size(min(n_out, n), n_vectors, columns)
        if size not in seen:
            seen.add(size)
            yield size


def _steps(exact: ExactSum | FixedSum) -> NDArray[np.int64]:
    steps = np.array(_STEPS)
    return steps[steps <= _TOUCHED_SHARE * exact.n_vectors]
