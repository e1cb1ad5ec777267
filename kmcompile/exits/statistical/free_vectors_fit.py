"""Fit free vectors: a projection, vectors in it, and the weights of sums, all together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import minimize

from kmcompile.exits.statistical.statistical_fit import StatisticalFit
from kmcompile.numeric.arrays import Float32Array, Float64Array, lane_blocks
from kmcompile.numeric.factors import leading_axes
from kmcompile.program.stages import InnerProducts
from kmcompile.program.stages.early_exits.free_vectors import FreeVectors

_F = TypeVar("_F", bound=FreeVectors)

_SEED = 20040704
_MOST_AXES = 160
_RIDGE_PROJECTION, _RIDGE_VECTORS, _RIDGE_WEIGHTS = 1e-5, 1e-6, 1e-6
RIDGE_START = 1e-3
_RIDGE_SPAN = 1e-9

Loss = Callable[[Float32Array], tuple[float, Float32Array]]
"""Function of the sums of shape (n_points, n_rows): the loss and its derivatives by them."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The parameters of free vectors, in the axes of the points."""

    projection: NDArray[np.float64]  # (n_axes, n_out)
    vectors: NDArray[np.float64]  # (n_out, n_vectors)
    shifts: NDArray[np.float64]  # (n_vectors,)
    weights: NDArray[np.float64]  # (n_vectors, n_rows)
    slopes: NDArray[np.float64]  # (n_out, n_rows)
    intercept: NDArray[np.float64]  # (n_rows,)


@dataclass(frozen=True, slots=True)
class Size:
    """The number of free vectors, their dimensions, and the effort of their fit.

    Parameters
    ----------
    n_out : int
        Rows of the projection.
    n_vectors : int
    n_columns : int or None
        Number of features that the projection reads; None: all.
    iterations : int
        Most iterations of the fit.
    """

    n_out: int
    n_vectors: int
    n_columns: int | None
    iterations: int = 150

    def __str__(self) -> str:
        where = "" if self.n_columns is None else f" of {self.n_columns} features"
        return f"{self.n_vectors} vectors in {self.n_out} dimensions{where}"


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Points in their principal axes, in units of their length.

    Parameters
    ----------
    y : ndarray of shape (n_points, n_axes), float64
    axes : ndarray of shape (n_used, n_axes), float64
    unit : float
        Root mean square length of the points in the features that are used.
    columns : ndarray of shape (n_used,), int, or None
        These features; None: all.
    n_features : int
    """

    y: Float64Array
    axes: Float64Array
    unit: float
    columns: NDArray[np.intp] | None
    n_features: int

    @classmethod
    def of(cls, x: Float64Array, n_columns: int | None) -> Axes:
        """Return the axes of points of shape (n_points, n_features), in some of the features.

        Raises
        ------
        numpy.linalg.LinAlgError
            If all points are 0.
        """
        columns = None if n_columns is None else picked_columns(x, n_columns)
        used = x if columns is None else x[:, columns]
        # In units of the points' length, so that the ridge does not depend on the features' scale.
        unit = float(np.sqrt((used**2).sum(axis=1).mean()))
        if unit == 0:
            raise np.linalg.LinAlgError("all points are 0")
        used = used / unit
        axes = leading_axes(used.T @ used, min(_MOST_AXES, used.shape[1]))
        return cls(used @ axes, axes, unit, columns, x.shape[1])

    def products(self, fit: Fit, skip_zeros: bool) -> tuple[InnerProducts, Float64Array]:
        """Return the projection of a fit, and its triangle, which is empty if no range is checked.

        Parameters
        ----------
        fit : Fit
        skip_zeros : bool
            Whether the C reads a list of the nonzero features.
        """
        projection = (self.axes @ fit.projection).T / self.unit
        products = InnerProducts.of_rows(projection, skip_zeros, self.columns)
        if self.columns is None and len(projection) < self.n_features:
            return products, _triangle(projection)
        return products, np.zeros((0, 0))


class FreeVectorsFit(StatisticalFit[_F]):
    """What kinds of free vectors have in common."""

    def reach(self, stage: _F, test: int) -> float:
        """Return 2, found on calibration samples of the MNIST pairs."""
        return 2.0

    def with_limits(self, stage: _F, x: Float32Array, square: Float32Array) -> _F:
        """Return the stage with limits: the range of samples' components outside its span."""
        if not stage.watches_range:
            return stage
        rest = stage.residual(stage.products.of(x), square)
        return replace(stage, least=rest.min(), largest=rest.max())


def picked_columns(x: Float64Array, n: int) -> NDArray[np.intp]:
    """Return the n features that explain the others best, by pivoted QR, in increasing order."""
    moments = x.T @ x
    moments += 1e-6 * np.trace(moments) / len(moments) * np.eye(len(moments))
    _, order = qr(np.linalg.cholesky(moments).T, mode="r", pivoting=True)
    chosen: NDArray[np.intp] = np.sort(order[:n])
    return chosen


