"""Regressions: the emitted C is the interpreter's bit for bit; intervals hold the real value."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from sklearn.datasets import load_diabetes
from test_c_matches_interpreter import Compiler, check_on_host

from kit import catalogue, regressions
from kit.real_model import DIGITS, RealModel
from kmcompile.program.interpreter import Status, classify, interpret
from kmcompile.target import load_target


@pytest.mark.few
@pytest.mark.parametrize("case", regressions.MORE, ids=str)
def test_every_form_matches_the_interpreter_bit_for_bit(case, tmp_path):
    check_on_host(catalogue.emitted(case, "host"), Compiler("gcc", "-O2"), tmp_path)


@pytest.mark.few
@pytest.mark.parametrize("case", [*regressions.CORE, *regressions.MORE], ids=str)
def test_intervals_hold_the_value_in_real_numbers(case):
    emitted = catalogue.emitted(case, "host")
    real = RealModel(case.fitted())
    X = emitted.queries[::5]
    results = interpret(emitted.program, X).results
    accepted = results["status"] == Status.OK
    assert accepted.sum() > 40
    for row, result in zip(X[accepted], results[accepted], strict=True):
        value = real.decisions(row)[0]
        with mp.workdps(DIGITS):
            assert mpf(float(result["lower"])) <= value <= mpf(float(result["upper"]))
        assert result["lower"] <= result["value"] <= result["upper"]


def test_every_stage_answers_some_within_the_tolerance():
    case = regressions.CORE[1]
    emitted = catalogue.emitted(case, "host")
    results = emitted.answers.results[emitted.answers.results["status"] == Status.OK]
    width = results["upper"].astype(np.float64) - results["lower"]
    early = results["stage"] < len(emitted.program.early_exits)
    assert early.any()
    assert not early.all()
    assert width[early].max() <= case.tolerance


@pytest.mark.parametrize("most", [0, 8, 40])
def test_an_answer_within_a_number_of_kernels_holds_the_value(most):
    """reliability: an interval that is cut short is wide, and as true."""
    case = regressions.CORE[1]
    emitted = catalogue.emitted(case, "host")
    real = RealModel(case.fitted())
    X = load_diabetes().data[regressions.N_TRAINED :: 15].astype(np.float32)
    results, _ = classify(emitted.program, X, most)
    assert (results["kernel_evals"] <= most).all()
    for row, result in zip(X, results, strict=True):
        value = real.decisions(row)[0]
        with mp.workdps(DIGITS):
            assert mpf(float(result["lower"])) <= value <= mpf(float(result["upper"]))


def test_the_interface_is_that_of_a_regression():
    emitted = catalogue.emitted(regressions.CORE[1], "cortex-m7")
    header = emitted.files["iris.h"].decode()
    assert load_target("cortex-m7").name in header
    for name in ("iris_predict(", "iris_predict_within(", "iris_prediction_t;", "iris_self_test("):
        assert name in header
    for name in ("classify", "result", "class_names", "N_CLASSES", "label", "certified", "_audit("):
        assert name not in header.split("*/", 3)[3], name
