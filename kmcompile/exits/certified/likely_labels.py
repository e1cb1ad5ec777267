"""The decisions that a centre of expansions bounds: those that prove the likeliest labels there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine, Task

_MOST_LABELS = 4
_LEAST_SHARE = 0.02
"""Least share of the samples of all cells that one more label a cell must have: an exit of centres
can decide no query whose label is none of its centre's."""


@dataclass(frozen=True, slots=True, eq=False)
class LikelyLabels:
    """The decisions of a centre, and which of them together prove a label.

    Parameters
    ----------
    decisions : ndarray of shape (n_rows,), int64
        Numbers of the decisions, increasing.
    proving : ndarray of shape (n_labels, n_rows), bool
        For each label that can be proved, the rows that prove it.
    counts : ndarray of shape (n_classes,), int64
        Samples of each label at the centre, most first.
    """

    decisions: NDArray[np.int64]
    proving: NDArray[np.bool_]
    counts: NDArray[np.int64]


def likely_labels(
    machine: KernelMachine, labels: NDArray[np.integer], n_labels: int = 1
) -> LikelyLabels:
    """Return the decisions of a centre; if one-vs-one, the pairs of the likeliest labels there.

    Parameters
    ----------
    machine : KernelMachine
    labels : ndarray of shape (n_samples,), int
        Labels of the centre's samples.
    n_labels : int
        Number of likely labels, at most the number of classes.
    """
    if machine.task is not Task.ONE_VS_ONE:
        rows = np.arange(machine.n_decisions)
        return LikelyLabels(rows, np.ones((1, len(rows)), bool), np.array([len(labels)]))
    counts = np.bincount(labels, minlength=machine.n_classes)
    order = np.argsort(-counts, kind="stable")
    pairs = np.stack(np.triu_indices(machine.n_classes, 1))
    of_labels = (pairs == order[:n_labels, None, None]).any(axis=1)
    decisions = np.flatnonzero(of_labels.any(axis=0))
    return LikelyLabels(decisions, of_labels[:, decisions], counts[order])


def n_rows(machine: KernelMachine, n_labels: int = 1) -> int:
    """Return the number of decisions that `likely_labels` gives a centre."""
    if machine.task is not Task.ONE_VS_ONE:
        return machine.n_decisions
    return n_labels * (machine.n_classes - 1) - n_labels * (n_labels - 1) // 2


def worthwhile(machine: KernelMachine, counts: Iterable[NDArray[np.int64]]) -> Iterator[int]:
    """Yield how many labels a centre may prove beside one, as far as each decides more samples.

    Parameters
    ----------
    machine : KernelMachine
    counts : iterable of ndarray of shape (n_classes,), int
        `LikelyLabels.counts` of the cells.
    """
    if machine.task is not Task.ONE_VS_ONE:
        return
    total = np.sum(list(counts), axis=0)
    for n_labels in range(2, min(_MOST_LABELS, machine.n_classes) + 1):
        if total[n_labels - 1] < _LEAST_SHARE * total.sum():
            return
        yield n_labels
