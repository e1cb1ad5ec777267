"""A regression of a scaled target answers in the target's own units."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR

from kmcompile.errors import InputError
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

X, Y = (part[:150] for part in load_diabetes(return_X_y=True))
SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler((-1, 1)),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    RobustScaler(),
]


@pytest.mark.parametrize("regressor", [SVR(), Ridge(), KernelRidge(kernel="rbf")], ids=str)
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_a_scaled_target_has_scikit_learns_values(scaler, regressor, tmp_path):
    model = TransformedTargetRegressor(regressor, transformer=scaler).fit(X, Y)
    machine = load_model(model)
    reference = evaluate(machine, X)
    # The offset and the regression can cancel in the intercept: |offset| <= 2 max |y|.
    bound = 2 * reference.error[:, 0] + 1e-12 * 3 * np.abs(Y).max()
    assert np.all(np.abs(reference.decisions[:, 0] - model.predict(X)) <= bound)
    assert machine.kind == "TransformedTargetRegressor"
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    assert load_model(path).sha256 == machine.sha256


def test_it_may_hold_a_pipeline_or_a_search_and_lie_in_one():
    scaled = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    inside = make_pipeline(StandardScaler(), scaled).fit(X, Y)
    outside = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), GridSearchCV(SVR(), {"C": [1.0]}, cv=2)),
        transformer=StandardScaler(),
    ).fit(X, Y)
    machines = [load_model(model) for model in (inside, outside)]
    assert machines[0].sha256 == machines[1].sha256


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TransformedTargetRegressor(SVR(), func=np.log1p, inverse_func=np.expm1), "transformer_"),
        (TransformedTargetRegressor(SVR(), transformer=PowerTransformer()), "transformer_ is"),
        (TransformedTargetRegressor(SVR()), "transformer_ is"),
    ],
    ids=["function", "power", "none"],
)
def test_other_transformations_of_the_target_are_refused(model, words):
    with pytest.raises(InputError, match=words):
        load_model(model.fit(X, Y))


def test_unfitted_or_altered_ones_are_refused():
    model = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    with pytest.raises(InputError, match=r"is not fitted \(regressor_ is missing\)"):
        load_model(model)
    model.fit(X, Y).regressor_ = SVC().fit(X, Y > 100)
    with pytest.raises(InputError, match="has a SVC, must have a regressor"):
        load_model(model)
