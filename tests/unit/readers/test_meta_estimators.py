"""Estimators that hold another one answer as scikit-learn's do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  (it defines two classes)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC
from sklearn_agreement import assert_agrees, fitted

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

IRIS = load_iris(return_X_y=True)
X2, Y2 = (part[::3] for part in load_breast_cancer(return_X_y=True))

DIGITS = tuple(part[:200] for part in load_digits(return_X_y=True))


def read(model, tmp_path):
    """Return the machine after comparing it with that of the pickled model."""
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    machine = load_model(path)
    assert machine.sha256 == load_model(model).sha256
    return machine


SEARCHES = [
    GridSearchCV(SVC(), {"C": [1, 10], "kernel": ["rbf", "linear"]}, cv=StratifiedKFold(2)),
    GridSearchCV(SVC(), {"C": [1]}, cv=2, scoring={"a": "accuracy", "b": "f1_macro"}, refit="a"),
    RandomizedSearchCV(
        SVC(),
        {"C": loguniform(1, 10)},
        n_iter=2,
        cv=2,
        random_state=0,
        scoring=make_scorer(f1_score, average="macro"),
    ),
    HalvingGridSearchCV(SVC(), {"C": [1, 10]}, cv=2, random_state=0),
    HalvingRandomSearchCV(SVC(), {"C": loguniform(1, 10)}, cv=2, random_state=0),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_search_is_its_best_estimator(search, tmp_path):
    model = fitted(search, *IRIS)
    machine = read(model, tmp_path)
    assert machine.sha256 == load_model(model.best_estimator_).sha256
    assert machine.kind == "SVC"


def test_a_search_may_hold_a_pipeline_and_end_one(tmp_path):
    inside = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1]}, cv=2)
    outside = make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1]}, cv=2))
    machines = [read(model.fit(*IRIS), tmp_path) for model in (inside, outside)]
    assert machines[0].sha256 == machines[1].sha256


def test_a_search_without_refit_is_refused():
    model = GridSearchCV(SVC(), {"C": [1]}, cv=2, refit=False).fit(*IRIS)
    with pytest.raises(InputError, match="no best_estimator_, as refit is False; fit it with ref"):
        load_model(model)
    with pytest.raises(InputError, match=r"is not fitted \(best_estimator_ is missing\)"):
        load_model(GridSearchCV(SVC(), {"C": [1]}))


def test_estimators_in_themselves_are_refused():
    model = GridSearchCV(SVR(), {"C": [1]}, cv=2).fit(X2, Y2)
    model.best_estimator_ = model
    with pytest.raises(InputError, match="nested more than 10 deep"):
        load_model(model)


@pytest.mark.parametrize(
    "inner",
    [
        SVC(gamma=0.5),
        SVC(kernel="poly", decision_function_shape="ovo"),
        SVC(kernel="linear"),
        NuSVC(nu=0.1),
        LinearSVC(random_state=0),
        LogisticRegression(max_iter=20),
        make_pipeline(StandardScaler(), SVC()),
        GridSearchCV(SVC(), {"C": [1]}, cv=2),
    ],
    ids=lambda inner: type(inner).__name__,
)
@pytest.mark.parametrize("data", [IRIS, (X2, Y2), DIGITS], ids=["iris", "breast_cancer", "digits"])
def test_one_vs_rest_has_scikit_learns_decision_values(inner, data, tmp_path):
    X, y = data
    model = fitted(OneVsRestClassifier(inner), scale(X), y)
    machine = read(model, tmp_path)
    assert_agrees(model, scale(X))
    assert machine.task is (Task.BINARY if len(set(y)) == 2 else Task.ONE_VS_REST)
    assert (machine.kind, machine.zero_is_positive) == ("OneVsRestClassifier", False)


def test_one_vs_rest_stores_a_vector_of_several_estimators_once():
    model = OneVsRestClassifier(SVC(gamma=0.5)).fit(*IRIS)
    vectors = np.concatenate([e.support_vectors_ for e in model.estimators_])
    machine = load_model(model)
    assert machine.n_support_vectors == len(np.unique(vectors, axis=0)) < len(vectors)


@pytest.mark.parametrize(("release", "last"), [("1.7.2", True), ("1.8.0", False)])
def test_equal_decisions_give_the_class_that_the_release_gives(release, last):
    """sklearn/multiclass.py: since 1.8 the first of equal ones, before the last."""
    model = OneVsRestClassifier(SVC(gamma=0.5)).fit(*IRIS)
    model.estimators_[2] = model.estimators_[1]
    model._sklearn_version = release
    machine = load_model(model)
    assert machine.last_of_equal is last
    labels = evaluate(machine, IRIS[0]).labels
    tied = load_model(model.estimators_[1])
    wins = evaluate(tied, IRIS[0]).decisions[:, 0] > 0
    assert wins.any()
    assert set(labels[wins]) == {2 if last else 1}
    if not last:
        assert np.array_equal(labels[wins], model.predict(IRIS[0])[wins])


def test_one_vs_rest_of_two_classes_gives_zero_to_the_first():
    """SVC's own predict gives f = 0 to the second."""
    model = OneVsRestClassifier(SVC(kernel="linear")).fit([[-1.0], [1.0]], [0, 1])
    assert model.decision_function([[0.0]]) == 0
    assert model.predict([[0.0]]) == evaluate(load_model(model), np.zeros((1, 1))).labels == 0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (OneVsRestClassifier(SVR()).fit(*IRIS), "of class 0 is no plain classifier of two"),
        (OneVsRestClassifier(SVC()).fit(IRIS[0], np.eye(3)[IRIS[1]]), "several labels a sample"),
        (
            OneVsRestClassifier(make_pipeline(PCA(2, svd_solver="randomized"), SVC())).fit(*IRIS),
            "estimators_ have different kernels or preprocessing, must have the same",
        ),
        (OneVsRestClassifier(SVC()), r"is not fitted \(classes_ is missing\)"),
        (
            OneVsOneClassifier(SVC()).fit(*IRIS),
            "not supported, use SVC, which is one-vs-one itself",
        ),
    ],
    ids=["regressors", "multilabel", "steps", "unfitted", "one-vs-one"],
)
def test_other_uses_of_one_estimator_a_class_are_refused(model, words):
    with pytest.raises(InputError, match=words):
        load_model(model)


@pytest.mark.filterwarnings("ignore:Label not")
def test_a_class_without_samples_is_refused(tmp_path):
    model = OneVsRestClassifier(LinearSVC()).fit(*IRIS)
    constant = OneVsRestClassifier(LinearSVC()).fit(IRIS[0], np.eye(3)[IRIS[1] * 0])
    model.estimators_[2] = constant.estimators_[2]
    with pytest.raises(InputError, match="all or no training samples were of class 2"):
        read(model, tmp_path)
