from __future__ import annotations

import numpy as np
import pytest

from kmcompile.training import DCPredClassifier
from kmcompile.training.landmarks import weighted_landmarks
from kmcompile.training.leaf_features import back_from_expanded, expanded, squared_distances
from kmcompile.training.linear_fit import INTERCEPT_PENALTY, fit_linear
from kmcompile.training.polish import PolishProblem

EPS = np.finfo(float).eps


def test_rows_of_weight_0_move_no_landmark():
    X = np.random.default_rng(0).normal(size=(60, 3))
    weights = np.r_[np.ones(40), np.zeros(20)]
    moved = X.copy()
    moved[40:] += 100.0
    assert np.array_equal(
        weighted_landmarks(X, weights, 4, 0), weighted_landmarks(moved, weights, 4, 0)
    )


def test_one_landmark_is_the_weighted_mean():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [4.0, 4.0]])
    weights = np.array([1.0, 2.0, 4.0, 9.0])
    found = weighted_landmarks(X, weights, 1, 0)[0]
    assert np.abs(found - weights @ X / 16.0).max() <= 16 * EPS * 4.0


@pytest.mark.parametrize("hinge", [False, True])
@pytest.mark.parametrize("products", [False, True])
def test_the_gradient_is_that_of_complex_steps(hinge, products):
    random = np.random.default_rng(1)
    n, d, m, q = 20, 3, 2, 2
    p = m + products * m * (m + 1) // 2
    X, fixed = random.normal(size=(n, d)), np.ones((n, 1))
    problem = PolishProblem(
        X,
        np.sign(random.normal(size=(n, q))),
        fixed,
        random.normal(size=(p, p)),
        random.normal(size=(m, d)),
        np.full(m, 0.3),
        random.normal(size=(p, q)),
        random.normal(size=(n, q)),
        2.0,
        hinge,
        products,
    )
    parameters = 0.3 * random.normal(size=(p + 1) * q + m * (d + 1))
    gradient = problem.objective(parameters)[1]
    step = 1e-30
    steps = [
        problem.objective(parameters + 1j * step * unit)[0].imag / step
        for unit in np.eye(len(parameters))
    ]
    bound = _gradient_bound(problem, parameters)
    assert (np.abs(gradient - steps) <= bound).all()


def _gradient_bound(problem, parameters):
    """Rounding errors of sums of the terms' magnitudes, those of |x - u|^2 included."""
    theta, vectors, gammas = problem.moved(parameters)
    theta, factor, rank = np.abs(theta), np.abs(problem.factor), problem.factor.shape[1]
    squared = squared_distances(problem.X, vectors)
    values = np.exp(-gammas * squared)
    features, coef = expanded(values, problem.products), factor @ theta[:rank]
    coef = coef + np.abs(problem.base_coef)
    slope = 1 + features @ coef + problem.fixed @ theta[rank:] + np.abs(problem.base_decision)
    slope = 2 * problem.C * slope
    by_theta = np.concatenate([factor.T @ (features.T @ slope), problem.fixed.T @ slope])
    by_values = back_from_expanded(values, slope @ coef.T, problem.products) * values
    lengths = np.abs(problem.X).max() + np.abs(vectors).max()
    by_shift = 2 * np.sqrt(gammas.max() * 2) * by_values.sum(axis=0)[:, None] * lengths
    by_shift = np.repeat(by_shift * 2, vectors.shape[1], axis=1)
    largest = gammas.max() * vectors.shape[1] * lengths**2
    by_change = by_values.sum(axis=0) * largest
    terms = np.concatenate([by_theta.ravel(), by_shift.ravel(), by_change]) + np.abs(parameters)
    operations = len(problem.X) + len(factor) ** 2 + vectors.shape[1] + 20
    return EPS * operations * (1 + largest) * terms


def test_the_attributes_decide_as_the_leaves_do():
    X, y = _rows()
    machine = DCPredClassifier(
        1, 3, pseudo_landmarks="products", polish_steps=10, random_state=0
    ).fit(X, y)
    values = np.exp(
        -machine.gamma_ * machine.relative_gamma_ * squared_distances(X, machine.support_vectors_)
    )
    features = expanded(values, True)
    coef = np.hstack([machine.dual_coef_, machine.pair_coef_]).T
    decision = features @ coef + X @ machine.leaf_weights_[0].T + machine.intercept_[0]
    lengths = np.abs(X).max() + np.abs(machine.support_vectors_).max()
    exponents = machine.gamma_ * machine.relative_gamma_.max() * X.shape[1] * lengths**2
    terms = features @ np.abs(coef) + np.abs(X) @ np.abs(machine.leaf_weights_[0].T)
    terms += np.abs(machine.intercept_[0])
    bound = EPS * (len(coef) + X.shape[1] + 20) * (1 + 4 * exponents) * terms
    assert (np.abs(decision - machine.routed_decisions(X)) <= bound).all()


def test_the_number_of_jobs_changes_nothing():
    X, y = _rows()
    one, two = (
        DCPredClassifier(4, 3, polish_steps=10, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2)
    )
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def _rows():
    X = np.random.default_rng(2).normal(size=(200, 3))
    return X, np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])


@pytest.mark.parametrize("hinge", [False, True])
def test_weights_that_are_added_to_decisions_solve_their_equations(hinge):
    random = np.random.default_rng(3)
    z = np.hstack([random.normal(size=(30, 2)), np.ones((30, 1))])
    Y, base = np.sign(random.normal(size=(30, 2))), random.normal(size=(30, 2))
    C, penalty = 2.0, np.array([1.0, 1.0, INTERCEPT_PENALTY])[:, None]
    weights = fit_linear(z, Y, base, C, hinge)
    short = Y - base - z @ weights
    active = Y * (Y - short) < 1.0 if hinge else np.ones(Y.shape, dtype=bool)
    slope = penalty * weights - 2 * C * z.T @ (active * short)
    terms = penalty * np.abs(weights) + 2 * C * np.abs(z).T @ (np.abs(Y) + np.abs(base) + 1)
    # The equations of three unknowns are solved with a residual of their size's rounding.
    residual = 2 * C * np.abs(z).T @ np.abs(z) @ np.abs(weights)
    assert (np.abs(slope) <= 30**2 * EPS * (terms + residual)).all()


def test_leaves_that_cost_much_to_change_have_the_landmarks_of_the_root():
    X, y = _rows()
    root, leaves = (
        DCPredClassifier(n, 3, polish_steps=10, C=1e-9, start="root", random_state=0).fit(X, y)
        for n in (1, 4)
    )
    assert len(root.leaf_ends_) == 1
    assert len(leaves.leaf_ends_) == 4
    vectors = leaves.support_vectors_.reshape(4, 3, -1)
    # What a penalty of 1 beside losses of 1e-9 n leaves of a change.
    assert np.abs(vectors - vectors[0]).max() <= 1e-6


def test_a_start_that_is_none_is_refused():
    X, y = _rows()
    with pytest.raises(ValueError, match="start"):
        DCPredClassifier(start="centre").fit(X, y)
