"""Both checks look at probabilities: one changed bit, one value beyond its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit import calibrated, catalogue
from kmcompile.errors import VerificationError
from kmcompile.program.interpreter import interpret
from kmcompile.run import RunResult
from kmcompile.verify.checks import check_bounded, check_codes, check_exact
from kmcompile.verify.probabilities import probabilities_of
from kmcompile.verify.queries import Queries
from kmcompile.verify.records import records_of

CASES = [calibrated.Calibrated("rbf"), calibrated.Calibrated("iris")]


def asked(case):
    """Return machine, queries and answers of real samples."""
    emitted = catalogue.emitted(case, "host")
    X = calibrated.samples(case.model)[0][:60].astype(np.float32)
    queries = Queries(X, "test-data", len(X), len(X))
    return emitted.machine, queries, interpret(emitted.program, X)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_figures_are_of_the_given_samples(case):
    machine, queries, answers = asked(case)
    found = check_bounded(machine, queries, answers).probabilities
    assert found.queries == len(queries.X)
    assert 0 < found.max_error <= found.max_bound == answers.probability_bounds.max()


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("wrong", [np.nan, 3.0])
def test_a_probability_beyond_its_bound_is_found(case, wrong):
    machine, queries, answers = asked(case)
    changed = answers.probabilities.copy()
    changed[7, 1] += np.float32(wrong) * answers.probability_bounds[7]
    with pytest.raises(VerificationError, match="1 queries have probabilities outside"):
        check_bounded(machine, queries, replace(answers, probabilities=changed))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bound_of_0_is_found(case):
    machine, queries, answers = asked(case)
    zero = np.zeros_like(answers.probability_bounds)
    with pytest.raises(VerificationError, match="outside their bound"):
        check_bounded(machine, queries, replace(answers, probability_bounds=zero))


def test_probabilities_of_codes_are_checked_too():
    emitted = catalogue.emitted(calibrated.Calibrated("rbf", "int8"), "host")
    answers = emitted.answers_of_codes
    check_codes(emitted.machine, emitted.program, emitted.codes, answers)
    changed = replace(answers, probabilities=1 - answers.probabilities)
    with pytest.raises(VerificationError, match="outside their bound"):
        check_codes(emitted.machine, emitted.program, emitted.codes, changed)


def test_every_changed_bit_behind_the_decisions_is_found():
    _, _, answers = asked(CASES[1])
    records = records_of(answers)
    right = RunResult(None, None, records=records, painted_stack_bytes=None, self_test=0)
    for word in range(11, records.shape[1]):  # behind the header and three decisions
        for bit in range(32):
            wrong = records.copy()
            wrong[3, word] ^= np.uint32(1 << bit)
            with pytest.raises(VerificationError, match=f"query 3, word {word} is 0x"):
                check_exact(answers, replace(right, records=wrong), "host")


def test_the_model_s_probabilities_are_uniform_where_float64_has_none():
    machine = calibrated.read("iris")
    told = probabilities_of(machine, np.full((1, 3), -800.0))
    np.testing.assert_array_equal(told, 1 / 3)
