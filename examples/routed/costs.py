"""Counted multiply-adds of one query, by the compiler's own rules for float32.

A kernel or a cosine counts with its bound: its distance or product, the operations of its `finish`,
and three for each of q decisions. A linear machine takes q d.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kmcompile.kernels.fourier import FourierFloat32
from kmcompile.kernels.rbf import RbfFloat32

DECISION = 3
"""Of a kernel and a decision: the coefficient, and the coefficient's part of the bound."""
COMPARISON = 4
"""Of a hyperplane on the way, besides its product."""


def linear(d: int, q: int) -> int:
    """Return the cost of q linear decisions."""
    return q * d


def landmark(d: int, q: int) -> int:
    """Return the cost of one kernel of Nystroem; W^(-1/2) is folded into the coefficients."""
    return d + RbfFloat32.finish_operations + DECISION * q


def nystroem(m: int, d: int, q: int) -> int:
    """Return the cost of m landmarks."""
    return m * landmark(d, q)


def fourier(n: int, d: int, q: int) -> int:
    """Return the cost of n cosines of random projections."""
    return n * (d + FourierFloat32.finish_operations + DECISION * q)


def fastfood(n: int, d: int, q: int) -> int:
    """Return the cost of n cosines from blocks of S H G P H B.

    A block gives d' features, the next power of two above d: two Hadamard transforms of
    d' log2 d' additions and two products with diagonals. B's signs and P cost nothing.
    """
    size = 2 ** math.ceil(math.log2(d))
    blocks = math.ceil(n / size)
    transforms = blocks * (2 * size * round(math.log2(size)) + 2 * size)
    return transforms + n * (FourierFloat32.finish_operations + DECISION * q)


def routed(machine: Any) -> int:
    """Return the dearest leaf with its path; a query beside a boundary may take two such."""
    d, q = machine.n_features_in_, machine.intercept_.shape[1]
    sizes = np.diff(machine.leaf_ends_, prepend=0)
    cost = sizes * (landmark(d, q) + 1)
    if machine.pair_coef_.shape[1]:
        cost = cost + sizes * (sizes + 1) // 2 * (1 + q)
    if len(machine.leaf_weights_):
        cost = cost + d * np.count_nonzero(machine.leaf_weights_.any(axis=2), axis=1)
    return int((cost + (d + COMPARISON) * depths(machine)).max())


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
