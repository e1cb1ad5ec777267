"""Points that a reduced set is fitted to: samples, support vectors, points made of near ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.nearest import totals
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

_SEED = 20021128
_LEAST_POINTS, _MOST_POINTS = 2000, 12000
_FILLED = 2
"""Fewer samples than the least points are filled up to this multiple of it."""

_NEIGHBOURS = 30
"""Candidates among which the nearest to a point is taken."""

_MOST_VECTORS = 4000
_RIDGE = 1e-6
_BLOCK_VALUES = 1 << 22
_POINT_BYTES = 100_000_000
"""Most bytes of the points' features: a few sets of points and copies of one exist at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class FitPoints:
    """Prepared points with the machine's decisions there.

    Parameters
    ----------
    x : ndarray of shape (n_points, n_features), float64
    decisions : ndarray of shape (n_points, n_decisions), float64
    magnitudes : ndarray of shape (n_points,), float64
        Sum of the terms' magnitudes, sum_i max_p |beta_pi| |K_i|.
    relevant : ndarray of shape (n_points, n_decisions), bool
        For each decision, the points of its pair's two classes; other points do not count.
    """

    x: Float64Array
    decisions: Float64Array
    magnitudes: Float64Array
    relevant: NDArray[np.bool_]

    def joined(self, others: FitPoints) -> FitPoints:
        """Return these points and others behind them."""
        names = ("x", "decisions", "magnitudes", "relevant")
        return FitPoints(*(np.concatenate([getattr(p, n) for p in (self, others)]) for n in names))


def of_samples(
    exact: GroupedSum,
    x: Float32Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    least: int | None = None,
) -> FitPoints:
    """Return the samples as points, with shifted samples if there are few.

    The machine has a decision everywhere, so a shifted sample is as good as a sample. Samples of
    one common length are shifted on the sphere of this length.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples.
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
    least : int, optional
        Fewest points; by default 4,000 if there are fewer than 2,000 samples.
    """
    points = x[: most_points(x.shape[1])].astype(np.float64)
    n = len(points)
    own = FitPoints(points, decisions[:n], _sums(exact, points)[1], relevant[:n])
    if least is None:
        least = _FILLED * _LEAST_POINTS if n < _LEAST_POINTS else 0
    return with_made(exact, own, least, shifted=True)


def most_points(n_features: int) -> int:
    """Return the largest number of points; with many features it is smaller."""
    within = _POINT_BYTES // (8 * n_features)
    return int(np.clip(within, _LEAST_POINTS, _MOST_POINTS))


def points_left_out(n_samples: int, n_features: int) -> tuple[str, ...]:
    """Return a note if memory allows fewer samples than reduced sets could be fitted to.

    Examples
    --------
    >>> points_left_out(20_000, 784)
    ()
    >>> print(*points_left_out(20_000, 2_500))
    reduced sets are fitted to 5,000 of 20,000 samples: more would take too much memory
    """
    most = most_points(n_features)
    if most >= min(n_samples, _MOST_POINTS):
        return ()
    return (
        f"reduced sets are fitted to {most:,} of {n_samples:,} samples: more would take too much "
        "memory",
    )


def with_vectors(exact: GroupedSum, points: FitPoints) -> FitPoints:
    """Return the points and the support vectors, each vector as if it had not been trained on.

    As many vectors are added as there is room for. Beside very many points none are added, and the
    points are returned unchanged.

    Without vector i the machine's decision at s_i is about f(s_i) - beta_i S_i^2. S_i^2, the
    squared distance of phi(s_i) from the span of the other vectors, is 1 / (K^-1)_ii [1]_. A
    vector's own decision, with its own term, would mislead the fit: no other point has such a term.

    References
    ----------
    .. [1] V. Vapnik and O. Chapelle, "Bounds on error expectation for support vector machines",
       Neural Computation 12, 2000.
    """
    beta = exact.slot_decisions()
    room = max(0, most_points(points.x.shape[1]) - len(points.x))
    slots = np.flatnonzero((beta != 0).any(axis=1))[:room]
    if len(slots) > _MOST_VECTORS:
        slots = np.random.default_rng(_SEED).permutation(slots)[:_MOST_VECTORS]
    if not len(slots):
        return points
    vectors = exact.columns().T[slots].astype(np.float64)
    decisions, magnitudes = _sums(exact, vectors)
    gram = _values(exact, vectors, vectors)
    gram = gram + gram.T
    gram /= 2
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram)
    # With a kernel that is not positive definite, such as sigmoid, it may be negative.
    span = np.maximum(1 / np.diag(np.linalg.inv(gram)), 0.0)
    decisions -= beta[slots] * span[:, None]
    return points.joined(FitPoints(vectors, decisions, magnitudes, beta[slots] != 0))


