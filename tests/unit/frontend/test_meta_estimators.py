"""Estimators that hold another one answer as scikit-learn's do."""

from __future__ import annotations

import pickle

import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  (it defines two classes)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn_agreement import fitted

from kmcompile.errors import InputError
from kmcompile.frontend import load_model

IRIS = load_iris(return_X_y=True)
X2, Y2 = (part[::3] for part in load_breast_cancer(return_X_y=True))


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
