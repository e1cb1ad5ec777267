"""The walk of queries through a tree of choices, and which choices rounding leaves open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import RealArray
from kmcompile.numeric.batch import UNKNOWN

NO_TARGET = np.iinfo(np.int64).max
"""Stands for the target of a choice where there is none."""

LOWEST_WHOLE = -(1 << 61)
"""Below every score in integers."""

_Scores = RealArray | NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Where queries end in a tree, one row a query.

    Parameters
    ----------
    leaf : ndarray of shape (n_queries,), int64
    rival : ndarray of shape (n_queries,), int64
        The target of the second best choice at the last node where it is as good as the best, but
        for rounding; `NO_TARGET` if there is no such node.
    n_open : ndarray of shape (n_queries,), int64
        The number of choices that rounding may have kept from being the best.
    scores : ndarray of shape (n_queries,), int64
        The number of scores that were computed: at each node all but that of the first choice.
    """

    leaf: NDArray[np.int64]
    rival: NDArray[np.int64]
    n_open: NDArray[np.int64]
    scores: NDArray[np.int64]


def walk(
    node_ends: NDArray[np.int64],
    targets: NDArray[np.int64],
    score: Callable[[slice, NDArray[np.intp]], _Scores],
    margin: _Scores,
    start: NDArray[np.int64],
) -> Walk:
    """Return where queries end that take the choice with the largest score at each node.

    Parameters
    ----------
    node_ends : ndarray of shape (n_nodes,), int64
        The choice after the last one of each node.
    targets : ndarray of shape (n_choices,), int64
        A node with a larger number, or -1 - leaf.
    score : callable
        Takes the choices of a node and the indices of queries, returns their scores, of shape
        (n_queries, n_choices).
    margin : ndarray of shape (n_queries,)
        Two scores whose difference is at most this may be in the other order in real arithmetic.
    start : ndarray of shape (n_queries,), int64
        Where each query begins: a node, or -1 - leaf.
    """
    target = start.copy()
    rival = np.full(len(start), NO_TARGET)
    n_open = np.zeros(len(start), dtype=np.int64)
    scores = np.zeros(len(start), dtype=np.int64)
    first = 0
    for node, end in enumerate(node_ends):
        here = np.flatnonzero(target == node)
        if len(here):
            values = score(slice(first, int(end)), here)
            best, others = _three_best(values)
            close = ~(others[:, :1] - others[:, 1:] > margin[here, None])
            n_open[here] += close.sum(axis=1)
            target[here] = targets[first + best[:, 0]]
            rival[here] = np.where(close[:, 0], targets[first + best[:, 1]], rival[here])
            scores[here] += int(end) - first - 1
        first = int(end)
    return Walk(-1 - target, rival, n_open, scores)


def _three_best(values: _Scores) -> tuple[NDArray[np.intp], _Scores]:
    """Return the two best choices of each row, and the three largest scores.

    Where a score is missing, it is -2^126; of integers, -2^61.
    """
    missing = max(0, 3 - values.shape[1])
    of_kind = float(LOWEST_WHOLE if values.dtype.kind == "i" else -UNKNOWN)
    lowest = np.full((len(values), missing), of_kind, dtype=values.dtype)
    filled = np.concatenate([values, lowest], axis=1)
    if filled.shape[1] > 64:
        order = _largest_three(filled, of_kind)
    else:
        order = np.argsort(-filled, axis=1, kind="stable")[:, :3]
    best = np.minimum(order[:, :2], values.shape[1] - 1)
    return best, np.take_along_axis(filled, order, axis=1)


def _largest_three(values: _Scores, lowest: float) -> NDArray[np.intp]:
    """Return the places of the three largest of each row, the first of equal ones."""
    left = values.copy()
    rows = np.arange(len(values))
    places = []
    for _ in range(3):
        place = left.argmax(axis=1)
        places.append(place)
        left[rows, place] = lowest
    return np.stack(places, axis=1)
