"""Lowering of what leaves have besides single kernels: linear parts, and products of kernels."""

from __future__ import annotations

import numpy as np

from kmcompile.lower.stored import flushed_norm
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import FLOAT32, SMALLEST_NORMAL, UNIT_ROUNDOFF
from kmcompile.program.stages.leaves.leaf_parts import KernelProducts, LinearPart

_VALUE_ROUNDING = 2.0**-20
"""A computed kernel is at most this much above 1."""


def lower_linear_part(routing: Routing) -> LinearPart | None:
    """Return the linear part of the leaves, if any leaf has one."""
    if not routing.has_weights:
        return None
    table = routing.leaf_weights.astype(np.float32)
    n = table.shape[2]
    off = _longest(routing.leaf_weights - table) + flushed_norm(table[0])
    off += np.sqrt(n) * SMALLEST_NORMAL
    norm = _longest(table.astype(np.float64))
    # gamma_n of the products, and u of the addition before.
    rounded = 1.01 * (FLOAT32.gamma_factor(n) + UNIT_ROUNDOFF) * norm
    return LinearPart(
        weights=table,
        per_length=FLOAT32.bound_constants(rounded + off),
        per_deviation=FLOAT32.bound_constants(norm + off),
    )


def _longest(weights: Float64Array) -> Float64Array:
    """Return the largest norm of a decision's weights in a leaf, shape (n_decisions,)."""
    lengths: Float64Array = np.sqrt((weights**2).sum(axis=2)).max(axis=0)
    return lengths * (1 + 1e-12)


def lower_products(machine: KernelMachine, routing: Routing) -> KernelProducts | None:
    """Return the products of kernels, if leaves have any."""
    if not routing.has_pairs:
        return None
    weights = error_weights(machine, routing) * (1 + _VALUE_ROUNDING)
    return KernelProducts(
        starts=routing.pair_starts.astype(np.uint32),
        coefficients=np.concatenate(
            [lower_triangle(routing, leaf) for leaf in range(routing.n_leaves)]
        ).astype(np.float32),
        error_weights=FLOAT32.bound_constants(weights),
    )


def lower_triangle(routing: Routing, leaf: int) -> Float64Array:
    """Return c of the pairs (0, 0), (1, 0), (1, 1), ... of a leaf, shape (n_pairs, n_decisions)."""
    n = int(routing.leaf_sizes[leaf])
    i, j = np.tril_indices(n)
    form = routing.pairs(leaf)[:, i, j]
    own: Float64Array = np.where(i == j, form, 2 * form).T
    return own


def error_weights(machine: KernelMachine, routing: Routing) -> Float64Array:
    """Return the weight of each kernel's error in each decision, shape (n_sv, n_decisions)."""
    weights = np.abs(machine.dual_coef).T
    if routing.has_pairs:
        for leaf in range(routing.n_leaves):
            # Each of the two equal entries has half of c, the diagonal c.
            weights[routing.members(leaf)] += 2 * np.abs(routing.pairs(leaf)).sum(axis=2).T
    return weights
