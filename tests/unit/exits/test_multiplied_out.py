"""Polynomial machines are multiplied out where that costs less than their sum and its exits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

import kmcompile
from kit.coded_polynomials import CodedPolynomial
from kit.lowered import lowered
from kit.plans import plan_for
from kit.polynomials import Polynomial
from kmcompile.errors import InputError
from kmcompile.exits import multiplied_out, without_vectors
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.early_exits import add_early_exits
from kmcompile.exits.multiplied_out import offer_coded_polynomial, offer_polynomial
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.exits.without_vectors import Board
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import CodedPolynomialSum, ExactSum, LinearSum, PolynomialSum
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


@pytest.mark.exhaustive
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


def in_integers(n_samples: int, degree: int, **options):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(n_samples, 4)).astype(np.float64)
    y = X[:, 0] * X[:, 1] + X[:, 2] * rng.normal(size=n_samples) > 16
    svc = SVC(kernel="poly", degree=degree, coef0=1.0, gamma=0.02).fit(X, y)
    return kmcompile.compile_model(svc, format="int8", verify="none", **options)


@pytest.mark.parametrize("mode", ["exact", "certified"])
@pytest.mark.parametrize("target", ["host", "cortex-m0"])
def test_an_integer_format_has_integer_coefficients_where_they_cost_less(target, mode):
    compiled = in_integers(200, 2, target=target, mode=mode)
    stage = compiled.program.sum
    assert isinstance(stage, CodedPolynomialSum)
    assert stage.n_terms == 14
    assert compiled.report["cost"]["mean_ops"] < compiled.report["cost"]["exact_ops"] / 2
    assert any("multiplied out, offline, to 14" in note for note in compiled.report["notes"])


@pytest.mark.exhaustive
def test_statistical_exits_are_compared_with_integer_coefficients():
    data = np.random.default_rng(4).integers(0, 9, size=(600, 4)).astype(np.float32)
    compiled = in_integers(200, 2, target="host", mode="statistical", data=data, risk="auto")
    assert isinstance(compiled.program.sum, CodedPolynomialSum)


@pytest.mark.parametrize("mode", ["exact", "certified"])
def test_few_vectors_of_integers_are_summed_themselves_and_a_note_says_why(mode):
    compiled = in_integers(12, 5, target="cortex-m0", mode=mode)
    assert not isinstance(compiled.program.sum, CodedPolynomialSum)
    (note,) = (note for note in compiled.report["notes"] if "multiplied out" in note)
    assert note.startswith("the polynomial is not multiplied out: 125 coefficients ")
    assert "would take 2,500 operations, the sum over the vectors takes" in note


def offer_of(case: CodedPolynomial, allowed=NO_LIMIT):
    one = case.lowered("host")
    judged = likely_inputs(one.machine, 60)
    judged = judged[interpret(one.program, judged).results["status"] == Status.OK]
    return offer_coded_polynomial(one.coded, one.program, Board(HOST, allowed, "none"), judged)


def test_integer_tables_that_do_not_fit_are_not_offered():
    case = CodedPolynomial("binary", 2)
    table_bytes = offer_of(case).program.table_bytes
    assert isinstance(offer_of(case, Budgets(table_bytes, None)), SumOffer)
    reason = offer_of(case, Budgets(table_bytes - 1, None))
    assert reason == f"its tables of {table_bytes:,} bytes do not fit"


def test_integers_that_certify_less_are_not_offered(monkeypatch):
    def blunt(*args):
        made = multiplied_out_program(*args)
        minimum = np.full(1, 1e9, dtype=np.float32)
        return replace(made, sum=replace(made.sum, minimum=minimum))

    multiplied_out_program = multiplied_out.with_polynomial
    monkeypatch.setattr(multiplied_out, "with_polynomial", blunt)
    assert offer_of(CodedPolynomial("binary", 2)).startswith("it would leave ")


def test_integers_that_overflow_are_not_offered(monkeypatch):
    def overflows(*args):
        raise InputError("sums are too large\nuse --format float32")

    monkeypatch.setattr(multiplied_out, "with_polynomial", overflows)
    assert offer_of(CodedPolynomial("binary", 2)) == "sums are too large"


def test_another_kernel_of_integers_has_no_reason_to_tell():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(80, 4)).astype(np.float64)
    svc = SVC(kernel="sigmoid", gamma=1e-3).fit(X, X[:, 0] > X[:, 1])
    compiled = kmcompile.compile_model(
        svc, target="host", format="int8", mode="exact", verify="none"
    )
    assert not any("multiplied out" in note for note in compiled.report["notes"])
