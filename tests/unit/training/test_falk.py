"""FaLKSVC against the definitions, on sets small enough for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmcompile.training import FaLKSVC
from kmcompile.training.model_selection import Grid

ESTIMATORS = [FaLKSVC(k=30, selection=s) for s in ("nearest_training_point", "nearest_centre")]


def sample(n_classes: int = 2, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.random((n, 2))
    return X, np.floor(3 * X).astype(int).sum(axis=1) % n_classes


def by_distance(X: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.argsort(((X - x) ** 2).sum(axis=1), kind="stable")


@pytest.mark.few
@parametrize_with_checks(ESTIMATORS)
def test_is_an_estimator_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_each_point_has_the_centre_of_its_smallest_rank() -> None:
    X, y = sample()
    machine = FaLKSVC(k=40, random_state=0).fit(X, y)
    ranks = np.array([np.argsort(by_distance(X, X[c])) for c in machine.centres_])
    assert (ranks.min(axis=0) < 20).all()
    np.testing.assert_array_equal(machine.centre_of_, ranks.argmin(axis=0))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("selection", ["nearest_training_point", "nearest_centre"])
def test_predicts_what_the_neighbourhood_svm_predicts(n_classes: int, selection: str) -> None:
    X, y = sample(n_classes)
    queries = np.random.default_rng(1).random((60, 2))
    machine = FaLKSVC(
        k=40, C=10.0, gamma=20.0, selection=selection, condense=False, random_state=0
    ).fit(X, y)
    expected = []
    for query in queries:
        if selection == "nearest_centre":
            centre = machine.centres_[by_distance(X[machine.centres_], query)[0]]
        else:
            centre = machine.centres_[machine.centre_of_[by_distance(X, query)[0]]]
        rows = by_distance(X, X[centre])[:40]
        if len(np.unique(y[rows])) == 1:
            expected.append(y[rows[0]])
        else:
            local = SVC(C=10.0, gamma=20.0).fit(X[rows], y[rows])
            expected.append(local.predict(query[None])[0])
    np.testing.assert_array_equal(machine.predict(queries), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_neighbourhoods_of_one_class_are_constants(n_classes: int) -> None:
    X, y = sample(n_classes)
    machine = FaLKSVC(k=6, selection="nearest_centre", random_state=0).fit(X, y)
    constant = np.flatnonzero(machine.leaf_classes_.sum(axis=1) == 1)
    assert len(constant) == n_classes
    assert (np.diff(machine.leaf_ends_, prepend=0)[constant] == 0).all()
    rows = machine.centres_[np.isin(machine.leaf_of_centre_, constant)]
    np.testing.assert_array_equal(machine.predict(X[rows]), y[rows])


@pytest.mark.exhaustive
def test_jobs_change_nothing() -> None:
    X, y = sample()
    one, two = (FaLKSVC(k=40, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2))
    for name in ("support_", "dual_coef_", "intercept_", "route_points_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_condensed_points_leave_each_training_point_its_leaf() -> None:
    X, y = sample(n=1000)
    few, all_points = (
        FaLKSVC(k=40, condense=condense, random_state=0).fit(X, y) for condense in (True, False)
    )
    assert len(few.route_points_) < len(all_points.route_points_)
    np.testing.assert_array_equal(few.leaf_of(X), all_points.leaf_of(X))


def test_two_levels_leave_each_training_point_its_leaf() -> None:
    X, y = sample(n=1000)
    flat, two = (
        FaLKSVC(k=40, selection="nearest_centre", route=route, random_state=0).fit(X, y)
        for route in ("flat", "two_levels")
    )
    assert len(two.node_ends_) > 1
    np.testing.assert_array_equal(two.leaf_of(X), flat.leaf_of(X))


def test_local_selection_gives_each_neighbourhood_its_width() -> None:
    X, y = sample()
    grid = Grid(k=(20, 40), C=(1.0, 16.0), percentiles=(10.0, 50.0), n_centres=3, n_folds=3)
    machine = FaLKSVC(local_model_selection=True, grid=grid, random_state=0).fit(X, y)
    assert machine.choice_.k in grid.k
    assert machine.relative_gamma_.max() == 1
    assert len(np.unique(machine.relative_gamma_)) > 1


def test_equal_points_are_covered() -> None:
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.repeat([0, 1], 50)
    machine = FaLKSVC(k=10, random_state=0).fit(X, y)
    assert (machine.centre_of_ >= 0).all()
    np.testing.assert_array_equal(machine.predict(X), y)


def by_feature_distance(X: np.ndarray, x: np.ndarray, degree: int) -> np.ndarray:
    squares = ((X**2).sum(axis=1) + 1.0) ** degree
    return np.argsort(squares - 2 * (X @ x + 1.0) ** degree, kind="stable")


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("selection", ["nearest_training_point", "nearest_centre"])
def test_poly_trains_on_neighbours_in_feature_space(degree: int, selection: str) -> None:
    X, y = sample(n=300)
    machine = FaLKSVC(
        k=30,
        kernel="poly",
        gamma=1.0,
        coef0=1.0,
        degree=degree,
        selection=selection,
        condense=False,
        random_state=0,
    ).fit(X, y)
    ranks = np.array([np.argsort(by_feature_distance(X, X[c], degree)) for c in machine.centres_])
    np.testing.assert_array_equal(machine.centre_of_, ranks.argmin(axis=0))
    centres = machine.centres_
    for query in np.random.default_rng(1).random((20, 2)):
        if selection == "nearest_centre":
            centre = centres[by_distance(X[centres], query)[0]]
        else:
            centre = centres[machine.centre_of_[by_distance(X, query)[0]]]
        rows = by_feature_distance(X, X[centre], degree)[:30]
        expected = y[rows[0]]
        if len(np.unique(y[rows])) > 1:
            local = SVC(kernel="poly", gamma=1.0, coef0=1.0, degree=degree).fit(X[rows], y[rows])
            expected = local.predict(query[None])[0]
        assert machine.predict(query[None])[0] == expected


@pytest.mark.parametrize("degree", [0, 1.5])
def test_degrees_that_are_no_polynomial_are_refused(degree: float) -> None:
    with pytest.raises(ValueError, match="must be an integer"):
        FaLKSVC(kernel="poly", degree=degree).fit(*sample())
