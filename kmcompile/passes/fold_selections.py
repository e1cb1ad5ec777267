"""Fold selections into what follows them, where nothing has to be computed for that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.steps import Order, Selection, Step


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
        if isinstance(step, Selection):
            order = order[list(step.columns)]
            order = _selected(folded, order, step.n_in)
            continue
        moved = step.reordered(order)
        if moved is None:
            _restore(folded, order)
            moved = step, np.arange(step.n_out)
        folded.append(moved[0])
        order = moved[1]
    vectors = machine.support_vectors[:, np.argsort(order)]
    return replace(machine, support_vectors=vectors, preprocessing=tuple(folded))


def _selected(folded: list[Step], order: Order, n_in: int) -> Order:
    """Append a selection of these columns, unless they are a permutation; return the order then."""
    last = folded[-1] if folded else None
    if isinstance(last, Selection):
        folded.pop()
        order, n_in = np.array(last.columns)[order], last.n_in
    if sorted(order) == list(range(n_in)):
        return order
    folded.append(Selection(tuple(order.tolist()), n_in))
    return np.arange(len(order))


def _restore(folded: list[Step], order: Order) -> None:
    """Append what brings the columns into the trained machine's order, if they are not in it."""
    if not np.array_equal(order, np.arange(len(order))):
        folded.append(Selection(tuple(order.tolist()), len(order)))
