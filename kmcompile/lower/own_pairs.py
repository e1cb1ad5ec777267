"""Lowering of leaves that vote among their own classes."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.class_pairs import settled_decisions
from kmcompile.program.stages.leaves.own_pairs import OwnPairs

_WORD = 32
_Number = TypeVar("_Number", bound=np.number)


def lower_own_pairs(machine: KernelMachine, routing: Routing) -> OwnPairs | None:
    """Return the own pairs of the leaves, if all other pairs are settled by the leaves' classes.

    Parameters
    ----------
    machine : KernelMachine
    routing : Routing
        Its leaves are sums of kernels alone, or None is returned.
    """
    if machine.task is not Task.ONE_VS_ONE or routing.has_pairs or routing.has_weights:
        return None
    intercepts = machine.intercept + routing.intercepts
    n_classes = machine.n_classes
    classes, pairs, terms = [], [], []
    for leaf in range(routing.n_leaves):
        used = machine.dual_coef[:, routing.members(leaf)] != 0
        own = used.any(axis=1) | (np.abs(intercepts[leaf]) != 1.0)
        present = _classes(intercepts[leaf], own, n_classes)
        if (intercepts[leaf] != settled_decisions(present))[~own].any():
            return None
        classes.append(_bits(present))
        pairs.append(np.flatnonzero(own))
        terms += [np.flatnonzero(column) for column in used[own].T]
    if not any(len(own) for own in terms):
        return None  # no table may be empty
    return OwnPairs(
        classes=np.array(classes),
        pair_ends=np.cumsum([len(own) for own in pairs]),
        pairs=np.concatenate(pairs),
        term_ends=np.cumsum([len(own) for own in terms]),
        terms=np.concatenate(terms).astype(np.uint16),
        n_classes=n_classes,
    )


def _classes(intercepts: Float64Array, own: NDArray[np.bool_], n_classes: int) -> NDArray[np.bool_]:
    """Return which classes a leaf has: those of its own pairs, or the one that wins all pairs."""
    first, second = np.triu_indices(n_classes, 1)
    present = np.zeros(n_classes, dtype=bool)
    present[first[own]] = present[second[own]] = True
    if not own.any():
        votes = np.bincount(np.where(intercepts > 0, first, second), minlength=n_classes)
        present[votes.argmax()] = True
    return present


def _bits(present: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the words of 32 classes each, class 0 in the lowest bit of the first."""
    words = np.zeros(-(-len(present) // _WORD), dtype=np.uint32)
    for number in np.flatnonzero(present):
        words[number // _WORD] |= np.uint32(1 << (number % _WORD))
    return words


def own_terms(table: NDArray[_Number], routing: Routing, own_pairs: OwnPairs) -> NDArray[_Number]:
    """Return the coefficients of all terms, shape (n_terms,), of a table of all decisions.

    Parameters
    ----------
    table : ndarray of shape (n_decisions, n_slots)
    routing : Routing
    own_pairs : OwnPairs
    """
    of_slot = np.repeat(np.arange(table.shape[1]), own_pairs.term_counts)
    leaf_of_slot = np.repeat(np.arange(routing.n_leaves), routing.leaf_sizes)
    starts = own_pairs.pair_ends.astype(np.int64) - own_pairs.counts
    pair = own_pairs.pairs[starts[leaf_of_slot[of_slot]] + own_pairs.terms]
    terms: NDArray[_Number] = table[pair, of_slot]
    return terms


def own_values(table: NDArray[_Number], own_pairs: OwnPairs) -> NDArray[_Number]:
    """Return the values of all own pairs, shape (n_own_pairs, ...).

    Parameters
    ----------
    table : ndarray of shape (n_leaves, n_decisions, ...)
    own_pairs : OwnPairs
    """
    leaf = np.repeat(np.arange(len(table)), own_pairs.counts)
    values: NDArray[_Number] = table[leaf, own_pairs.pairs]
    return values
