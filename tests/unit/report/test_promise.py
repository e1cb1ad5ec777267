"""The risk that was promised, what supports it, and what test samples show."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cascade_report import EXPECTED, GUARANTEED, NO_PROMISE, calibration, reported
from scipy.stats import binom

from kit.digits_cascade import digits_cascade
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import interpret
from kmcompile.report import json_report, promise
from kmcompile.report.checks import Status, verdict
from kmcompile.report.checks import checks as all_checks
from kmcompile.report.missing import Missing
from kmcompile.verify.checks import check_bounded


def test_a_guaranteed_risk_has_every_field_of_the_contract():
    risk = reported().report["risk"]
    assert list(risk)[:5] == [
        "requested",
        "upper_bound",
        "confidence",
        "calibration_queries",
        "disagreements",
    ]
    assert risk["guarantee"] == "guaranteed"
    assert (risk["requested"], risk["upper_bound"], risk["confidence"]) == (0.01, 0.0092, 0.99)


def test_an_expected_risk_has_no_confidence_and_says_why():
    report = reported(promise=EXPECTED).report
    assert report["risk"]["confidence"] is None
    assert report["not_available"]["risk.confidence"] == "the bound holds in expectation"


@pytest.mark.parametrize("thresholds", ["simple", "maxsmoothed", "risk"])
def test_without_a_promise_nothing_is_claimed(thresholds):
    report = reported(promise=NO_PROMISE, thresholds=thresholds).report
    assert report["risk"]["guarantee"] == "none"
    for name in ("requested", "upper_bound", "confidence"):
        assert report["risk"][name] is None
        assert f"risk.{name}" in report["not_available"]


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_measured_counts_labels_unlike_the_model_s(kernel):
    made, digits = reported(kernel, 10), digits_cascade(kernel, 10)
    labels = made.answers.results["label"][: len(digits.test)]
    wrong = int((labels != evaluate(digits.machine, digits.test).labels).sum())
    measured = made.report["risk"]["measured"]
    assert (measured["queries"], measured["disagreements"]) == (len(digits.test), wrong)
    # Clopper and Pearson: at the limits such a count is as unlikely as the confidence says.
    at_upper = binom.cdf(wrong, len(digits.test), measured["upper_limit"])
    assert at_upper == pytest.approx(1 - measured["confidence"])
    if wrong:
        at_lower = binom.sf(wrong - 1, len(digits.test), measured["lower_limit"])
        assert at_lower == pytest.approx(1 - measured["confidence"])


def test_without_test_samples_nothing_is_measured():
    report = reported(test_samples=False).report
    assert report["risk"]["measured"] is None
    assert "--test-data" in report["not_available"]["risk.measured"]


def test_calibration_lists_the_parts_and_what_was_compared():
    found = reported().report["calibration"]
    assert [found[f"{part}_queries"] for part in ("shape", "choice", "control")] == [200, 200, 500]
    assert [candidate["chosen"] for candidate in found["candidates"]] == [True, False]
    assert found["candidates"][1]["stages"] == ["exact_sum"]


def test_mode_exact_has_neither_and_says_why():
    report = reported(promise=None).report
    assert report["risk"] is None and report["calibration"] is None
    assert "no early exit" in report["not_available"]["risk"]
    assert "no early exit" in report["not_available"]["calibration"]


def _with_measured(lower_limit: float) -> dict[str, Any]:
    report = copy.deepcopy(reported(promise=GUARANTEED).report)
    report["risk"]["measured"].update(disagreements=9, lower_limit=lower_limit)
    json_report.validate(report)
    return report


def test_test_samples_above_the_bound_fail_the_verification():
    bound = GUARANTEED.upper_bound
    assert bound is not None
    assert verdict(_with_measured(np.nextafter(bound, 1)))[0] is Status.FAILED
    assert verdict(_with_measured(bound))[0] is Status.PASSED


@pytest.mark.parametrize("promised", [NO_PROMISE, EXPECTED], ids=["none", "expected"])
def test_without_a_guarantee_nothing_can_be_refuted(promised):
    checks = all_checks(reported(promise=promised).report)
    assert not any("refute" in check.what for check in checks)


def test_a_bound_that_no_test_samples_were_held_against_has_not_passed():
    checks = all_checks(reported(test_samples=False).report)
    (check,) = [check for check in checks if "refute" in check.what]
    assert check.status is Status.NOT_RUN and "--test-data" in check.result


def test_what_was_not_compared_is_not_measured():
    section = promise.risk_section(calibration(GUARANTEED), reported().queries, None)
    assert section["measured"] == Missing("the answers were not compared with the model's")


def test_samples_that_were_calibrated_with_measure_no_risk():
    made = reported()
    queries = replace(made.queries, source="calibration")
    check = check_bounded(
        digits_cascade("rbf", 2).machine, queries, interpret(made.program, queries.X)
    )
    section = promise.risk_section(calibration(GUARANTEED), queries, check)
    assert section["measured"] == Missing("the samples in --test-data were calibrated with")


def test_refused_test_samples_are_not_measured():
    made, machine = reported(), digits_cascade("rbf", 2).machine
    X = np.array(made.queries.X)
    X[:3] = np.nan
    queries = replace(made.queries, X=X)
    check = check_bounded(machine, queries, interpret(made.program, X))
    measured = promise.risk_section(calibration(GUARANTEED), queries, check)["measured"]
    assert measured["queries"] == queries.n_given - 3
    X[: queries.n_given] = np.nan
    queries = replace(queries, X=X)
    check = replace(check, refused=queries.n_given)
    section = promise.risk_section(calibration(GUARANTEED), queries, check)
    assert section["measured"] == Missing("every test sample is refused")
