"""scikit-learn's linear models become machines with its values and labels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVR
from sklearn_agreement import assert_agrees, fitted

from kmcompile.errors import InputError
from kmcompile.kernels import Linear
from kmcompile.model.kernel_machine import Task
from kmcompile.readers import load_model

CLASSIFIERS = [
    linear_model.LogisticRegression(),
    linear_model.LogisticRegression(fit_intercept=False, C=0.01),
    linear_model.LogisticRegressionCV(Cs=2, cv=2),
    linear_model.RidgeClassifier(),
    linear_model.RidgeClassifier(fit_intercept=False),
    linear_model.RidgeClassifierCV(),
    linear_model.SGDClassifier(random_state=0),
    linear_model.SGDClassifier(loss="modified_huber", average=True, random_state=0),
    linear_model.Perceptron(random_state=0),
    linear_model.PassiveAggressiveClassifier(random_state=0),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
]
REGRESSORS = [
    LinearSVR(random_state=0),
    LinearSVR(fit_intercept=False, random_state=0),
    linear_model.LinearRegression(),
    linear_model.Ridge(),
    linear_model.Ridge(fit_intercept=False),
    linear_model.RidgeCV(),
    linear_model.Lasso(0.1),
    linear_model.LassoCV(cv=2),
    linear_model.ElasticNet(0.1),
    linear_model.ElasticNetCV(cv=2),
    linear_model.SGDRegressor(random_state=0),
    linear_model.HuberRegressor(),
    linear_model.BayesianRidge(),
]
DATA = {"breast_cancer": load_breast_cancer, "iris": load_iris, "digits": load_digits}


def data(name, n_samples=200):
    X, y = DATA[name](return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[:n_samples]
    return scale(X)[order], y[order]


def saved(model, tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    return path


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_linear_classifiers_have_scikit_learns_decision_values(model, name, tmp_path):
    X, y = data(name)
    machine = assert_agrees(fitted(model, X, y), X)
    assert machine.task is (Task.BINARY if name == "breast_cancer" else Task.ONE_VS_REST)
    assert (machine.kind, machine.kernel) == (type(model).__name__, Linear())
    assert not machine.zero_is_positive
    assert load_model(saved(model, tmp_path)).sha256 == machine.sha256


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_linear_regressions_have_scikit_learns_values(model, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    machine = assert_agrees(fitted(model, scale(X), scale(y)), scale(X))
    assert (machine.kind, machine.task) == (type(model).__name__, Task.REGRESSION)
    assert load_model(saved(model, tmp_path)).sha256 == machine.sha256


@pytest.mark.parametrize("model", [linear_model.Ridge(), linear_model.LinearRegression()])
def test_a_target_in_a_column_is_one_target(model):
    X, y = load_diabetes(return_X_y=True)
    plain = load_model(model.fit(X, y))
    column = load_model(model.fit(X, y[:, None]))
    assert column.task is Task.REGRESSION
    bound = 4096 * 2.0**-53 * np.abs(plain.support_vectors).max()
    np.testing.assert_allclose(column.support_vectors, plain.support_vectors, rtol=0, atol=bound)


def test_several_targets_are_refused():
    X, y = load_diabetes(return_X_y=True)
    model = linear_model.Ridge().fit(X, np.column_stack([y, -y]))
    with pytest.raises(InputError, match=r"Ridge was trained on 2 targets, must be 1; train one"):
        load_model(model)


def test_several_labels_a_sample_are_refused():
    X, y = load_iris(return_X_y=True)
    model = linear_model.RidgeClassifier().fit(X, np.column_stack([y == 0, y > 0]).astype(int))
    with pytest.raises(InputError, match="trained on several labels a sample, must be one"):
        load_model(model)


def test_unfitted_linear_models_are_refused():
    for model, name in [
        (linear_model.LogisticRegression(), "classes_"),
        (linear_model.RidgeClassifier(), "_label_binarizer"),
        (linear_model.Ridge(), "coef_"),
    ]:
        with pytest.raises(InputError, match=rf"is not fitted \({name} is missing\); call fit"):
            load_model(model)
