"""Merge equal support vectors of one class: their coefficients add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import rounded_sum


def merge_duplicate_vectors(machine: KernelMachine) -> KernelMachine:
    """Return the machine with each support vector at most once in a class.

    sum_i beta_i K(s, x) over equal vectors s is (sum_i beta_i) K(s, x), so the function is the
    same. Vectors of different classes stay apart in a one-vs-one machine, whose coefficients
    are laid out by class. The first of equal vectors keeps its place. Coefficients that cancel
    lose nothing: their sum is rounded once.
    """
    n_sv = machine.n_support_vectors
    one_vs_one = machine.task is Task.ONE_VS_ONE
    counts = machine.class_counts if one_vs_one else (n_sv,)
    owner = np.repeat(np.arange(len(counts)), counts)
    keyed = np.column_stack([owner.astype(np.float64), machine.support_vectors + 0.0])
    # Compared as bytes (there are no NaN): numpy.unique(axis=0) makes a field of every column.
    row = np.dtype((np.void, keyed.itemsize * keyed.shape[1]))
    rows = np.ascontiguousarray(keyed).view(row).ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    if len(first) == n_sv:
        return machine
    target = first[inverse.reshape(-1)]
    dual_coef = machine.dual_coef.copy()
    ordered = np.argsort(target, kind="stable")
    for equal in np.split(ordered, np.flatnonzero(np.diff(target[ordered])) + 1):
        if len(equal) > 1:
            dual_coef[:, target[equal[0]]] = [rounded_sum(row) for row in dual_coef[:, equal]]
    kept = np.sort(first)
    class_counts = tuple(int((owner[kept] == c).sum()) for c in range(len(counts)))
    merged = n_sv - len(kept)
    return replace(
        machine,
        support_vectors=machine.support_vectors[kept],
        dual_coef=dual_coef[:, kept],
        class_counts=class_counts if one_vs_one else (),
        notes=(*machine.notes, f"{merged} duplicate support vectors merged"),
    )
