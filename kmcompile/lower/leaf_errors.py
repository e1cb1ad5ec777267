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

from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_space import VectorPairs, distance
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64, stored_error

_UP = 1 + 1e-9

_PairCoefficients = tuple[Float64Array, Float64Array]


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


def _products(terms: _Terms, pairs: _PairCoefficients) -> _Terms:
    """Return the products of a leaf's kernels, in the order (0, 0), (1, 0), (1, 1), ..."""
    i, j = np.tril_indices(len(terms.gammas))
    both = terms.gammas[i] + terms.gammas[j]
    share = (terms.gammas[i] / both)[:, None]

    def placed(points: Float64Array, coefficients: Float64Array) -> tuple[Float64Array, ...]:
        rate = terms.gammas[i] * terms.gammas[j] / both
        largest = np.exp(-rate * ((points[i] - points[j]) ** 2).sum(axis=1))
        return share * points[i] + (1 - share) * points[j], coefficients * largest

    trained, beta = placed(terms.trained, pairs[0])
    stored, rounded = placed(terms.stored, pairs[1])
    return _Terms(both, trained, stored, beta, rounded)


def _product_rounding(terms: _Terms, pairs: _PairCoefficients, moved: float) -> Float64Array:
    """Return what the rounding of vectors, and of `_products` in float64, does to the products.

    A midpoint is off by a few roundings of the vectors' lengths; a share of it and a largest value,
    z e^-z being below 1, by few more than it has features.
    """
    i, j = np.tril_indices(len(terms.gammas))
    lengths = np.sqrt(np.maximum((terms.trained**2).sum(axis=1), (terms.stored**2).sum(axis=1)))
    slopes = terms.steepest[i] + terms.steepest[j]
    of_place = slopes * (moved + 16 * UNIT_ROUNDOFF_64 * (lengths[i] + lengths[j]))
    of_value = 4 * (terms.trained.shape[1] + 16) * UNIT_ROUNDOFF_64
    sizes = np.abs(pairs[0]) + np.abs(pairs[1])
    rounding: Float64Array = (sizes * (of_place + of_value)).sum(axis=1)
    return rounding


def leaf_errors(
    coded: Coded,
    routing: Routing,
    rounded: Float64Array,
    pairs: _PairCoefficients,
) -> LeafErrors:
    """Return the errors of all leaves.

    Parameters
    ----------
    coded : Coded
    routing : Routing
    rounded : ndarray of shape (n_decisions, n_sv)
        The coefficients as they are stored.
    pairs : tuple of ndarray of shape (n_decisions, n_pairs)
        The coefficients of products of kernels, as they are trained and as they are stored;
        n_pairs is 0 if there are none.
    """
    machine = coded.machine
    gammas = machine.kernel.gaussian_gamma * routing.relative_gamma
    trained = machine.support_vectors
    stored = coded.codes.astype(np.float64) * coded.unit
    moved = coded.moved_error
    if coded.lossless:
        moved += stored_error(trained, stored)
        trained = stored
    terms = _Terms(gammas, trained, stored, machine.dual_coef, rounded)
    shape = (routing.n_leaves, machine.n_decisions)
    apart, along = np.zeros(shape), np.zeros(shape)
    ends = np.append(routing.pair_starts, pairs[0].shape[1])
    for leaf in range(routing.n_leaves):
        of_leaf = terms.chosen(np.arange(len(stored))[routing.members(leaf)])
        apart[leaf], along[leaf] = of_leaf.errors()
        apart[leaf] += (np.abs(of_leaf.beta) * of_leaf.steepest).sum(axis=1) * moved * _UP
        if routing.has_pairs:
            own = slice(int(ends[leaf]), int(ends[leaf + 1]))
            parts = pairs[0][:, own], pairs[1][:, own]
            of_products = _products(of_leaf, parts).errors()
            apart[leaf] += of_products[0] + _product_rounding(of_leaf, parts, moved) * _UP
            along[leaf] += of_products[1] * _UP
    return LeafErrors(apart, along)