def _bump(a: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return max(0, 1 + a / 16)^16, about exp(a), and its derivative."""
    c = np.maximum(1 + a / 16, 0)
    c2 = c * c
    c4 = c2 * c2
    c8 = c4 * c4
    return c8 * c8, c8 * c4 * c2 * c


def started(y: Float64Array, target: Float64Array, size: Size) -> Fit:
    """Return principal axes, vectors taken from the points, and weights by ridge regression.

    Parameters
    ----------
    y : ndarray of shape (n_points, n_axes), float64
    target : ndarray of shape (n_points, n_rows), float64
    size : Size
    """
    n_out, n_vectors = size.n_out, size.n_vectors
    rng = np.random.default_rng(_SEED)
    projection = np.eye(y.shape[1], n_out)
    spread = (y @ projection).std(axis=0)
    projection *= 1.5 / np.sqrt(n_out) / np.where(spread > 0, spread, 1.0)
    u = y @ projection
    chosen = rng.choice(len(u), n_vectors, replace=len(u) < n_vectors)
    vectors = u[chosen].T.copy()
    shifts = -0.5 * (vectors**2).sum(axis=0)
    features = features_of(u, vectors, shifts)
    h = features[:, :n_vectors]
    ridge = RIDGE_START * len(u) * np.mean(h * h) * np.eye(features.shape[1])
    ridge[-1, -1] = 0
    solved = np.linalg.solve(features.T @ features + ridge, features.T @ target).astype(np.float64)
    return Fit(projection, vectors, shifts, solved[:n_vectors], solved[n_vectors:-1], solved[-1])


def features_of(u: Float64Array, vectors: Float64Array, shifts: Float64Array) -> Float64Array:
    """Return what the rows weight: the values of the vectors, u and 1, side by side."""
    h, _ = _bump(u @ vectors + shifts - 0.5 * (u**2).sum(axis=1)[:, None])
    return np.hstack([h, u, np.ones((len(u), 1))])


def minimised(y: Float32Array, start: Fit, loss: Loss, iterations: int) -> Fit:
    """Return the parameters that L-BFGS finds for a loss, with a small ridge.

    Parameters
    ----------
    y : ndarray of shape (n_points, n_axes), float32
    start : Fit
    loss : callable
    iterations : int
        Most iterations.
    """
    parts = [getattr(start, name) for name in Fit.__slots__]
    shapes = [part.shape for part in parts]
    ends = np.cumsum([part.size for part in parts])
    ridge = np.zeros(ends[-1])
    ridge[: ends[0]] = _RIDGE_PROJECTION
    ridge[ends[0] : ends[1]] = _RIDGE_VECTORS
    ridge[ends[2] : ends[3]] = _RIDGE_WEIGHTS

    def split(theta: NDArray[Any]) -> list[NDArray[Any]]:
        pieces: list[NDArray[Any]] = np.split(theta, ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    def whole(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        projection, vectors, shifts, weights, slopes, intercept = split(theta.astype(np.float32))
        u = y @ projection
        h, slope = _bump(u @ vectors + shifts - np.float32(0.5) * (u * u).sum(axis=1)[:, None])
        value, g = loss(h @ weights + u @ slopes + intercept)
        da = (g @ weights.T) * slope
        du = da @ vectors.T + g @ slopes.T - u * da.sum(axis=1)[:, None]
        gradient = [y.T @ du, u.T @ da, da.sum(axis=0), h.T @ g, u.T @ g, g.sum(axis=0)]
        flat = np.concatenate([part.ravel() for part in gradient]).astype(np.float64)
        return value + float((ridge * theta * theta).sum()), flat + 2 * ridge * theta

    options = {"maxiter": iterations, "maxcor": 20, "maxfun": 2 * iterations}
    begin = np.concatenate([part.ravel() for part in parts])
    found = minimize(whole, begin, jac=True, method="L-BFGS-B", options=options)
    return Fit(*split(found.x))


def _triangle(projection: Float64Array) -> Float64Array:
    """Return T so that |T M x| is the length of x in the span of M's rows: T'T = (M M')^-1.

    If a fit made rows nearly dependent, only the span is a little uncertain.
    """
    gram = projection @ projection.T
    gram += _RIDGE_SPAN * np.trace(gram) / len(gram) * np.eye(len(gram))
    lower: Float64Array = np.tril(np.linalg.inv(np.linalg.cholesky(gram)))
    return lower


def blocks(fit: Fit, weights: Float64Array, lanes: int) -> tuple[Float32Array, Float32Array]:
    """Return the tables of the lifted vectors and of their weights, in blocks of `lanes`.

    Parameters
    ----------
    fit : Fit
    weights : ndarray of shape (n_vectors, n_rows), float64
    lanes : int
    """
    n_vectors = len(weights)
    n_filled = -n_vectors % lanes
    lifted = np.column_stack([fit.vectors.T / 16, np.ones(n_vectors), 1 + fit.shifts / 16])
    lifted = np.concatenate([lifted, np.repeat(lifted[-1:], n_filled, axis=0)])
    return lane_blocks(lifted, lanes), lane_blocks(weights, lanes)
