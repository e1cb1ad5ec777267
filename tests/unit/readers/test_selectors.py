"""Steps that keep columns, keep every value or multiply by a matrix give the pipeline's answers."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import FactorAnalysis, FastICA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from kmcompile.errors import InputError
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.steps import Projection, Selection

X, Y = load_wine(return_X_y=True)
HOLES = X.copy()
HOLES[::7, 3] = np.nan
EMPTY = X.copy()
EMPTY[:, 5] = np.nan
TIED = np.round(X / X.max(axis=0), 1)[:, [0, 1, 1, 2, 2, 3]]

SELECTORS = {
    "k best": (SelectKBest(k=4), X),
    "all": (SelectKBest(k="all"), X),
    "k of equal": (SelectKBest(k=2), TIED),
    "percentile": (SelectPercentile(percentile=33), X),
    "percentile of equal": (SelectPercentile(percentile=40), TIED),
    "variance": (VarianceThreshold(1.0), X),
    "from model": (SelectFromModel(LinearSVC(C=0.01)), X),
    "from lasso": (SelectFromModel(Lasso(alpha=0.1)), X),
    "from l1": (SelectFromModel(LinearSVC(penalty="l1", dual=False, C=0.01)), X),
    "median": (SelectFromModel(LinearSVC(), threshold="1.1*median", norm_order=2), X),
    "most": (SelectFromModel(LinearSVC(), threshold=-np.inf, max_features=3), X),
    "prefit": (SelectFromModel(LinearSVC().fit(X, Y), prefit=True, threshold=0.2), X),
    "rfe": (RFE(SVC(kernel="linear"), n_features_to_select=5, step=3), X),
    "rfecv": (RFECV(LinearSVC(), step=4, cv=2), X),
    "imputer": (SimpleImputer(), HOLES),
    "empty column": (SimpleImputer(), EMPTY),
    "empty kept": (SimpleImputer(keep_empty_features=True), EMPTY),
    "nothing": (FunctionTransformer(), X),
    "svd": (TruncatedSVD(3), X),
    "ica": (FastICA(3, random_state=0), X),
    "factors": (FactorAnalysis(3, random_state=0), X),
    "ica unwhitened": (FastICA(whiten=False, random_state=0), X[:, :4]),
    "lda": (LinearDiscriminantAnalysis(n_components=1), X),
    "lda eigen": (LinearDiscriminantAnalysis(solver="eigen"), X),
}


def rounding(steps, rows):
    """Return a bound on what two ways of computing the steps differ by.

    A sum of n products is within (n + 1) u of the sum of magnitudes; a scaler has three roundings,
    and its factor two in kmcompile.
    """
    size, n_roundings = np.abs(rows), 0
    for step in steps:
        if isinstance(step, Selection):
            size = size[:, list(step.columns)]
        elif isinstance(step, Projection):
            size, n_roundings = size @ np.abs(step.matrix).T, n_roundings + step.n_in + 1
        else:
            size = (size + np.abs(step.offset)) * np.abs(step.factor)
            n_roundings += 5
    return 2 * n_roundings * 2.0**-53 * (1 + 1e-9) * size


@pytest.mark.few
@pytest.mark.filterwarnings("ignore")  # of training that has not converged
@pytest.mark.parametrize("name", SELECTORS)
def test_the_pipeline_is_read_with_its_answers(name, tmp_path):
    step, given = SELECTORS[name]
    model = make_pipeline(step, StandardScaler(), SVC(decision_function_shape="ovo"))
    joblib.dump(model.fit(given, Y), tmp_path / "m")
    machine = load_model(tmp_path / "m")
    assert machine.sha256 == load_model(model).sha256
    rows = given[~np.isnan(given).any(axis=1)]
    if not len(rows):
        rows = np.nan_to_num(given, nan=1.5)
    found = evaluate(machine, rows)
    ours, theirs = machine.prepare(rows), model[:-1].transform(rows)
    assert np.all(np.abs(ours - theirs) <= rounding(machine.preprocessing, rows))
    assert np.array_equal(np.array(machine.classes)[found.labels], model.predict(rows))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("step", "says"),
    [
        (SimpleImputer(missing_values=0.0), "SimpleImputer.missing_values is 0.0, must be nan"),
        (SimpleImputer(add_indicator=True), "SimpleImputer.add_indicator is True"),
        (FunctionTransformer(np.abs), "func is .*, must be None; a function cannot be compiled"),
        (LinearDiscriminantAnalysis(solver="eigen").fit(X, Y), "is for 2 features"),
        (QuantileTransformer(n_quantiles=9), "no matrix; use RobustScaler"),
        (PolynomialFeatures(), "use SVC.kernel='poly'"),
        (
            SelectFromModel(LogisticRegression(solver="saga", l1_ratio=1.0)),
            "threshold is None, and l1_ratio of the estimator 1",
        ),
        (SelectFromModel(SVC(kernel="linear")), "SVC without a stored coef_, must be one"),
        (SelectFromModel(LinearSVC(), threshold="most"), "must be a number, mean or median"),
    ],
)
def test_what_is_not_linear_is_refused(step, says):
    model = make_pipeline(step, SVC())
    if "is for" in says:
        model.steps[1] = ("svc", SVC().fit(X, Y))
        says = "SVC is for 13 features, the steps before it give 2"
    elif "most" not in says and "median" not in says:
        model.fit(X, Y)
    else:
        model[0].estimator_, model[0].n_features = LinearSVC().fit(X, Y), 13
        model.steps[1] = ("svc", SVC().fit(X, Y))
    with pytest.raises(InputError, match=says):
        load_model(model)


@pytest.mark.parametrize(
    ("step", "name", "value", "says"),
    [
        (SelectPercentile(), "percentile", 150, "must be from 0 to 100"),
        (SelectPercentile(), "percentile", 1e308, "must be from 0 to 100"),
        (SelectFromModel(LinearSVC()), "norm_order", 10**400, "norm_order is an integer of"),
        (SelectFromModel(LinearSVC()), "threshold", "nan*mean", "must be finite"),
    ],
)
def test_parameters_out_of_range_are_refused(step, name, value, says):
    model = make_pipeline(step, SVC()).fit(X, Y)
    setattr(model[0], name, value)
    with pytest.raises(InputError, match=says):
        load_model(model)


def test_factors_of_equal_huge_rows_are_refused():
    """Their matrix has no inverse in float64: no fit gives this, a damaged file may."""
    model = make_pipeline(FactorAnalysis(2, random_state=0), SVC()).fit(X, Y)
    model[0].components_[:] = 1e150
    with pytest.raises(InputError, match="components_ has equal rows"):
        load_model(model)
