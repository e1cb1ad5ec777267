"""Pipelines become preprocessing steps that give scikit-learn's decision values."""

from __future__ import annotations

import numpy as np
import pytest
from float64_decisions import U, decisions_and_bounds
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from kmcompile.errors import InputError
from kmcompile.readers import load_model

TRANSFORMERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler(),
    MinMaxScaler(feature_range=(-3, 0.5)),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(unit_variance=True, quantile_range=(10.0, 90.0)),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
    PCA(3),
    PCA(whiten=True),
    PCA(0.9, svd_solver="full"),
    PCA(4, whiten=True, svd_solver="randomized", random_state=0),
    Normalizer("l1"),
    Normalizer("l2"),
    Normalizer("max"),
    "passthrough",
    None,
    make_pipeline(StandardScaler(), PCA(5), "passthrough"),
]


def assert_agrees(model, X):
    """The machine's decision values are scikit-learn's within the computed bound."""
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    last.set_params(decision_function_shape="ovo")
    machine = load_model(model)
    decisions, bounds = decisions_and_bounds(machine, X)
    expected = model.decision_function(X).reshape(len(X), -1)
    assert np.all(np.abs(decisions - expected) <= bounds)
    return machine


def shifted(X):
    """Queries outside the training range, so that clipping shows."""
    return np.concatenate([X, 3 * X - X.mean(axis=0), np.zeros((1, X.shape[1]))])


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_transformer_gives_scikit_learns_decision_values(transformer, load):
    X, y = load(return_X_y=True)
    assert_agrees(make_pipeline(transformer, SVC(gamma=0.1, C=10)).fit(X, y), shifted(X))


def test_max_abs_scaler_clips_where_the_release_can():
    options = MaxAbsScaler().get_params()
    if "clip" not in options:
        pytest.skip("this scikit-learn has no MaxAbsScaler(clip)")
    X, y = load_wine(return_X_y=True)
    machine = assert_agrees(make_pipeline(MaxAbsScaler(clip=True), SVC()).fit(X, y), shifted(X))
    assert len(machine.preprocessing) == 2


def test_long_and_nested_pipelines_keep_their_order():
    X, y = load_wine(return_X_y=True)
    inner = make_pipeline(MinMaxScaler(clip=True), None, RobustScaler())
    tail = make_pipeline(PCA(6, whiten=True), Normalizer(), SVC())
    model = make_pipeline(StandardScaler(), inner, "passthrough", tail).fit(X, y)
    machine = assert_agrees(model, shifted(X))
    names = [type(step).__name__ for step in machine.preprocessing]
    scalers = ["Affine", "Affine", "Clip", "Affine"]
    assert names == [*scalers, "Affine", "Projection", "Normalization"]
    assert machine.n_features == 13


def test_zero_variance_features_are_scaled_as_scikit_learn_does():
    """reliability 18: scale_ is 1 where a feature was constant."""
    X, y = load_wine(return_X_y=True)
    X[:, 2] = 5.0
    for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler()):
        assert_agrees(make_pipeline(scaler, SVC()).fit(X, y), shifted(X))


def test_whitening_of_rank_deficient_data_is_clipped_as_scikit_learn_does():
    """reliability 18: PCA(whiten=True) with variances of 0."""
    X, y = load_wine(return_X_y=True)
    X[:, 1:] = X[:, :1] * np.arange(1.0, 13.0)
    model = make_pipeline(PCA(whiten=True), SVC()).fit(X, y)
    pca = model.steps[0][1]
    pca.explained_variance_[-1] = 0.0  # as arpack and covariance_eigh may leave it
    machine = load_model(model)
    smallest = np.finfo(np.float64).eps
    last = machine.preprocessing[1].matrix[-1]
    assert np.all(np.abs(last - pca.components_[-1] / smallest) <= 2 * U * np.abs(last))


def test_pca_fitted_in_float32_is_clipped_at_the_epsilon_of_float32():
    """reliability 18: the clip of whitening depends on the type of explained_variance_."""
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(PCA(2, whiten=True), SVC()).fit(X.astype(np.float32), y)
    pca = model.steps[0][1]
    assert pca.explained_variance_.dtype == np.float32
    pca.explained_variance_[-1] = 0.0
    expected = pca.components_[-1].astype(np.float64) / float(np.finfo(np.float32).eps)
    assert np.array_equal(load_model(model).preprocessing[1].matrix[-1], expected)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_nearly_zero_rows_are_not_normalised_as_in_scikit_learn(norm):
    normalizer = Normalizer(norm)
    X = np.array([[0.0, 0.0], [1e-15, 0.0], [3e-15, -1e-15], [1e-300, 0.0], [1.0, 2.0]])
    model = make_pipeline(normalizer, LinearSVC()).fit(np.eye(2), [0, 1])
    prepared = load_model(model).prepare(X)
    assert np.all(np.abs(prepared - normalizer.transform(X)) <= 8 * U)


def test_unfitted_normalizer_is_accepted_as_it_learns_nothing():
    X, y = load_wine(return_X_y=True)
    model = Pipeline([("n", Normalizer()), ("svc", SVC().fit(Normalizer().transform(X), y))])
    assert load_model(model).n_features == 13


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([StandardScaler(), "passthrough"], "step 'p1': "),
        ([StandardScaler()], "the pipeline has StandardScaler, must be one that predicts"),
        ([SVC(), SVC()], "the pipeline has SVC, must be a transformer"),
        ([StandardScaler(), SVC()], "SVC is not fitted (classes_ is missing)"),
    ],
    ids=str,
)
def test_pipelines_without_a_fitted_classifier_at_the_end_are_refused(steps, message):
    model = Pipeline([(f"p{i}", step) for i, step in enumerate(steps)])
    with pytest.raises(InputError) as caught:
        load_model(model)
    assert message in str(caught.value)


def test_unfitted_transformer_is_refused():
    X, y = load_wine(return_X_y=True)
    model = Pipeline([("scale", StandardScaler()), ("svc", SVC().fit(X, y))])
    with pytest.raises(InputError, match=r"StandardScaler is not fitted .*call fit"):
        load_model(model)
