"""Sums of all decisions over the support vectors, class by class where pairs share rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array


class Part(NamedTuple):
    """Some support vectors, their coefficients, and the decisions that these belong to.

    Parameters
    ----------
    own : slice
    coefficients : ndarray of shape (n_rows, n_own), float64
    decisions : ndarray of shape (n_rows,), int
    """

    own: slice
    coefficients: Float64Array
    decisions: NDArray[np.intp]


class DecisionSums:
    """Products with the coefficients beta of all decisions, without those that are 0.

    In one-vs-one with k classes a vector has coefficients in k - 1 of k (k - 1) / 2 decisions. A
    product with the whole of beta would multiply k / 2 times as many numbers, most of them by 0.

    Parameters
    ----------
    n_decisions, n_vectors : int
    parts : tuple of Part
        Each support vector is in one part.
    """

    def __init__(self, n_decisions: int, n_vectors: int, parts: tuple[Part, ...]) -> None:
        self.n_decisions, self.n_vectors, self.parts = n_decisions, n_vectors, parts

    @classmethod
    def of_machine(cls, machine: KernelMachine) -> DecisionSums:
        """Return the sums of a machine's decisions."""
        return cls(machine.n_decisions, machine.n_support_vectors, tuple(_parts(machine)))

    def of(self, values: Float64Array) -> Float64Array:
        """Return values @ beta.T, shape (n, n_decisions), for values of shape (n, n_sv)."""
        sums = np.zeros((len(values), self.n_decisions))
        for own, coefficients, decisions in self.parts:
            sums[:, decisions] += values[:, own] @ coefficients.T
        return sums

    def back(self, weights: Float64Array) -> Float64Array:
        """Return weights @ beta, shape (n, n_sv), for weights of shape (n, n_decisions)."""
        spread = np.empty((len(weights), self.n_vectors))
        for own, coefficients, decisions in self.parts:
            spread[:, own] = weights[:, decisions] @ coefficients
        return spread


def _parts(machine: KernelMachine) -> list[Part]:
    """Return a part a class where the pairs share rows, and otherwise a single one."""
    if not machine.shares_rows:
        return [Part(slice(None), machine.dual_coef, np.arange(machine.n_decisions))]
    k, first = machine.n_classes, 0
    pair = np.zeros((k, k), dtype=np.intp)
    pair[np.triu_indices(k, 1)] = np.arange(machine.n_decisions)
    pair += pair.T
    parts = []
    for own, count in enumerate(machine.class_counts):
        members = slice(first, first + count)
        coefficients = np.ascontiguousarray(machine.dual_coef[:, members])
        parts.append(Part(members, coefficients, np.delete(pair[own], own)))
        first += count
    return parts
