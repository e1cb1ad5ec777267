"""FaLKSVC: coverings, assignments and local machines by their definitions, and its C."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import kmcompile
from kmcompile.errors import InputError
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.training import FaLKSVC
from kmcompile.training.covering import cover
from kmcompile.training.neighbours import LocalKernel, Neighbours

RBF = LocalKernel("rbf", 1.0, 0.5, 3, 0.0)
CUBIC = LocalKernel("poly", 1.0, 0.5, 3, 1.0)


def cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return scaled features of breast_cancer and their labels."""
    X, y = load_breast_cancer(return_X_y=True)
    return np.float32((X - X.mean(axis=0)) / X.std(axis=0))[:, :8].astype(np.float64), y


def feature_distances(X: np.ndarray, kernel: LocalKernel) -> np.ndarray:
    """Return squared distances in feature space, eq. 5, of all pairs of points."""
    products = X @ X.T
    if not kernel.euclidean:
        products = (kernel.gamma * products + kernel.coef0) ** kernel.degree
    squares = np.diag(products)
    return squares[:, None] + squares - 2 * products


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_a_scikit_learn_estimator():
    check_estimator(FaLKSVC(k=30))


@pytest.mark.parametrize("kernel", [RBF, CUBIC], ids=["rbf", "poly"])
def test_neighbourhoods_are_the_nearest_points_in_feature_space(kernel):
    X, _ = cancer()
    neighbours = Neighbours(X, kernel)
    distances = feature_distances(X, kernel)
    # Of distances that differ by rounding only, either order is right.
    rounding = 64 * X.shape[1] * np.finfo(float).eps * distances.max()
    for centre in range(0, len(X), 50):
        nearest, _ = neighbours.around(centre, 40)
        assert nearest[0] == centre
        assert len(set(nearest)) == 40
        others = np.setdiff1d(np.arange(len(X)), nearest)
        own = distances[centre]
        assert own[nearest].max() <= own[others].min() + rounding


@pytest.mark.parametrize("k_prime", [1, 7, 40])
def test_each_point_is_covered_and_belongs_to_the_centre_of_its_smallest_rank(k_prime):
    X, _ = cancer()
    X = X[:300]
    covering = cover(X, 40, k_prime, RBF, np.random.RandomState(0))
    inner = covering.neighbourhoods[:, :k_prime]
    assert set(inner.ravel()) == set(range(len(X)))
    assert len(set(covering.centres)) == len(covering.centres)
    for point, centre in enumerate(covering.centre_of):
        ranks = np.where(inner == point, np.arange(k_prime), k_prime).min(axis=1)
        assert centre == ranks.argmin()
        assert ranks[centre] < k_prime


def test_a_query_is_answered_by_the_svm_of_the_nearest_centre():
    X, y = cancer()
    model = FaLKSVC(k=60, C=10.0, gamma=0.2, random_state=0).fit(X[:400], y[:400])
    covering = cover(X[:400], 60, 30, RBF, np.random.RandomState(0))
    distances = ((X[400:, None, :] - X[covering.centres][None]) ** 2).sum(axis=2)
    labels = model.predict(X[400:])
    for x, label, nearest in zip(X[400:], labels, distances.argmin(axis=1), strict=True):
        own = covering.neighbourhoods[nearest]
        if len(set(y[own])) == 1:
            assert label == y[own[0]]
        else:
            local = SVC(C=10.0, gamma=0.2).fit(X[own], y[own])
            assert label == local.predict(x[None])[0]


@pytest.mark.parametrize("condense", [True, False])
def test_training_points_are_led_to_the_centres_that_they_belong_to(condense):
    X, y = cancer()
    model = FaLKSVC(
        k=60,
        gamma=0.2,
        selection="nearest_training_point",
        condense=condense,
        random_state=0,
    ).fit(X, y)
    whole = FaLKSVC(
        k=60, gamma=0.2, selection="nearest_training_point", condense=False, random_state=0
    ).fit(X, y)
    assert len(whole.route_weights_) == len(X)
    assert (len(model.route_weights_) < len(X)) == condense
    assert (model.leaf_of(X) == whole.leaf_of(X)).all()


@pytest.mark.parametrize("route", ["flat", "two_levels"])
def test_the_number_of_jobs_changes_nothing(route):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    one, two = (
        FaLKSVC(k=20, k_prime=4, route=route, n_jobs=jobs, random_state=3).fit(X, y)
        for jobs in (1, 2)
    )
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(two, name)), name


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_all_points_as_neighbours_it_is_the_svm(n_classes):
    X, y = load_wine(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.minimum(y, n_classes - 1)
    model = FaLKSVC(k=len(X), k_prime=len(X), gamma=0.1, random_state=0).fit(X, y)
    assert model.n_centres_ == 1
    # Solvers end a little apart if the points come in another order.
    order = cover(X, len(X), len(X), RBF, np.random.RandomState(0)).neighbourhoods[0]
    assert (model.predict(X) == SVC(gamma=0.1).fit(X[order], y[order]).predict(X)).all()


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"kernel": "chi2"}, "kernel is 'chi2', must be rbf or poly or linear"),
        ({"selection": "all"}, "selection is 'all'"),
        ({"route": "tree"}, "route is 'tree'"),
        ({"k": 0}, "k is 0, must be 1 or more"),
        ({"k_prime": 0}, "k_prime is 0, must be 1 or more"),
        ({"gamma": -1.0}, "gamma is -1.0"),
    ],
    ids=str,
)
def test_parameters_that_are_none_are_refused(parameters, word):
    with pytest.raises(ValueError, match=word):
        FaLKSVC(**parameters).fit(*cancer())


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf", "gamma": 0.2},
        {"kernel": "rbf", "gamma": 0.2, "route": "two_levels", "k_prime": 5},
        {"kernel": "poly", "gamma": 0.2, "coef0": 1.0, "selection": "nearest_training_point"},
        {"kernel": "linear"},
    ],
    ids=str,
)
def test_the_machine_and_its_c_give_the_estimators_labels(parameters):
    X, y = cancer()
    model = FaLKSVC(k=60, C=5.0, random_state=0, **parameters).fit(X[:400], y[:400])
    machine = load_model(model)
    reference = evaluate(machine, np.float32(X[400:]))
    expected = model.decision_function(X[400:])
    known = np.isfinite(reference.error[:, 0])
    error = np.abs(reference.decisions[:, 0] - expected)
    # Both are float64 sums: twice the bound on one of them.
    assert (error <= 2 * reference.error[:, 0])[known].all()
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="float32")
    result = compiled.classify(np.float32(X[400:]))
    sure = result["certified"]
    assert sure.mean() > 0.9
    assert (result["label"][sure] == model.predict(X[400:])[sure]).all()


def test_a_pickled_estimator_is_read_without_running_it(tmp_path):
    X, y = cancer()
    model = FaLKSVC(k=60, gamma=0.2, random_state=0).fit(X, y)
    (tmp_path / "cells.pkl").write_bytes(pickle.dumps(model))
    assert load_model(tmp_path / "cells.pkl").sha256 == load_model(model).sha256


def test_more_than_two_classes_are_not_compiled():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(InputError, match="of more than two classes cannot be compiled"):
        load_model(FaLKSVC(k=20).fit(X, y))
