"""The machine of one leaf: constant, linear, or kernels of a few landmarks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.threads import one_thread
from kmcompile.training.landmarks import (
    MOST_EXACT_ROWS,
    ridge_weights,
    svm_weights,
    weighted_landmarks,
)
from kmcompile.training.leaf_features import expanded, kernel_factor, kernel_values
from kmcompile.training.linear_fit import fit_linear
from kmcompile.training.polish import PolishProblem

SUBMATRIX_ROWS = 1000
"""Rows of the submatrix for W, or twice the features if that is more."""
LEAST_VALIDATED = 20
"""A leaf with fewer rows has no validation part: it is as large as it may be."""
POLISH_ROUNDS = 2


@dataclass(frozen=True)
class LeafSettings:
    """How leaves are trained.

    Attributes
    ----------
    gamma, C : float
    hinge : bool
        Squared hinge loss of targets -1 and 1, otherwise squared loss.
    n_landmarks : int
    products, linear : bool
        Whether there are pairs of landmarks, and a linear term beside the kernels.
    polish_steps : int
    validation_fraction : float
        Of a leaf's rows, to see whether something simpler is enough; 0 for not at all.
    """

    gamma: float
    C: float
    hinge: bool
    n_landmarks: int
    products: bool
    linear: bool
    polish_steps: int
    validation_fraction: float


@dataclass(frozen=True)
class Leaf:
    """A fitted leaf: f = c coef + products pair_coef + x weights + intercept.

    Attributes
    ----------
    vectors : ndarray of shape (m, n_features), float64
    gammas : ndarray of shape (m,), float64
    coef : ndarray of shape (m, n_decisions), float64
    pair_coef : ndarray of shape (n_pairs, n_decisions), float64
    weights : ndarray of shape (n_features, n_decisions), float64
    intercept : ndarray of shape (n_decisions,), float64
    """

    vectors: Float64Array
    gammas: Float64Array
    coef: Float64Array
    pair_coef: Float64Array
    weights: Float64Array
    intercept: Float64Array

    def decisions(self, X: Float64Array) -> Float64Array:
        """Return the decision values, shape (n_queries, n_decisions)."""
        products = len(self.pair_coef) > 0
        features = expanded(kernel_values(X, self.vectors, self.gammas), products)
        coef = np.concatenate([self.coef, self.pair_coef])
        values: Float64Array = features @ coef + X @ self.weights + self.intercept
        return values


def fit_leaf(
    X: Float64Array, Y: Float64Array, settings: LeafSettings, seed: int, start: Leaf | None = None
) -> Leaf:
    """Fit the machine of a leaf.

    With a validation part, the leaf is constant if that errs no more there than the linear
    machine and the kernels do, or linear if that errs no more than the kernels; then it is fitted
    to all rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
    Y : ndarray of shape (n_rows, n_decisions), float64
    settings : LeafSettings
    seed : int
        Of the validation part, the submatrix and k-means.
    start : Leaf, optional
        A machine whose landmarks and coefficients are changed to fit the rows, with a penalty on
        the changes only; without validation.
    """
    # With several threads the sums' order, and with it the result, would be the machine's.
    with one_thread():
        if start is not None:
            return _fitted(X, Y, settings, seed, start)
        if np.ptp(Y, axis=0).max() == 0.0:
            return _constant(X, Y)
        held_out = round(settings.validation_fraction * len(X))
        if held_out == 0 or len(X) < LEAST_VALIDATED:
            return _fitted(X, Y, settings, seed)
        order = np.random.default_rng(seed).permutation(len(X))
        test, train = order[:held_out], order[held_out:]
        kinds = _simplest_first(settings, Y.shape[1])
        errors = []
        for kind in kinds:
            leaf = _fitted(X[train], Y[train], kind, seed)
            errors.append(_error(leaf.decisions(X[test]), Y[test], settings.hinge))
        return _fitted(X, Y, kinds[int(np.argmin(errors))], seed)


def _simplest_first(settings: LeafSettings, n_decisions: int) -> list[LeafSettings]:
    kinds = [replace(settings, n_landmarks=0, linear=False)]
    # A linear machine must not cost a query more than the landmarks that it stands for.
    if settings.linear or n_decisions <= settings.n_landmarks:
        kinds.append(replace(settings, n_landmarks=0, linear=True))
    return [*kinds, settings] if settings.n_landmarks else kinds


def _error(decision: Float64Array, Y: Float64Array, hinge: bool) -> float:
    if not hinge:
        return float(((decision - Y) ** 2).sum())
    if Y.shape[1] == 1:
        return float(((decision > 0.0) != (Y > 0.0)).sum())
    return float((decision.argmax(axis=1) != Y.argmax(axis=1)).sum())


def _constant(X: Float64Array, Y: Float64Array) -> Leaf:
    d, q = X.shape[1], Y.shape[1]
    none = np.zeros((0, q))
    return Leaf(np.zeros((0, d)), np.zeros(0), none, none, np.zeros((d, q)), Y[0].copy())


def _fitted(
    X: Float64Array, Y: Float64Array, settings: LeafSettings, seed: int, start: Leaf | None = None
) -> Leaf:
    start = start or _unfitted(X, Y, settings, seed)
    vectors, gammas = start.vectors, start.gammas
    base_coef = np.concatenate([start.coef, start.pair_coef])
    base_decision = X @ start.weights + start.intercept
    shift, scale = X.mean(axis=0), _scales(X)
    fixed = (X - shift) * scale if settings.linear else np.zeros((len(X), 0))
    fixed = np.hstack([fixed, np.ones((len(X), 1))])
    rounds = POLISH_ROUNDS if settings.polish_steps and len(vectors) else 0
    for turn in range(rounds + 1):
        features = expanded(kernel_values(X, vectors, gammas), settings.products)
        factor = _factor(X, features, settings, seed)
        base = features @ base_coef + base_decision
        z = np.hstack([features @ factor, fixed])
        theta = fit_linear(z, Y, base, settings.C, settings.hinge)
        if turn < rounds:
            problem = PolishProblem(
                *(X, Y, fixed, factor, vectors, gammas, base_coef, base_decision),
                *(settings.C, settings.hinge, settings.products),
            )
            vectors, gammas = problem.polished(theta, settings.polish_steps // rounds)
    m, rank = len(vectors), factor.shape[1]
    coef = base_coef + factor @ theta[:rank]
    slope, intercept = start.weights, start.intercept + theta[-1]
    if settings.linear:
        change = scale[:, None] * theta[rank:-1]
        slope, intercept = slope + change, intercept - shift @ change
    return Leaf(vectors, gammas, coef[:m], coef[m:], slope, intercept)


def _unfitted(X: Float64Array, Y: Float64Array, settings: LeafSettings, seed: int) -> Leaf:
    """Return a leaf with landmarks and no coefficients."""
    vectors = _landmarks(X, Y, settings, seed)
    m, d, q = len(vectors), X.shape[1], Y.shape[1]
    n_pairs = m * (m + 1) // 2 if settings.products else 0
    return Leaf(
        vectors,
        np.full(m, settings.gamma),
        np.zeros((m, q)),
        np.zeros((n_pairs, q)),
        np.zeros((d, q)),
        np.zeros(q),
    )


def _landmarks(X: Float64Array, Y: Float64Array, settings: LeafSettings, seed: int) -> Float64Array:
    if settings.n_landmarks == 0:
        return np.zeros((0, X.shape[1]))
    rows = np.random.default_rng(seed).permutation(len(X))[:MOST_EXACT_ROWS]
    X, Y = X[rows], Y[rows]
    if np.ptp(Y, axis=0).max() == 0.0:
        weights = np.ones(len(X))
    elif settings.hinge:
        weights = svm_weights(X, Y, settings.gamma, settings.C)
    else:
        weights = ridge_weights(X, Y, settings.gamma, settings.C)
    return weighted_landmarks(X, weights, settings.n_landmarks, seed)


def _factor(
    X: Float64Array, features: Float64Array, settings: LeafSettings, seed: int
) -> Float64Array:
    if features.shape[1] == 0:
        return np.zeros((0, 0))
    count = max(SUBMATRIX_ROWS, 2 * features.shape[1])
    rows = np.random.default_rng(seed).permutation(len(X))[:count]
    gram = kernel_values(X[rows], X[rows], np.array(settings.gamma))
    return kernel_factor(features[rows], gram)


def _scales(X: Float64Array) -> Float64Array:
    """Return 1 / (deviation sqrt(d)) a feature: rows of about unit length, as with rbf kernels."""
    deviation = X.std(axis=0)
    # A feature without deviation has rounding errors only, which must not become large.
    flat = deviation <= 1e-9 * np.abs(X).max(axis=0)
    scales: Float64Array = ~flat / (np.where(flat, 1.0, deviation) * np.sqrt(X.shape[1]))
    return scales