def with_made(exact: GroupedSum, points: FitPoints, least: int, shifted: bool = False) -> FitPoints:
    """Return the points and made ones: at least `least` in all, if memory allows.

    Made points are mixtures of two near points, or with `shifted` points moved by the difference
    of two other near ones. Those have the variety of samples: mixtures lie between them.
    """
    n = len(points.x)
    made = _made(points.x, max(0, min(least, most_points(points.x.shape[1])) - n), shifted)
    decisions, magnitudes = _sums(exact, made)
    relevant = np.ones(decisions.shape, dtype=bool)
    return points.joined(FitPoints(made, decisions, magnitudes, relevant))


def _values(exact: GroupedSum, points: Float64Array, vectors: Float64Array) -> Float64Array:
    """Return K(vectors, points), shape (n_points, n_vectors)."""
    kernel = exact.kernel
    assert kernel is not None  # a sum over vectors has one
    if kernel.projects:
        total = totals(kernel.uses_distance, points, vectors)
    else:
        total = np.zeros((len(points), len(vectors)))
        for x, s in zip(points.T, vectors.T, strict=True):
            kernel.accumulate(total, x[:, None], s)
    return kernel.value(total.astype(np.float32)).astype(np.float64)


def _made(points: Float64Array, n: int, shifted: bool) -> Float64Array:
    """Return n points made of near ones, as `with_made` says.

    Each feature stays in the range that it has in the points: one that is always 0 stays 0.
    """
    if n == 0:
        return points[:0]
    rng = np.random.default_rng(_SEED)
    one = rng.integers(len(points), size=n)
    others = rng.integers(len(points), size=(n, _NEIGHBOURS))
    distance = np.stack(
        [((points[one] - points[others[:, k]]) ** 2).sum(axis=1) for k in range(_NEIGHBOURS)],
        axis=1,
    )
    distance[distance == 0] = np.inf
    other = np.take_along_axis(others, distance.argmin(axis=1)[:, None], axis=1)[:, 0]
    share = rng.uniform(0.5, 1.0, size=(n, 1))
    made: Float64Array = share * points[one] + (1 - share) * points[other]
    if shifted:
        start = rng.integers(len(points), size=n)
        made = points[start] + share * (points[other] - points[one])
        made = np.clip(made, points.min(axis=0), points.max(axis=0))
    length = np.sqrt((points**2).sum(axis=1))
    if length.mean() > 0 and length.std() <= 1e-5 * length.mean():
        reached = np.sqrt((made**2).sum(axis=1, keepdims=True))
        made *= length.mean() / np.where(reached > 0, reached, 1.0)  # opposite points may give 0
    return made


def _sums(exact: GroupedSum, points: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the decisions and the sums of magnitudes at prepared points."""
    vectors = exact.columns().T.astype(np.float64)
    beta = exact.slot_decisions().astype(np.float64)
    size = np.abs(beta).max(axis=1)
    decisions, magnitudes = np.empty((len(points), beta.shape[1])), np.empty(len(points))
    rows = max(1, _BLOCK_VALUES // len(vectors))
    for start in range(0, len(points), rows):
        part = slice(start, start + rows)
        value = _values(exact, points[part], vectors)
        decisions[part] = value @ beta + exact.intercept
        magnitudes[part] = np.abs(value) @ size
    return decisions, magnitudes
