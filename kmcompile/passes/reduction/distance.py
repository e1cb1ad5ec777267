"""How far a reduced machine is from the machine that it stands for, rounding included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, ReducedFrom
from kmcompile.model.leaves import leaf_intercepts, leaf_machines
from kmcompile.model.normals import require_positive_definite
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_BLOCK_VALUES = 1 << 22
_VALUE_ERROR = 1e-12
"""Relative error of a kernel value in float64, far above what any of them has
(`model.reference`)."""


def standing_for(machine: KernelMachine, reduced: KernelMachine) -> KernelMachine:
    """Return the reduced machine with its distance from the machine that it stands for.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine.
    reduced : KernelMachine
        A machine with the same kernel, preprocessing, classes and route, and other vectors.
    """
    if machine.routing is not None:
        # Each intercept of a leaf is a sum, which rounds once.
        before, after = leaf_intercepts(machine), leaf_intercepts(reduced)
        rounded = 2 * UNIT_ROUNDOFF_64 * (np.abs(before) + np.abs(after))
        offset = (np.abs(before - after) + rounded) * (1 + 1e-9)
        return replace(
            reduced, reduced_from=ReducedFrom(machine, leaf_distances(machine, reduced), offset)
        )
    offset = np.abs(machine.intercept - reduced.intercept) * (1 + 1e-9)
    return replace(reduced, reduced_from=ReducedFrom(machine, distances(machine, reduced), offset))


def leaf_distances(machine: KernelMachine, reduced: KernelMachine) -> Float64Array:
    """Return upper bounds on |W_p - W^_p| of each leaf, shape (n_leaves, n_decisions), float64.

    Parameters
    ----------
    machine, reduced : KernelMachine
        With one route. The vectors of a leaf have one gamma.

    Raises
    ------
    InputError
        The kernel is not positive definite, or the vectors of a leaf have different gammas.
    """
    pairs = zip(leaf_machines(machine), leaf_machines(reduced), strict=True)
    none = np.zeros(machine.n_decisions)
    return np.array(
        [none if trained is None else distances(trained, fewer) for trained, fewer in pairs]
    )


def distances(machine: KernelMachine, reduced: KernelMachine | None) -> Float64Array:
    """Return upper bounds on |W_p - W^_p|, shape (n_decisions,), float64.

    |W_p - W^_p|^2 = a' K a with the coefficients a of both machines' vectors, those of the reduced
    machine negative. A vector that both machines have occurs once. The rounding errors of kernel
    values and products are bounded by a share of (sum_i |a_i| sqrt(K_ii))^2, which is at least the
    sum of the products' magnitudes (Higham 2002, section 3.1).

    Parameters
    ----------
    machine : KernelMachine
    reduced : KernelMachine or None
        None: no vector is left, and W^ is 0.

    Raises
    ------
    InputError
        The kernel is not positive definite.
    """
    require_positive_definite(machine.kernel)
    if _same_sums(machine, reduced):
        return np.zeros(machine.n_decisions)
    vectors, coefficients, magnitudes = _difference(machine, reduced)
    kernel, (n, width) = machine.kernel, vectors.shape
    squares = np.zeros(len(coefficients))
    most = 0.0
    rows = max(1, _BLOCK_VALUES // n)
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        values, added = kernel.fast_values(vectors, vectors[part])
        squares += (coefficients[:, part] * (values @ coefficients.T).T).sum(axis=1)
        most = max(most, float(added.max()))
    # A sum in <s, t> may cancel: its error is relative to |s| |t|, and that of K(s, t) to the root.
    relative = _VALUE_ERROR + (4 * (n + 8) + 128 * (width + 8)) * UNIT_ROUNDOFF_64 + most
    size = magnitudes @ np.sqrt(np.maximum(kernel.self_values(vectors), 0.0))
    errors = relative * size**2
    bound: Float64Array = np.sqrt(np.maximum(squares, 0.0) + errors) * (1 + 1e-9)
    return bound


def _same_sums(machine: KernelMachine, reduced: KernelMachine | None) -> bool:
    """Return whether the decisions are the same sums, but for their intercepts."""
    return (
        reduced is not None
        and np.array_equal(machine.support_vectors, reduced.support_vectors)
        and np.array_equal(machine.dual_coef, reduced.dual_coef)
        and machine.class_counts == reduced.class_counts
    )


def _difference(
    machine: KernelMachine, reduced: KernelMachine | None
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the vectors of W_p - W^_p, each once, their coefficients and the coefficients' sizes.

    The size of a sum of coefficients is the sum of their magnitudes, so that it also bounds the
    rounding of the sum.
    """
    both, spread = machine.support_vectors, decision_coefficients(machine)
    if reduced is not None:
        both = np.vstack([both, reduced.support_vectors])
        spread = np.hstack([spread, -decision_coefficients(reduced)])
    vectors, inverse = np.unique(both, axis=0, return_inverse=True)
    coefficients = np.zeros((len(spread), len(vectors)))
    magnitudes = np.zeros_like(coefficients)
    for p, row in enumerate(spread):
        coefficients[p] = np.bincount(inverse.ravel(), row, minlength=len(vectors))
        magnitudes[p] = np.bincount(inverse.ravel(), np.abs(row), minlength=len(vectors))
    return vectors, coefficients, magnitudes
