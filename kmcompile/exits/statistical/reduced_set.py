"""Fit a reduced set: projection, vectors and weights are fitted together to the decisions."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.statistical.fit_points import FitPoints
from kmcompile.exits.statistical.free_vectors_fit import (
    RIDGE_START,
    Axes,
    Fit,
    Loss,
    Size,
    blocks,
    features_of,
    minimised,
    started,
)
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import InnerProducts, ReducedSet


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
    axes = Axes.of(points.x, size.n_columns)
    start = started(axes.y, np.clip(points.decisions, -margin, margin), size)
    fit = minimised(axes.y.astype(np.float32), start, _loss(points, margin), size.iterations)
    spread = _spread_row(fit, axes.y, points.magnitudes)
    return _stage(fit, spread, *axes.products(fit, skip_zeros), lanes)


def _loss(points: FitPoints, margin: float) -> Loss:
    """Return the squared error of decisions; none at or beyond the margin on the right side."""
    relevant = points.relevant
    target = np.clip(points.decisions, -margin, margin).astype(np.float32)
    clear = np.abs(points.decisions) >= margin
    side = np.sign(target)
    factor = np.float32(2.0 / max(1, relevant.sum()))

    def loss(estimate: Float32Array) -> tuple[float, Float32Array]:
        error = estimate - target
        error[(clear & (error * side > 0)) | ~relevant] = 0
        value = float((error.astype(np.float64) ** 2).sum()) * float(factor) / 2
        return value, error * factor

    return loss


def _spread_row(fit: Fit, y: Float64Array, magnitudes: Float64Array) -> Float64Array:
    """Return the weights, slopes and intercept of the spread, concatenated."""
    features = features_of(y @ fit.projection, fit.vectors, fit.shifts)
    sizes = np.append((features[:, :-1] ** 2).mean(axis=0) + 1e-6, 0.0)
    moments = features.T @ features + np.diag(RIDGE_START * len(features) * sizes)
    return np.linalg.solve(moments, features.T @ magnitudes).astype(np.float64)


def _stage(
    fit: Fit, spread: Float64Array, products: InnerProducts, triangle: Float64Array, lanes: int
) -> ReducedSet:
    n_vectors, n_decisions = fit.weights.shape
    vectors, weights = blocks(fit, np.column_stack([fit.weights, spread[:n_vectors]]), lanes)
    slopes = np.column_stack([fit.slopes, spread[n_vectors:-1]])
    return ReducedSet(
        number=1,
        products=products,
        vectors=vectors,
        weights=weights,
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
