"""Dual coefficients of each decision, converted to and from LIBSVM's layout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array


def decision_coefficients(machine: KernelMachine) -> Float64Array:
    """Return the coefficients beta of each decision, shape (n_decisions, n_sv).

    In LIBSVM's layout (`KernelMachine.dual_coef`) the pairs of classes share rows. Here each
    decision has its own row, with 0 for the vectors that take no part.
    """
    if not machine.shares_rows:
        return machine.dual_coef
    ends = np.cumsum(machine.class_counts)
    starts = ends - np.asarray(machine.class_counts)
    spread = np.zeros((machine.n_decisions, machine.n_support_vectors))
    p = 0
    for i in range(machine.n_classes):
        for j in range(i + 1, machine.n_classes):
            own, other = slice(starts[i], ends[i]), slice(starts[j], ends[j])
            spread[p, own] = machine.dual_coef[j - 1, own]
            spread[p, other] = machine.dual_coef[i, other]
            p += 1
    return spread


def with_vectors(
    machine: KernelMachine,
    vectors: Float64Array,
    spread: Float64Array,
    classes: NDArray[np.int64],
) -> KernelMachine:
    """Return the machine with other vectors, which are put in the order of their classes.

    Parameters
    ----------
    machine : KernelMachine
    vectors : ndarray of shape (n, n_kernel_features), float64
    spread : ndarray of shape (n_decisions, n), float64
        The coefficients of each decision. In one-vs-one, those of a pair are 0 for vectors of
        other classes.
    classes : ndarray of shape (n,), int
        One-vs-one: the index of the class of each vector.
    """
    rows = spread
    counts = machine.class_counts
    if machine.shares_rows:
        order = np.argsort(classes, kind="stable")
        vectors, spread = vectors[order], spread[:, order]
        counts = tuple(np.bincount(classes, minlength=machine.n_classes).tolist())
        rows = _libsvm_rows(spread, counts)
    return replace(machine, support_vectors=vectors, dual_coef=rows, class_counts=counts)


def with_decision_coefficients(machine: KernelMachine, spread: Float64Array) -> KernelMachine:
    """Return the machine with other coefficients, stored in LIBSVM's layout.

    Parameters
    ----------
    machine : KernelMachine
    spread : ndarray of shape (n_decisions, n_sv), float64
        The coefficients of each decision, as `decision_coefficients` returns them.
    """
    if not machine.shares_rows:
        return replace(machine, dual_coef=spread)
    return replace(machine, dual_coef=_libsvm_rows(spread, machine.class_counts))


def _libsvm_rows(spread: Float64Array, counts: tuple[int, ...]) -> Float64Array:
    """Return one-vs-one coefficients in LIBSVM's layout, shape (n_classes - 1, n_sv)."""
    ends = np.cumsum(counts)
    starts = ends - np.asarray(counts)
    rows = np.zeros((len(counts) - 1, spread.shape[1]))
    p = 0
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            own, other = slice(starts[i], ends[i]), slice(starts[j], ends[j])
            rows[j - 1, own] = spread[p, own]
            rows[i, other] = spread[p, other]
            p += 1
    return rows


def vector_classes(machine: KernelMachine) -> NDArray[np.int64]:
    """Return the index of the class of each support vector, shape (n_sv,)."""
    if machine.task.has_one_sign:
        positive: NDArray[np.int64] = (machine.dual_coef[0] > 0).astype(np.int64)
        return positive
    if machine.shares_rows:
        return np.repeat(np.arange(machine.n_classes), machine.class_counts)
    if machine.task is Task.ONE_VS_ONE:
        first, second = np.triu_indices(machine.n_classes, 1)
        pair = np.abs(machine.dual_coef).argmax(axis=0)
        sign = machine.dual_coef[pair, np.arange(machine.n_support_vectors)]
        own: NDArray[np.int64] = np.where(sign > 0, first[pair], second[pair])
        return own
    strongest: NDArray[np.int64] = machine.dual_coef.argmax(axis=0)
    return strongest


def relevant_decisions(machine: KernelMachine, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which decisions the label of each sample depends on, shape (n, n_decisions).

    In one-vs-one these are the pairs of the sample's class.
    """
    if machine.task is not Task.ONE_VS_ONE:
        return np.ones((len(labels), machine.n_decisions), dtype=bool)
    n = machine.n_classes
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return np.stack([(labels == i) | (labels == j) for i, j in pairs], axis=1)
