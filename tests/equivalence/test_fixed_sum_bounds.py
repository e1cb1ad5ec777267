"""Sums in integers lie within their bounds of the trained machine in real numbers, 60 digits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from mpmath import mpf
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from kit.fixed_sums import GRIDS, Case, bisected, codes_of, in_format, queries, random_machine
from kit.real_model import RealModel
from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.model.kernel_machine import Task
from kmcompile.program.interpreter import Status, interpret

KINDS = [*GRIDS, "scaled int16", "scaled int8"]
SEEDS = range(8)
QUERIES = 3


@cache
def _case(kind: str, seed: int) -> Case | None:
    """Return a program, or None where gamma is refused."""
    grid = kind if kind in GRIDS else None
    layout = IntegerTableForm(sparse=seed % 2 == 0, wide_coefficients=seed % 3 == 0)
    try:
        number_format = "lossless" if grid else kind.removeprefix("scaled ")
        return in_format(random_machine(seed, grid), number_format, layout)
    except InputError:
        return None


def check(case: Case, X: np.ndarray) -> float:
    """Check every decision, interval and certified label; return the largest |error| / bound."""
    X, answers = case.answers(X)
    largest = 0.0
    rows = zip(X, answers.decisions, answers.bounds, answers.results, strict=True)
    for x, decisions, bounds, result in rows:
        exact = case.decisions(x)
        for f, decision, bound in zip(exact, decisions, bounds, strict=True):
            share = abs(f - mpf(float(decision))) / mpf(float(bound))
            assert share <= 1, (x.tolist(), decision, bound, float(f))
            largest = max(largest, float(share))
        if result["certified"]:
            assert case.label(exact) == result["label"], x.tolist()
        if len(exact) == 1:
            assert mpf(float(result["lower"])) <= exact[0] <= mpf(float(result["upper"]))
    return largest


@pytest.mark.few
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_decisions_lie_within_their_bounds_of_the_real_numbers(kind, seed):
    case = _case(kind, seed)
    if case is None:
        return
    X = queries(case, QUERIES, seed)
    X = np.concatenate([X, bisected(case, X)])
    assert check(case, X) > 0
    assert check(case, codes_of(case, X)) > 0


def test_few_machines_are_refused():
    made = [_case(kind, seed) for kind in KINDS for seed in SEEDS]
    assert sum(case is None for case in made) <= len(made) // 10


DATA = {
    "digits": (load_digits, 1.0, 0.0, lambda: SVC(gamma=1e-3, C=10)),
    "digits / 16": (load_digits, 1 / 16, 0.0, lambda: SVC(gamma=0.1)),
    "digits in an interval": (
        load_digits,
        1.0,
        0.0,
        lambda: make_pipeline(MinMaxScaler((0, 16)), SVC(gamma=1e-3)),
    ),
    "cancer": (load_breast_cancer, 1.0, 0.0, lambda: make_pipeline(StandardScaler(), SVC(C=10))),
    "cancer raw": (load_breast_cancer, 1.0, 0.0, lambda: SVC(C=1e4)),
    "wine far from 0": (
        load_wine,
        0.01,
        1000.0,
        lambda: make_pipeline(StandardScaler(), SVC(gamma=2.0)),
    ),
}


@cache
def _trained(name: str, number_format: str) -> tuple[Case, RealModel, np.ndarray]:
    load, factor, added, make = DATA[name]
    X, y = load(return_X_y=True)
    X = X * factor + added
    order = np.random.default_rng(9).permutation(len(X))
    train, test = order[:150], order[150:170]
    estimator = make().fit(X[train], y[train])
    case = in_format(readers.load_model(estimator), number_format, IntegerTableForm(False, False))
    return case, RealModel(estimator), np.concatenate([X[test], X[train[:6]]])


@pytest.mark.few
@pytest.mark.parametrize(
    ("name", "number_format"),
    [("digits", "lossless"), ("digits / 16", "lossless")]
    + [(name, number_format) for name in DATA for number_format in ("int16", "int8")],
)
def test_trained_models_lie_within_their_bounds_of_scikit_learns_numbers(name, number_format):
    """From the attributes of the estimators: readers, passes and lowering are in the bound."""
    case, real, X = _trained(name, number_format)
    X, answers = case.answers(X.astype(np.float32))
    assert len(X) >= 20
    rows = zip(X, answers.decisions, answers.bounds, answers.results, strict=True)
    for x, decisions, bounds, result in rows:
        exact = real.decisions(x)
        for f, decision, bound in zip(exact, decisions, bounds, strict=True):
            assert abs(f - mpf(float(decision))) <= mpf(float(bound)), (x.tolist(), decision)
        if result["certified"]:
            assert real.label(exact) == result["label"]
    if number_format != "int8":
        assert answers.results["certified"].mean() >= 0.5


def test_all_numbers_of_classes_and_both_entries_take_part():
    made = [_case(kind, seed) for kind in KINDS for seed in SEEDS]
    classes = {case.machine.n_classes for case in made if case is not None}
    assert classes == {2, 3, 4, 5}
    assert {case.machine.task for case in made if case} == {Task.BINARY, Task.ONE_VS_ONE}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_number_or_outside_the_scale_is_refused_at_both_entries(kind):
    case = next(case for case in (_case(kind, seed) for seed in SEEDS) if case is not None)
    table, scale = case.table, case.coded.scale
    inside = np.zeros((4, case.machine.n_features))
    raw = scale.values(inside).astype(np.float32)
    raw[1, 0], raw[2, -1], raw[3, 0] = np.nan, np.inf, -np.inf
    status = interpret(case.program, raw).results["status"]
    assert status.tolist() == [Status.OK] + [Status.ERROR_NOT_FINITE] * 3
    beyond = inside.copy()
    beyond[1, 0], beyond[2, -1], beyond[3, 0] = table.high + 1, table.low - 1, 1 << 20
    for X in (beyond.astype(np.int64), scale.values(beyond).astype(np.float32)):
        answers = interpret(case.program, X)
        assert answers.results["status"].tolist() == [Status.OK] + [Status.ERROR_RANGE] * 3
        assert not answers.decisions[1:].any()
