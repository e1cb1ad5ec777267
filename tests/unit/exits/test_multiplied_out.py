"""Polynomial machines are multiplied out where that costs less than their sum and its exits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

import kmcompile
from kit.lowered import lowered
from kit.plans import plan_for
from kit.polynomials import Polynomial
from kmcompile.exits import without_vectors
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.early_exits import add_early_exits
from kmcompile.exits.multiplied_out import offer_polynomial
from kmcompile.exits.without_vectors import Board
from kmcompile.program.interpreter import interpret
from kmcompile.program.stages import ExactSum, LinearSum, PolynomialSum
from kmcompile.request.budgets import Budgets
from kmcompile.target import load_target

HOST = load_target("host")
NO_LIMIT = Budgets(None, None)


@pytest.fixture(scope="module")
def low():
    return lowered(Polynomial("binary", 2, n_samples=150).fitted())


def offer(low, allowed=NO_LIMIT, replay="none", target=HOST):
    judged = likely_inputs(low.machine, 60)
    return offer_polynomial(low.machine, low.program, Board(target, allowed, replay), judged)


def tell(text: str) -> None:
    """Ignore the text."""


@pytest.mark.parametrize("mode", ["exact", "certified"])
def test_it_is_taken_where_it_costs_less(low, mode):
    made = add_early_exits(low.machine, low.program, plan_for(low.machine, mode=mode), tell)
    assert isinstance(made.program.sum, PolynomialSum)
    assert made.program.mode == mode
    assert made.program.early_exits == ()
    assert made.program.model_sha256 == low.program.model_sha256
    if mode == "certified":
        assert [c.stages for c in made.choice.candidates if c.chosen] == [("polynomial_sum",)]
        assert made.speedup > 5


def test_its_operations_are_those_of_every_query(low):
    offered = offer(low)
    assert len(np.unique(offered.operations)) == 1
    program = offered.program
    answers = interpret(program, likely_inputs(low.machine, 60))
    assert (answers.operations == answers.exact_operations).all()
    wanted = program.sum.operations() + program.label.operations()
    assert offered.operations[0] == wanted


def test_few_vectors_are_summed_themselves():
    one = lowered(Polynomial("binary", 4, n_features=12, n_samples=12).fitted())
    assert offer(one) is None
    made = add_early_exits(one.machine, one.program, plan_for(one.machine, mode="exact"), tell)
    assert isinstance(made.program.sum, ExactSum)


@pytest.mark.parametrize("parameters", [{"kernel": "rbf"}, {"kernel": "poly", "degree": 7}])
def test_other_kernels_and_degrees_keep_their_sum(parameters):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    one = lowered(SVC(**parameters).fit(X, X[:, 0] > X[:, 1] ** 2))
    assert offer(one) is None


def test_tables_that_do_not_fit_are_not_offered(low):
    table_bytes = offer(low).program.table_bytes
    assert offer(low, Budgets(table_bytes, None)) is not None
    assert offer(low, Budgets(table_bytes - 1, None)) is None
    assert offer(low, Budgets(table_bytes, None), "where_double_is_float64") is None


def test_lost_labels_are_counted_as_replayed_or_refused(low, monkeypatch):
    """A polynomial that certifies nothing: every label costs once more, or it is not offered."""

    def blunt(*args, **options):
        made = usual_lower(*args, **options)
        minimum = np.full(1, 1e9, dtype=np.float32)
        return replace(made, sum=replace(made.sum, minimum=minimum))

    usual_lower = without_vectors.lower
    plain = offer(low, replay="where_double_is_float64").operations.mean()
    monkeypatch.setattr(without_vectors, "lower", blunt)
    assert offer(low) is None
    assert offer(low, replay="where_double_is_float64", target=load_target("avr")) is None
    assert offer(low, replay="where_double_is_float64").operations.mean() > 1.9 * plain


def test_a_regression_without_a_tolerance_is_multiplied_out():
    one = lowered(Polynomial("regression", 2, n_samples=100).fitted())
    made = add_early_exits(one.machine, one.program, plan_for(one.machine, mode="certified"), tell)
    assert isinstance(made.program.sum, PolynomialSum)


def test_a_linear_machine_keeps_its_weights():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    one = lowered(SVR(kernel="linear").fit(X, X[:, 0]))
    made = add_early_exits(one.machine, one.program, plan_for(one.machine, mode="exact"), tell)
    assert isinstance(made.program.sum, LinearSum)


@pytest.mark.parametrize("mode", ["certified", "statistical"])
def test_the_report_compares_it_with_the_sum_over_the_vectors(mode):
    case = Polynomial("one_vs_one", 2, n_samples=300)
    model = case.fitted()
    rng = np.random.default_rng(0)
    options = {"data": rng.normal(size=(400, 5)) * 3.0 + 1.0, "risk": "auto"}
    compiled = kmcompile.compile_model(
        model,
        target="host",
        mode=mode,
        verify="none",
        **(options if mode == "statistical" else {}),
    )
    report = compiled.report
    assert [stage["name"] for stage in report["stages"]][1] == "polynomial_sum"
    assert report["cost"]["speedup_ops"] > 2
    assert report["cost"]["mean_ops"] == report["cost"]["worst_ops"]
    assert any("multiplied out" in note for note in report["notes"])


def test_an_integer_format_keeps_its_sum_and_says_so():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(80, 4)).astype(np.float64)
    svc = SVC(kernel="poly", degree=2, coef0=1.0).fit(X, X[:, 0] * X[:, 1] > 16)
    compiled = kmcompile.compile_model(
        svc,
        target="host",
        format="int8",
        mode="exact",
        verify="none",
    )
    assert not isinstance(compiled.program.sum, PolynomialSum)
    assert any("not multiplied out" in note for note in compiled.report["notes"])
