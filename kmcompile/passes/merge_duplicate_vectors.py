"""Merge equal support vectors of one class: their coefficients add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array, rounded_sum


def merge_duplicate_vectors(machine: KernelMachine) -> KernelMachine:
    """Return the machine with each support vector at most once in a class.

    sum_i beta_i K(s, x) over equal vectors s is (sum_i beta_i) K(s, x), so the function is the
    same. Vectors of different classes stay apart in a one-vs-one machine, whose coefficients
    are laid out by class. The first of equal vectors keeps its place. Coefficients that cancel
    lose nothing: their sum is rounded once. Vectors that a reader has rounded stay as they are:
    the bounds count their rounding for each coefficient, also where two cancel.
    """
    if machine.rounded_vectors:
        return machine
    n_sv = machine.n_support_vectors
    one_vs_one = machine.task is Task.ONE_VS_ONE
    counts = machine.class_counts if one_vs_one else (n_sv,)
    owner = np.repeat(np.arange(len(counts)), counts)
    keyed = np.column_stack([owner.astype(np.float64), machine.support_vectors])
    target = first_of_equal(keyed)
    first = np.unique(target)
    if len(first) == n_sv:
        return machine
    dual_coef = machine.dual_coef.copy()
    ordered = np.argsort(target, kind="stable")
    for equal in np.split(ordered, np.flatnonzero(np.diff(target[ordered])) + 1):
        if len(equal) > 1:
            dual_coef[:, target[equal[0]]] = [rounded_sum(row) for row in dual_coef[:, equal]]
    class_counts = tuple(int((owner[first] == c).sum()) for c in range(len(counts)))
    merged = n_sv - len(first)
    return replace(
        machine,
        support_vectors=machine.support_vectors[first],
        dual_coef=dual_coef[:, first],
        class_counts=class_counts if one_vs_one else (),
        notes=(*machine.notes, f"{merged} duplicate support vectors merged"),
    )


def first_of_equal(vectors: Float64Array) -> NDArray[np.intp]:
    """Return for each row the index of the first row that is equal to it, shape (n,).

    Parameters
    ----------
    vectors : ndarray of shape (n, n_features), float64
        Finite. -0 is equal to 0.
    """
    keyed = np.ascontiguousarray(vectors + 0.0)
    # Compared as bytes (there are no NaN): numpy.unique(axis=0) makes a field of every column.
    row = np.dtype((np.void, keyed.itemsize * keyed.shape[1]))
    _, first, inverse = np.unique(keyed.view(row).ravel(), return_index=True, return_inverse=True)
    found: NDArray[np.intp] = first[inverse.reshape(-1)]
    return found
