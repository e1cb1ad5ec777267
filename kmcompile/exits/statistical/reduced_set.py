"""Fit a reduced set: projection, vectors and weights are fitted together to the decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import minimize

from kmcompile.exits.candidates.blocks import as_blocks
from kmcompile.exits.statistical.fit_points import FitPoints
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import InnerProducts, ReducedSet

_SEED = 20040704
_MOST_AXES = 160
_RIDGE_PROJECTION, _RIDGE_VECTORS, _RIDGE_WEIGHTS = 1e-5, 1e-6, 1e-6
_RIDGE_START = 1e-3
_RIDGE_SPAN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The parameters of a reduced set, in the axes of the points."""

    projection: NDArray[np.float64]  # (n_axes, n_out)
    vectors: NDArray[np.float64]  # (n_out, n_vectors)
    shifts: NDArray[np.float64]  # (n_vectors,)
    weights: NDArray[np.float64]  # (n_vectors, n_decisions)
    slopes: NDArray[np.float64]  # (n_out, n_decisions)
    intercept: NDArray[np.float64]  # (n_decisions,)


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a reduced set, and the effort of its fit.

    Parameters
    ----------
    n_out : int
        Rows of the projection.
    n_vectors : int
    n_columns : int or None
        Number of features that the set uses; None: all.
    iterations : int
        Most iterations of the fit.
    """

    n_out: int
    n_vectors: int
    n_columns: int | None
    iterations: int = 150

    def __str__(self) -> str:
        where = "" if self.n_columns is None else f" of {self.n_columns} features"
        return f"reduced_set({self.n_vectors} vectors in {self.n_out} dimensions{where})"


def fit_reduced_set(
    points: FitPoints, size: Size, margin: float, lanes: int, skip_zeros: bool
) -> ReducedSet:
    """Return a reduced set with a band that decides nothing yet.

    L-BFGS minimises the squared error of the decisions, clipped to the margin. There is no error
    where the estimate is at or beyond the clipped decision, on the right side. The fit begins with
    the principal axes, with vectors taken from the points and with weights by ridge regression.
    Afterwards, ridge regression fits the row of the spread to the sum of the terms' magnitudes.

    Parameters
    ----------
    points : FitPoints
    size : Size
    margin : float
        |f| beyond which any estimate on the right side counts as exact.
    lanes : int
        Lanes of a block of vectors in the C's tables.
    skip_zeros : bool
        Whether the C reads a list of the nonzero features.
    """
    x = points.x
    columns = None if size.n_columns is None else picked_columns(x, size.n_columns)
    used = x if columns is None else x[:, columns]
    # In units of the points' length, so that the ridge does not depend on the features' scale.
    unit = float(np.sqrt((used**2).sum(axis=1).mean()))
    if unit == 0:
        raise np.linalg.LinAlgError("all points are 0")
    used = used / unit
    axes = _principal_axes(used, min(_MOST_AXES, used.shape[1]))
    y = used @ axes
    start = _start(y, np.clip(points.decisions, -margin, margin), size)
    fit = _minimise(y.astype(np.float32), points, margin, start, size.iterations)
    spread = _spread_row(fit, y, points.magnitudes)
    projection = (axes @ fit.projection).T / unit
    products = InnerProducts.of_rows(projection, skip_zeros, columns)
    triangle = np.zeros((0, 0))
    if columns is None and len(projection) < x.shape[1]:
        triangle = _triangle(projection)
    return _stage(fit, spread, products, triangle, lanes)


def picked_columns(x: Float64Array, n: int) -> NDArray[np.intp]:
    """Return the n features that explain the others best, by pivoted QR, in increasing order."""
    moments = x.T @ x
    moments += 1e-6 * np.trace(moments) / len(moments) * np.eye(len(moments))
    _, order = qr(np.linalg.cholesky(moments).T, mode="r", pivoting=True)
    chosen: NDArray[np.intp] = np.sort(order[:n])
    return chosen


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


def _start(y: Float64Array, target: Float64Array, size: Size) -> _Fit:
    n_out, n_vectors = size.n_out, size.n_vectors
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
    solved = np.linalg.solve(features.T @ features + ridge, features.T @ target)
    return _Fit(projection, vectors, shifts, solved[:n_vectors], solved[n_vectors:-1], solved[-1])


def _minimise(
    y: Float32Array,
    points: FitPoints,
    margin: float,
    start: _Fit,
    iterations: int,
) -> _Fit:
    parts = [getattr(start, name) for name in _Fit.__slots__]
    shapes = [part.shape for part in parts]
    ends = np.cumsum([part.size for part in parts])
    ridge = np.zeros(ends[-1])
    ridge[: ends[0]] = _RIDGE_PROJECTION
    ridge[ends[0] : ends[1]] = _RIDGE_VECTORS
    ridge[ends[2] : ends[3]] = _RIDGE_WEIGHTS
    relevant = points.relevant
    target = np.clip(points.decisions, -margin, margin).astype(np.float32)
    clear = np.abs(points.decisions) >= margin
    side = np.sign(target)
    factor = np.float32(2.0 / max(1, relevant.sum()))

    def split(theta: NDArray[Any]) -> list[NDArray[Any]]:
        pieces: list[NDArray[Any]] = np.split(theta, ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        projection, vectors, shifts, weights, slopes, intercept = split(theta.astype(np.float32))
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

    options = {"maxiter": iterations, "maxcor": 20, "maxfun": 2 * iterations}
    begin = np.concatenate([part.ravel() for part in parts])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options=options)
    return _Fit(*split(found.x))


def _triangle(projection: Float64Array) -> Float64Array:
    """Return T so that |T M x| is the length of x in the span of M's rows: T'T = (M M')^-1.

    If a fit made rows nearly dependent, only the span is a little uncertain.
    """
    gram = projection @ projection.T
    gram += _RIDGE_SPAN * np.trace(gram) / len(gram) * np.eye(len(gram))
    lower: Float64Array = np.tril(np.linalg.inv(np.linalg.cholesky(gram)))
    return lower


def _spread_row(fit: _Fit, y: Float64Array, magnitudes: Float64Array) -> Float64Array:
    """Return the weights, slopes and intercept of the spread, concatenated."""
    u = y @ fit.projection
    h, _ = _bump(u @ fit.vectors + fit.shifts - 0.5 * (u**2).sum(axis=1)[:, None])
    features = np.hstack([h, u, np.ones((len(u), 1))])
    ridge = _RIDGE_START * len(u) * np.append((features[:, :-1] ** 2).mean(axis=0) + 1e-6, 0.0)
    solved: Float64Array = np.linalg.solve(
        features.T @ features + np.diag(ridge), features.T @ magnitudes
    )
    return solved


def _stage(
    fit: _Fit, spread: Float64Array, products: InnerProducts, triangle: Float64Array, lanes: int
) -> ReducedSet:
    n_vectors, n_decisions = fit.weights.shape
    n_filled = -n_vectors % lanes
    lifted = np.column_stack([fit.vectors.T / 16, np.ones(n_vectors), 1 + fit.shifts / 16])
    lifted = np.concatenate([lifted, np.repeat(lifted[-1:], n_filled, axis=0)])
    weights = np.column_stack([fit.weights, spread[:n_vectors]])
    weights = np.concatenate([weights, np.zeros((n_filled, n_decisions + 1))])
    slopes = np.column_stack([fit.slopes, spread[n_vectors:-1]])
    return ReducedSet(
        number=1,
        products=products,
        vectors=as_blocks(lifted, lanes),
        weights=as_blocks(weights, lanes),
        slopes=slopes.T.astype(np.float32),
        intercept=np.append(fit.intercept, spread[-1]).astype(np.float32),
        earlier=np.zeros(n_decisions, np.float32),
        least_spread=np.float32(-np.inf),
        largest_spread=np.float32(np.inf),
        half_width=np.full(n_decisions, np.inf, np.float32),
        triangle=triangle.astype(np.float32),
        least=np.float32(-np.inf),
        largest=np.float32(np.inf),
    )
