"""A tree of 2-means hyperplanes: the route of a divide-and-conquer machine."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from kmcompile.numeric.arrays import Float64Array

DEPTH_SLACK = 1
"""Levels that a tree may have above the least number for its leaves."""


@dataclass(frozen=True)
class Split:
    """The two centres of a node, shape (2, n_features), and what each leads to.

    A child is the number of a split, or -1 - leaf.
    """

    centres: Float64Array
    children: tuple[int, int]


@dataclass(frozen=True)
class KMeansTree:
    """The splits of a tree, the root first and each before its children, and each row's leaf."""

    splits: tuple[Split, ...]
    leaf_of_row: NDArray[np.int64]
    n_leaves: int


@dataclass(frozen=True)
class _Part:
    rows: NDArray[np.int64]
    depth: int
    place: tuple[int, int] | None
    """The split that the part is a child of, and which child; None for the root."""


def kmeans_tree(
    X: Float64Array, groups: NDArray[np.int64] | None, n_leaves: int, seed: int
) -> KMeansTree:
    """Split the largest part by 2-means until there are `n_leaves` parts.

    No path is longer than the least depth for that number of leaves plus one level, so the worst
    case stays near that of a balanced tree. A part of one group (one class) is a leaf, as is one
    whose rows are equal; there are fewer leaves if nothing is left to split.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
    groups : ndarray of shape (n_rows,), int64, or None
    n_leaves : int
        At least 1.
    seed : int
        Of the 2-means' starts.

    References
    ----------
    Hsieh, Si and Dhillon, Fast Prediction for Large-Scale Kernel Machines, Algorithm 2.
    """
    deepest = math.ceil(math.log2(n_leaves)) + DEPTH_SLACK
    centres: list[Float64Array] = []
    children: list[list[int]] = []
    # A part and its number: of equally large parts the first one is split.
    waiting = [(-len(X), 0, _Part(np.arange(len(X)), 0, None))]
    done: list[_Part] = []
    count = 1
    while waiting and len(waiting) + len(done) < n_leaves:
        part = heapq.heappop(waiting)[2]
        halves = _halves(X, groups, part.rows, seed) if part.depth < deepest else None
        if halves is None:
            done.append(part)
            continue
        number = len(centres)
        _link(children, part.place, number)
        centres.append(halves[0])
        children.append([0, 0])
        for side in (0, 1):
            rows = part.rows[halves[1] == side]
            new = _Part(rows, part.depth + 1, (number, side))
            heapq.heappush(waiting, (-len(rows), count, new))
            count += 1
    leaf_of_row = np.zeros(len(X), dtype=np.int64)
    leaves = sorted([*done, *(part for _, _, part in waiting)], key=lambda part: part.place or ())
    for leaf, part in enumerate(leaves):
        leaf_of_row[part.rows] = leaf
        _link(children, part.place, -1 - leaf)
    splits = tuple(Split(c, (k[0], k[1])) for c, k in zip(centres, children, strict=True))
    return KMeansTree(splits, leaf_of_row, len(leaves))


def _link(children: list[list[int]], place: tuple[int, int] | None, target: int) -> None:
    if place is not None:
        children[place[0]][place[1]] = target


def _halves(
    X: Float64Array, groups: NDArray[np.int64] | None, rows: NDArray[np.int64], seed: int
) -> tuple[Float64Array, NDArray[np.int64]] | None:
    """Return two centres and the nearest one of each row, or None if the rows stay together."""
    if groups is not None and (groups[rows] == groups[rows[0]]).all():
        return None
    part = X[rows]
    if (part == part[0]).all():
        return None
    centres = np.asarray(KMeans(2, n_init=3, random_state=seed).fit(part).cluster_centers_)
    # The rule of the routed machine, so that a row trains the leaf that it is routed to.
    score = part @ centres.T - 0.5 * (centres**2).sum(axis=1)
    side = score.argmax(axis=1)
    return (centres, side) if 0 < side.sum() < len(side) else None


def route_attributes(tree: KMeansTree, n_features: int) -> dict[str, NDArray[np.generic]]:
    """Return the route of a tree as the attributes of a routed machine.

    A tree without splits has one node with one choice.
    """
    if not tree.splits:
        return {
            "route_weights_": np.zeros((1, n_features)),
            "route_offsets_": np.zeros(1),
            "node_ends_": np.array([1]),
            "choice_targets_": np.array([-1]),
        }
    centres = np.concatenate([split.centres for split in tree.splits])
    return {
        "route_weights_": centres,
        "route_offsets_": 0.5 * (centres**2).sum(axis=1),
        "node_ends_": 2 * np.arange(1, len(tree.splits) + 1),
        "choice_targets_": np.array([child for split in tree.splits for child in split.children]),
    }
