"""The names of the raw features, from the first step that was trained on them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile.readers import load_model

X, Y = load_iris(return_X_y=True)
NAMES = ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)")


def named(step, names=NAMES):
    """Return the step as it is after training with a table that has names."""
    step.feature_names_in_ = np.array(names, dtype=object)
    return step


def test_names_are_those_of_the_first_step():
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    assert load_model(pipeline).feature_names == ()
    named(pipeline[-1])  # of the features behind the scaler
    assert load_model(pipeline).feature_names == ()
    named(pipeline[0])
    assert load_model(pipeline).feature_names == NAMES
    assert load_model(named(SVC().fit(X, Y))).feature_names == NAMES


def test_names_in_a_search_are_found():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]}, cv=2)
    search.fit(X, Y)
    named(search.best_estimator_[0])
    assert load_model(search).feature_names == NAMES


@pytest.mark.parametrize("names", [NAMES[:3], (1, 2, 3, 4)])
def test_names_that_fit_no_feature_are_left_out(names):
    assert load_model(named(SVC().fit(X, Y), names)).feature_names == ()


def test_two_features_may_have_one_name():
    twice = (*NAMES[:3], NAMES[0])
    assert load_model(named(SVC().fit(X, Y), twice)).feature_names == twice
