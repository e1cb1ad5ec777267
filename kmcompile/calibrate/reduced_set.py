"""Reduced sets: projection, vectors and weights fitted together to the machine's decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kmcompile.calibrate.nearest import as_blocks
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.stages import InnerProducts, ReducedSet

_SEED = 20040704
_ITERATIONS = 300
_MARGIN = 1.0
"""|f| beyond which an estimate on the same side is as good as any."""

_MOST_AXES = 160
_RIDGE_PROJECTION, _RIDGE_VECTORS, _RIDGE_WEIGHTS = 1e-5, 1e-6, 1e-6
_RIDGE_START = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The parameters of a reduced set, in the axes of the points."""

    projection: NDArray[np.float64]  # (n_axes, n_out)
    vectors: NDArray[np.float64]  # (n_out, n_vectors)
    shifts: NDArray[np.float64]  # (n_vectors,)
    weights: NDArray[np.float64]  # (n_vectors, n_decisions)
    slopes: NDArray[np.float64]  # (n_out, n_decisions)
    intercept: NDArray[np.float64]  # (n_decisions,)


def fit_reduced_set(
    points: Float64Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    n_out: int,
    n_vectors: int,
    lanes: int,
    skip_zeros: bool,
) -> ReducedSet:
    """Return a reduced set with a band that decides nothing.

    L-BFGS minimises the squared error to the decisions, clipped to the margin; where the clipped
    decision is reached on the right side there is no error. It begins at the principal axes, at
    vectors among the points and at weights by ridge regression.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features), float64
        Prepared inputs.
    decisions : ndarray of shape (n_points, n_decisions), float64
    relevant : ndarray of shape (n_points, n_decisions), bool
        The points that a decision is about; the others do not count.
    n_out : int
        Rows of the projection.
    n_vectors : int
    lanes : int
        Of the blocks of vectors.
    skip_zeros : bool
    """
    axes = _principal_axes(points, min(_MOST_AXES, points.shape[1]))
    y = points @ axes
    fit = _minimise(
        y.astype(np.float32), decisions, relevant, _start(y, decisions, n_out, n_vectors)
    )
    return _stage(fit, axes, lanes, skip_zeros)


def _principal_axes(points: Float64Array, n: int) -> Float64Array:
    """Return the first n eigenvectors of the points' second moments, shape (n_features, n)."""
    _, axes = np.linalg.eigh(points.T @ points)
    leading = axes[:, ::-1][:, :n]
    largest = np.take_along_axis(leading, np.abs(leading).argmax(axis=0)[None], axis=0)
    fixed: Float64Array = leading * np.sign(largest)
    return fixed


def _bump(a: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return max(0, 1 + a / 16)^16, about exp(a), and its derivative."""
    c = np.maximum(1 + a / 16, 0)
    c2 = c * c
    c4 = c2 * c2
    c8 = c4 * c4
    return c8 * c8, c8 * c4 * c2 * c


def _start(y: Float64Array, decisions: Float64Array, n_out: int, n_vectors: int) -> _Fit:
    rng = np.random.default_rng(_SEED)
    projection = np.eye(y.shape[1], n_out)
    spread = (y @ projection).std(axis=0)
    projection *= 1.5 / np.sqrt(n_out) / np.where(spread > 0, spread, 1.0)
    u = y @ projection
    chosen = rng.choice(len(u), n_vectors, replace=len(u) < n_vectors)
    vectors = u[chosen].T.copy()
    shifts = -0.5 * (vectors**2).sum(axis=0)
    h, _ = _bump(u @ vectors + shifts - 0.5 * (u**2).sum(axis=1)[:, None])
    features = np.hstack([h, u, np.ones((len(u), 1))])
    ridge = _RIDGE_START * len(u) * np.mean(h * h) * np.eye(features.shape[1])
    ridge[-1, -1] = 0
    clipped = np.clip(decisions, -_MARGIN, _MARGIN)
    solved = np.linalg.solve(features.T @ features + ridge, features.T @ clipped)
    return _Fit(projection, vectors, shifts, solved[:n_vectors], solved[n_vectors:-1], solved[-1])


def _minimise(
    y: Float32Array, decisions: Float64Array, relevant: NDArray[np.bool_], start: _Fit
) -> _Fit:
    parts = [getattr(start, name) for name in _Fit.__slots__]
    shapes = [part.shape for part in parts]
    ends = np.cumsum([part.size for part in parts])
    ridge = np.zeros(ends[-1])
    ridge[: ends[0]] = _RIDGE_PROJECTION
    ridge[ends[0] : ends[1]] = _RIDGE_VECTORS
    ridge[ends[2] : ends[3]] = _RIDGE_WEIGHTS
    target = np.clip(decisions, -_MARGIN, _MARGIN).astype(np.float32)
    clear = np.abs(decisions) >= _MARGIN
    side = np.sign(target)
    factor = np.float32(2.0 / max(1, relevant.sum()))

    def split(theta: NDArray[np.float64], dtype: type) -> list[NDArray[np.float32]]:
        pieces = np.split(theta.astype(dtype), ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        projection, vectors, shifts, weights, slopes, intercept = split(theta, np.float32)
        u = y @ projection
        h, slope = _bump(u @ vectors + shifts - np.float32(0.5) * (u * u).sum(axis=1)[:, None])
        error = h @ weights + u @ slopes + intercept - target
        error[(clear & (error * side > 0)) | ~relevant] = 0
        g = error * factor
        da = (g @ weights.T) * slope
        du = da @ vectors.T + g @ slopes.T - u * da.sum(axis=1)[:, None]
        gradient = [y.T @ du, u.T @ da, da.sum(axis=0), h.T @ g, u.T @ g, g.sum(axis=0)]
        flat = np.concatenate([part.ravel() for part in gradient]).astype(np.float64)
        value = float((error.astype(np.float64) ** 2).sum()) * float(factor) / 2
        return value + float((ridge * theta * theta).sum()), flat + 2 * ridge * theta

    options = {"maxiter": _ITERATIONS, "maxcor": 20, "maxfun": 2 * _ITERATIONS}
    begin = np.concatenate([part.ravel() for part in parts])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options=options)
    return _Fit(*split(found.x, np.float64))


def _stage(fit: _Fit, axes: Float64Array, lanes: int, skip_zeros: bool) -> ReducedSet:
    projection = (axes @ fit.projection).T
    n_filled = -fit.vectors.shape[1] % lanes
    lifted = np.column_stack(
        [fit.vectors.T / 16, np.ones(fit.vectors.shape[1]), 1 + fit.shifts / 16]
    )
    lifted = np.concatenate([lifted, np.repeat(lifted[-1:], n_filled, axis=0)])
    weights = np.concatenate([fit.weights, np.zeros((n_filled, fit.weights.shape[1]))])
    # |T y|^2 = y' (M M')^-1 y is the squared length of x in the span of M's rows.
    triangle = np.tril(np.linalg.inv(np.linalg.cholesky(projection @ projection.T)))
    return ReducedSet(
        number=1,
        products=InnerProducts.of_rows(projection, skip_zeros),
        vectors=as_blocks(lifted, lanes),
        weights=as_blocks(weights, lanes),
        slopes=fit.slopes.T.astype(np.float32),
        intercept=fit.intercept.astype(np.float32),
        half_width=np.full(len(fit.intercept), np.inf, np.float32),
        triangle=triangle.astype(np.float32),
        least=np.float32(-np.inf),
        largest=np.float32(np.inf),
    )
