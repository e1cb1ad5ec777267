"""Pools: which support vectors make up which decisions' normals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.coefficients import decision_coefficients, vector_classes
from kmcompile.model.kernel_machine import KernelMachine, Task


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The vectors of which the normals of some decisions may be made.

    Parameters
    ----------
    vectors : ndarray of shape (n_members,), int
        Indices of support vectors, increasing.
    decisions : ndarray of shape (n_own,), int
        Indices of decisions.
    """

    vectors: NDArray[np.intp]
    decisions: NDArray[np.intp]


def joint_pools(machine: KernelMachine) -> tuple[Pool, ...]:
    """Return the pools of a selection for all decisions together (RSS, section 3.2.1).

    All decisions share one pool. In one-vs-one each pair of classes has a pool, the vectors of its
    two classes: LIBSVM's layout, and with it the tables of the C, have n_classes - 1 coefficients
    a vector, not one for each pair.
    """
    n = machine.n_support_vectors
    if machine.task is not Task.ONE_VS_ONE:
        return (Pool(np.arange(n), np.arange(machine.n_decisions)),)
    classes = vector_classes(machine)
    pairs = [(i, j) for i in range(machine.n_classes) for j in range(i + 1, machine.n_classes)]
    return tuple(
        Pool(np.flatnonzero((classes == i) | (classes == j)), np.array([p]))
        for p, (i, j) in enumerate(pairs)
    )


def separate_pools(machine: KernelMachine) -> tuple[Pool, ...]:
    """Return one pool a decision, of its own vectors, for a selection for each decision alone."""
    return tuple(
        Pool(np.flatnonzero(beta), np.array([p]))
        for p, beta in enumerate(decision_coefficients(machine))
    )
