"""Reduced sets: few vectors in a projection of the input, fitted to the machine's decisions."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from kmcompile.calibrate.nearest import as_blocks, principal_directions, totals
from kmcompile.ir.arrays import Float64Array
from kmcompile.stages import ExactSum, InnerProducts, ReducedSet

_SEED = 20040704
_RIDGE = 1e-6


def fit_reduced_set(
    exact: ExactSum,
    points: Float64Array,
    decisions: Float64Array,
    n_out: int,
    n_centres: int,
    skip_zeros: bool,
) -> ReducedSet:
    """Return a reduced set with a band that decides nothing."""
    directions = None
    y = points
    if n_out < exact.n_features:
        directions = principal_directions(exact, n_out)
        y = points @ directions.T
    clusters = KMeans(n_centres, n_init=1, random_state=_SEED, max_iter=20).fit(y)
    centres = clusters.cluster_centers_
    total = totals(exact.kernel.uses_distance, y, centres).astype(np.float32)
    values = np.column_stack([exact.kernel.value(total).astype(np.float64), np.ones(len(y))])
    gram = values.T @ values
    gram += _RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    weights = np.linalg.solve(gram, values.T @ decisions)
    return assemble(exact, directions, centres, weights[:-1], weights[-1], skip_zeros)


def assemble(
    exact: ExactSum,
    projection: Float64Array | None,
    centres: Float64Array,
    weights: Float64Array,
    intercept: Float64Array,
    skip_zeros: bool,
) -> ReducedSet:
    """Return the stage of a fitted reduced set, with open limits.

    Parameters
    ----------
    projection : ndarray of shape (n_out, n_features) or None
    centres : ndarray of shape (n_centres, n_out)
    weights : ndarray of shape (n_centres, n_decisions)
    intercept : ndarray of shape (n_decisions,)
    """
    n_filled = -len(centres) % exact.lanes
    centres = np.concatenate([centres, np.repeat(centres[-1:], n_filled, axis=0)])
    weights = np.concatenate([weights, np.zeros((n_filled, weights.shape[1]))])
    triangle = np.zeros((0, 0))
    if projection is not None:
        # |T y|^2 = y' (M M')^-1 y is the squared length of x in the span of M's rows.
        inverse = np.linalg.inv(np.linalg.cholesky(projection @ projection.T))
        triangle = np.tril(inverse)
    return ReducedSet(
        number=1,
        kernel=exact.kernel,
        far=np.float32(np.inf),
        products=None if projection is None else InnerProducts.of_rows(projection, skip_zeros),
        centres=as_blocks(centres, exact.lanes),
        weights=as_blocks(weights, exact.lanes),
        intercept=intercept.astype(np.float32),
        half_width=np.full(len(intercept), np.inf, np.float32),
        triangle=triangle.astype(np.float32),
        least=np.float32(-np.inf),
        largest=np.float32(np.inf),
    )
