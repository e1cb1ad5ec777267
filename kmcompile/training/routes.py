"""Routes by the nearest of several points, as nodes of a routed machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.neighbours import IndexArray

_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """The nodes of a routed machine, as `RoutedAttributes` describes them.

    Parameters
    ----------
    weights : ndarray of shape (n_choices, n_features), float64
    offsets : ndarray of shape (n_choices,), float64
    node_ends : ndarray of shape (n_nodes,), int64
    targets : ndarray of shape (n_choices,), int64
    """

    weights: Float64Array
    offsets: Float64Array
    node_ends: IndexArray
    targets: IndexArray


def flat_route(points: Float64Array, leaves: IndexArray) -> Route:
    """Return one node that leads to the leaf of the nearest point.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features), float64
    leaves : ndarray of shape (n_points,), int64
    """
    return Route(points, half_squares(points), np.array([len(points)]), -1 - leaves)


def two_level_route(
    points: Float64Array, leaves: IndexArray, X: Float64Array, random: np.random.RandomState
) -> Route:
    """Return nodes that search for the nearest point in one of about sqrt(n_points) groups.

    The first node takes the nearest centroid. The group's node has the points that are nearest to
    the training points of this group: for a training point the leaf is the flat route's, for
    another query it can differ, where the nearest point is nearest to no training point of the
    group. A group whose points all lead to one leaf has no node.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features), float64
    leaves : ndarray of shape (n_points,), int64
    X : ndarray of shape (n, n_features), float64
        The training points.
    random : RandomState
        For k-means, which makes the groups of `points`.
    """
    n_groups = round(float(np.sqrt(len(np.unique(points, axis=0)))))
    if n_groups < 2:
        return flat_route(points, leaves)
    centroids = KMeans(n_groups, n_init=1, random_state=random).fit(points).cluster_centers_
    group, choice = nearest_choices(X, centroids), nearest_choices(X, points)
    used = np.unique(group)
    members = [np.unique(choice[group == number]) for number in used]
    weights, targets, ends = [centroids[used]], [np.empty(len(used), np.int64)], [len(used)]
    for number, listed in enumerate(members):
        if (leaves[listed] == leaves[listed[0]]).all():
            targets[0][number] = -1 - leaves[listed[0]]
            continue
        targets[0][number] = len(ends)
        weights.append(points[listed])
        targets.append(-1 - leaves[listed])
        ends.append(ends[-1] + len(listed))
    stacked = np.concatenate(weights)
    return Route(stacked, half_squares(stacked), np.array(ends), np.concatenate(targets))


def half_squares(points: Float64Array) -> Float64Array:
    """Return |c|^2 / 2 of each point: the nearest point has the largest c x - |c|^2 / 2."""
    return np.asarray(np.einsum("ij,ij->i", points, points) / 2)


def nearest_choices(X: Float64Array, points: Float64Array) -> IndexArray:
    """Return the nearest point of each row of X, the first of equal ones, as a route finds it."""
    offsets = half_squares(points)
    found = [(X[rows] @ points.T - offsets).argmax(axis=1) for rows in _blocks(len(X), len(points))]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    rows = max(1, _BLOCK_VALUES // max(1, n_columns))
    return (slice(start, start + rows) for start in range(0, n_rows, rows))
