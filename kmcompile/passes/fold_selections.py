"""Fold selections of columns into the steps after them, if this adds no computation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.steps import Order, Selection, Step


def fold_selections(machine: KernelMachine) -> KernelMachine:
    """Return the machine with consecutive Selections joined and without permutations.

    A permutation of the columns can be applied to the numbers that later steps and the support
    vectors have for each column. Every kernel and every norm is a sum over the features, so their
    order does not matter.
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
    """Append a selection of these columns and return the order; a permutation is only returned."""
    last = folded[-1] if folded else None
    if isinstance(last, Selection):
        folded.pop()
        order, n_in = np.array(last.columns)[order], last.n_in
    if sorted(order) == list(range(n_in)):
        return order
    folded.append(Selection(tuple(order.tolist()), n_in))
    return np.arange(len(order))


def _restore(folded: list[Step], order: Order) -> None:
    """Append a step that restores the trained machine's column order, if it has changed."""
    if not np.array_equal(order, np.arange(len(order))):
        folded.append(Selection(tuple(order.tolist()), len(order)))
