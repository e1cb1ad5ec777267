"""Fold selections into what follows them, where nothing has to be computed for that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.preprocessing import Affine, Extension, Projection, Selection, Step


def fold_selections(machine: KernelMachine) -> KernelMachine:
    """Return the machine with one Selection for two in a row and without permutations.

    A permutation of the columns can as well be applied to the numbers that later steps and the
    support vectors have for each column: every kernel and every norm is a sum over the features,
    in which their order plays no part.
    """
    if not any(isinstance(step, Selection) for step in machine.preprocessing):
        return machine
    # Column j of the trained machine is column order[j] of the folded one.
    order = np.arange(machine.n_features)
    folded: list[Step] = []
    for step in machine.preprocessing:
        if not isinstance(step, Selection):
            moved, order = _reordered(step, order)
            folded.append(moved)
            continue
        order = order[list(step.columns)]
        last = folded[-1] if folded else None
        n_in = step.n_in
        if isinstance(last, Selection):
            folded.pop()
            order, n_in = np.array(last.columns)[order], last.n_in
        if sorted(order) != list(range(n_in)):
            folded.append(Selection(tuple(order.tolist()), n_in))
            order = np.arange(step.n_out)
    vectors = machine.support_vectors[:, np.argsort(order)]
    return replace(machine, support_vectors=vectors, preprocessing=tuple(folded))


def _reordered(step: Step, order: NDArray[np.int64]) -> tuple[Step, NDArray[np.int64]]:
    """Return a step for columns in another order, and the order of its result."""
    places = np.argsort(order)
    if isinstance(step, Affine):
        offset, error = step.offset[places], step.offset_error[places]
        return replace(step, offset=offset, factor=step.factor[places], offset_error=error), order
    if isinstance(step, Projection):
        return Projection(step.matrix[:, places]), np.arange(step.n_out)
    if isinstance(step, Extension):
        return step, np.append(order, len(order))
    return step, order
