"""What rounded vectors and coefficients do to the decisions of the leaves of an rbf machine.

A leaf's decision is a sum of kernels of one or several gammas, and of products of them. A product
is a kernel, too: with g = g_i + g_j and m = (g_i s_i + g_j s_j) / g,

    K_i(x) K_j(x) = exp(-(g_i g_j / g) |s_i - s_j|^2) exp(-g |x - m|^2).

The terms of one gamma are a vector in its feature space (`kmcompile.lower.feature_space`). Beside
the bounds there are those of single terms: exp(-g r^2) changes by at most sqrt(2 g / e) for each
unit of r. Of both the smaller is taken, and the groups are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.kernels import Rbf
from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_space import VectorPairs, distance
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import stored_error

_UP = 1 + 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LeafErrors:
    """What the stored numbers of the leaves do to decisions, each of shape (n_leaves, n_decisions).

    Parameters
    ----------
    apart : ndarray
        How far the decision of the codes is from the trained one of the same input.
    per_deviation : ndarray
        The change of a decision for each unit of distance between input and codes.
    """

    apart: Float64Array
    per_deviation: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """Kernels exp(-g |v - x|^2) with coefficients: as trained, and as stored.

    Parameters
    ----------
    gammas : ndarray of shape (n,)
    trained, stored : ndarray of shape (n, n_features)
    beta, rounded : ndarray of shape (n_decisions, n)
        Coefficients as trained and as stored.
    """

    gammas: Float64Array
    trained: Float64Array
    stored: Float64Array
    beta: Float64Array
    rounded: Float64Array

    @property
    def steepest(self) -> Float64Array:
        """The largest change of each kernel for a unit of distance."""
        slopes: Float64Array = np.sqrt(2 * self.gammas / math.e) * (1 + 1e-12)
        return slopes

    def chosen(self, rows: np.ndarray) -> _Terms:
        """Return the chosen terms only."""
        return _Terms(
            self.gammas[rows],
            self.trained[rows],
            self.stored[rows],
            self.beta[:, rows],
            self.rounded[:, rows],
        )

    def errors(self) -> tuple[Float64Array, Float64Array]:
        """Return bounds on the distance of the sums, and on their change a unit of distance."""
        apart, along = np.zeros(len(self.beta)), np.zeros(len(self.beta))
        _, groups, counts = np.unique(self.gammas, return_inverse=True, return_counts=True)
        alone = counts[groups] == 1
        parts = [np.flatnonzero(alone)]
        parts += [np.flatnonzero(groups == n) for n in np.flatnonzero(counts > 1)]
        for rows in parts:
            if len(rows):
                terms = self.chosen(rows)
                of_terms = terms.by_single_terms()
                bounds = of_terms if alone[rows[0]] else terms.in_feature_space()
                apart += np.minimum(of_terms[0], bounds[0])
                along += np.minimum(of_terms[1], bounds[1])
        return apart, along

    def by_single_terms(self) -> tuple[Float64Array, Float64Array]:
        """Return the bounds that add up those of the terms."""
        moved = np.sqrt(((self.trained - self.stored) ** 2).sum(axis=1)) * (1 + 1e-12)
        of_terms = np.abs(self.beta) * np.minimum(self.steepest * moved, 1.0)
        apart = (of_terms + np.abs(self.rounded - self.beta)).sum(axis=1)
        return apart * _UP, (np.abs(self.rounded) * self.steepest).sum(axis=1) * _UP

    def in_feature_space(self) -> tuple[Float64Array, Float64Array]:
        """Return the bounds in the feature space of the terms' one gamma."""
        gamma = float(self.gammas[0])
        far = distance(VectorPairs(gamma, self.trained, self.stored), self.beta, self.rounded)
        return far.apart, far.length * math.sqrt(2 * gamma) * (1 + 1e-12)


def leaf_errors(coded: Coded, routing: Routing, rounded: Float64Array) -> LeafErrors:
    """Return the errors of all leaves.

    Parameters
    ----------
    coded : Coded
    routing : Routing
    rounded : ndarray of shape (n_decisions, n_sv)
        The coefficients as they are stored.
    """
    machine = coded.machine
    assert isinstance(machine.kernel, Rbf)
    gammas = machine.kernel.gamma * routing.relative_gamma
    trained = machine.support_vectors
    stored = coded.codes.astype(np.float64) * coded.unit
    moved = coded.moved_error
    if coded.lossless:
        moved += stored_error(trained, stored)
        trained = stored
    terms = _Terms(gammas, trained, stored, machine.dual_coef, rounded)
    shape = (routing.n_leaves, machine.n_decisions)
    apart, along = np.zeros(shape), np.zeros(shape)
    for leaf in range(routing.n_leaves):
        own = np.arange(len(stored))[routing.members(leaf)]
        of_leaf = terms.chosen(own)
        apart[leaf], along[leaf] = of_leaf.errors()
        apart[leaf] += (np.abs(of_leaf.beta) * of_leaf.steepest).sum(axis=1) * moved * _UP
    return LeafErrors(apart, along)
