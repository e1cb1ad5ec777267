"""Where an intercept was computed from trained numbers, its rounding is in the intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmcompile
from kit.plans import plan_for
from kmcompile.choice.program import choose_program
from kmcompile.model.log_odds import decision_at
from kmcompile.model.reference import evaluate
from kmcompile.passes import run_passes
from kmcompile.passes.move_threshold import move_threshold
from kmcompile.program.interpreter import interpret
from kmcompile.readers import load_model

X, Y = load_iris(return_X_y=True)
BINARY = (Y > 1).astype(int)
ERROR = 0.25


@pytest.mark.parametrize("slope", [2.0, 0.3, 7.0])
def test_a_scaled_target_is_in_its_interval(slope):
    inputs = np.arange(8.0)[:, None]
    model = TransformedTargetRegressor(LinearRegression(), transformer=StandardScaler())
    model.fit(inputs, slope * inputs[:, 0])
    made = kmcompile.compile_model(model, verify="none")
    found = made.predict_interval(np.zeros((1, 1), dtype=np.float32))
    numbers = (model.regressor_.intercept_, model.transformer_.mean_, model.transformer_.scale_)
    b, mean, scale = (Fraction(float(np.ravel(number)[0])) for number in numbers)
    low, high = (Fraction(float(found[end][0])) for end in ("lower", "upper"))
    assert low <= b * scale + mean <= high


def test_a_threshold_leaves_the_rounding_of_the_intercept():
    machine = load_model(SVC().fit(X, BINARY))
    assert machine.intercept_error == 0.0
    moved = move_threshold(machine, float(machine.intercept[0]) / 3)
    assert moved.intercept_error == 2.0**-53 * abs(moved.intercept[0])


@pytest.mark.parametrize("p", [0.5000001, 0.3, 0.999])
def test_log_odds_are_within_their_error(p):
    decision, error = decision_at(p)
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.mpf(p) / (1 - mpmath.mpf(p)))
        assert abs(exact - mpmath.mpf(decision)) <= mpmath.mpf(error)


def test_rows_that_only_the_kernel_makes_equal_are_not_merged():
    row = np.random.default_rng(1).normal(size=3)
    inputs = np.array([row, 3 * row, 5 * row])
    machine = load_model(KernelRidge(kernel="cosine", alpha=1e-3).fit(inputs, [0.0, 1.0, 2.0]))
    assert machine.rounded_vectors
    assert run_passes(machine).n_support_vectors == 3


MODELS = {
    "rbf": make_pipeline(StandardScaler(), SVC()),
    "two features": make_pipeline(StandardScaler(), SVC()),
    "poly": make_pipeline(StandardScaler(), SVC(kernel="poly", coef0=1.0, degree=2)),
    "degree": make_pipeline(StandardScaler(), SVC(kernel="poly", coef0=1.0, degree=7)),
    "linear": make_pipeline(StandardScaler(), SVC(kernel="linear")),
    "sigmoid": make_pipeline(StandardScaler(), SVC(kernel="sigmoid", gamma=0.05)),
    "value": make_pipeline(StandardScaler(), SVR()),
}


IN_INTEGERS = ("rbf", "two features", "value")
"""Models that int16 is for."""

CASES = [*((name, "float32") for name in MODELS), *((name, "int16") for name in IN_INTEGERS)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["exact", "certified"])
@pytest.mark.parametrize(("name", "number_format"), CASES)
def test_every_bound_counts_the_error_of_the_intercept(name, number_format, mode):
    columns = X[:, :2] if name == "two features" else X
    estimator = MODELS[name].fit(columns, X[:, 0] if name == "value" else BINARY)
    machine = replace(load_model(estimator), intercept_error=ERROR)
    options = {"mode": mode, "format": number_format, "replay": "float64"}
    if name == "value":
        options["tolerance"] = 2.0
    plan = plan_for(machine, **options)
    program = choose_program(machine, plan, lambda text: None).program
    queries = columns.astype(np.float32)
    answers = interpret(program, queries).results
    f = evaluate(machine, queries).decisions[:, 0]
    assert (answers["lower"] <= f - ERROR).all()
    assert (answers["upper"] >= f + ERROR).all()
    if name != "value":
        assert not answers["certified"][np.abs(f) < ERROR].any()
