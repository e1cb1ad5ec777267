"""Counted multiply-adds of one query; a call of exp counts as ten, a comparison as none.

A landmark takes d multiply-adds for |x - u|^2, two for the width and ten for exp, and one for each
of q decisions. A linear machine takes q d.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

EXP = 10


def linear(d: int, q: int) -> int:
    """Return the cost of q linear decisions."""
    return q * d


def nystroem(m: int, d: int, q: int) -> int:
    """Return the cost of m landmarks; the factor W^(-1/2) is folded into the coefficients."""
    return m * (d + 2 + EXP + q)


def fourier(n: int, d: int, q: int) -> int:
    """Return the cost of n cosines of random projections."""
    return n * (d + EXP + q)


def fastfood(n: int, d: int, q: int) -> int:
    """Return the cost of n cosines from blocks of S H G P H B.

    A block gives d' features, the next power of two above d: two Hadamard transforms of
    d' log2 d' additions and three products with diagonals. Only B's signs cost nothing.
    """
    size = 2 ** math.ceil(math.log2(d))
    blocks = math.ceil(n / size)
    return blocks * (2 * size * round(math.log2(size)) + 2 * size) + n * (EXP + q)


def routed(machine: Any) -> int:
    """Return the worst case of a routed machine: the dearest leaf with its path."""
    d, q = machine.n_features_in_, machine.intercept_.shape[1]
    sizes = np.diff(machine.leaf_ends_, prepend=0)
    cost = sizes * (d + 2 + EXP + q)
    if machine.pair_coef_.shape[1]:
        cost = cost + sizes * (sizes + 1) // 2 * (1 + q)
    if len(machine.leaf_weights_):
        cost = cost + d * np.count_nonzero(machine.leaf_weights_.any(axis=2), axis=1)
    return int((cost + d * depths(machine)).max())


def depths(machine: Any) -> np.ndarray:
    """Return the hyperplanes on the way to each leaf; a node of one choice is none."""
    depth = np.zeros(len(machine.node_ends_), dtype=int)
    of_leaf = np.zeros(len(machine.leaf_ends_), dtype=int)
    first = 0
    for node, end in enumerate(machine.node_ends_):
        for target in machine.choice_targets_[first:end]:
            below = depth[node] + end - first - 1
            if target < 0:
                of_leaf[-1 - target] = below
            else:
                depth[target] = below
        first = end
    return of_leaf
