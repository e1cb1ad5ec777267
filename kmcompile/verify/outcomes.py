"""The labels that the model can have if float64 leaves the signs of some decisions open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import Reference
from kmcompile.numeric.arrays import Float64Array


def wrong_labels(
    machine: KernelMachine, results: NDArray[np.void], reference: Reference
) -> NDArray[np.intp]:
    """Return which certified labels the model cannot have within its float64 errors."""
    doubted = np.flatnonzero((results["label"] != reference.labels) & results["certified"])
    is_wrong = [
        not can_be(
            machine, reference.decisions[row], reference.error[row], int(results["label"][row])
        )
        for row in doubted
    ]
    wrong: NDArray[np.intp] = doubted[np.array(is_wrong, dtype=bool)]
    return wrong


def can_be(
    machine: KernelMachine, decisions: Float64Array, error: Float64Array, label: int
) -> bool:
    """Return whether some decisions within their errors give the label.

    Parameters
    ----------
    machine : KernelMachine
    decisions, error : ndarray of shape (n_decisions,), float64
        Decision values of one query, and bounds on their float64 errors.
    label : int
    """
    if machine.task.has_one_sign:
        f = float(decisions[0] if label else -decisions[0])
        return f >= -float(error[0])
    if machine.task is Task.ONE_VS_REST:
        return bool(decisions[label] + error[label] >= (decisions - error).max())
    return _can_win(machine, decisions, error, label)


def _can_win(
    machine: KernelMachine, decisions: Float64Array, error: Float64Array, label: int
) -> bool:
    """Return whether some outcome of the open pairs lets a class win the vote.

    The class wins all of its open pairs. Each open pair of two other classes must then vote for one
    of them without giving it enough votes to beat the class. This is a matching of pairs to free
    votes.
    """
    pairs = np.array(np.triu_indices(machine.n_classes, 1)).T
    is_open = np.abs(decisions) <= error
    winners = np.where(decisions > 0, pairs[:, 0], pairs[:, 1])
    own = (pairs == label).any(axis=1)
    votes = np.bincount(winners[~is_open], minlength=machine.n_classes)
    votes[label] += (is_open & own).sum()
    free = votes[label] - votes - ~_wins_ties(machine, decisions, error, label)
    free[label] = 0
    if (free < 0).any():
        return False
    contested = pairs[is_open & ~own]
    owners = np.repeat(np.arange(machine.n_classes), free)
    if len(contested) == 0 or len(owners) < len(contested):
        return len(contested) == 0
    fits = (contested[:, :1] == owners) | (contested[:, 1:] == owners)
    return bool((maximum_bipartite_matching(csr_matrix(fits), perm_type="column") >= 0).all())


def _wins_ties(
    machine: KernelMachine, decisions: Float64Array, error: Float64Array, label: int
) -> NDArray[np.bool_]:
    """Return the classes that the label can beat with an equal number of votes."""
    classes = np.arange(machine.n_classes)
    if not machine.break_ties:
        return classes >= label
    confidence, slack = np.zeros(machine.n_classes), np.zeros(machine.n_classes)
    first, second = np.triu_indices(machine.n_classes, 1)
    np.add.at(confidence, first, decisions)
    np.subtract.at(confidence, second, decisions)
    for ends in (first, second):
        np.add.at(slack, ends, error)
    wins: NDArray[np.bool_] = confidence[label] + slack[label] >= confidence - slack
    return wins
