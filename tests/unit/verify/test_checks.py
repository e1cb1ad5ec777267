"""The two checks find what they are there for: one changed bit, one value beyond its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.emitted import emit_in_format
from kit.hand_made_cascade import digits
from kit.lowered import lowered
from kmcompile.errors import VerificationError
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Answers, Status
from kmcompile.run import RunResult
from kmcompile.verify.checks import check_bounded, check_codes, check_exact
from kmcompile.verify.queries import Queries
from kmcompile.verify.records import answers_of, records_of


@pytest.fixture(scope="module", params=[2, 3], ids=["binary", "one_vs_one"])
def low(request):
    X = np.random.default_rng(1).normal(size=(60, 3))
    return lowered(SVC(gamma=0.4).fit(X, np.argmax(X[:, : request.param], axis=1)))


@pytest.fixture
def asked(low):
    return Queries(low.queries, "generated", 0, len(low.queries))


def run_result(records: np.ndarray, self_test: int = 0) -> RunResult:
    return RunResult(
        None, "not counted", records=records, painted_stack_bytes=None, self_test=self_test
    )


def changed(answers: Answers, row: int, **values) -> Answers:
    results = answers.results.copy()
    decisions, bounds = answers.decisions.copy(), answers.bounds.copy()
    for name, value in values.items():
        if name == "decision":
            decisions[row, 0] = value
        elif name == "bound":
            bounds[row, 0] = value
        else:
            results[name][row] = value
    return replace(answers, results=results, decisions=decisions, bounds=bounds)


def test_records_hold_the_whole_answer(low):
    X = np.concatenate([low.queries, np.full((1, 3), np.nan, dtype=np.float32)])
    answers = low.answers(X)
    results, decisions = answers_of(records_of(answers))
    assert results.tobytes() == answers.results.tobytes()
    assert decisions.tobytes() == answers.decisions.tobytes()


def test_equal_records_pass(low):
    answers = low.answers(low.queries)
    run = check_exact(answers, run_result(records_of(answers)), "host")
    assert (run.queries, run.mismatches) == (len(low.queries), 0)


def test_every_single_changed_bit_of_an_answer_is_found(low):
    answers = low.answers(low.queries[:2])
    records = records_of(answers)
    for word in range(records.shape[1]):
        for bit in range(32):
            wrong = records.copy()
            wrong[1, word] ^= np.uint32(1 << bit)
            with pytest.raises(VerificationError, match=rf"query 1, word {word} is 0x"):
                check_exact(answers, run_result(wrong), "host")


def test_the_sign_of_zero_is_part_of_the_answer(low):
    answers = low.answers(low.queries[:1])
    records = records_of(changed(answers, 0, decision=0.0))
    with pytest.raises(VerificationError, match="differ from the interpreter's"):
        check_exact(changed(answers, 0, decision=-0.0), run_result(records), "host")


def test_a_failing_self_test_is_found(low):
    answers = low.answers(low.queries)
    with pytest.raises(VerificationError, match="self-test of the emitted C returned 4"):
        check_exact(answers, run_result(records_of(answers), Status.ERROR_CORRUPT), "host")


def test_true_answers_pass_the_bounded_check(low, asked):
    check = check_bounded(low.machine, asked, low.answers(asked.X))
    assert check.bounded.queries == len(asked.X)
    assert check.bounded.sign_disagreements == check.certified.wrong == 0
    assert 0 < check.bounded.max_error <= check.bounded.max_bound
    assert 0 < check.certified.certified_share <= 1


@pytest.mark.parametrize("side", [-1, 1])
def test_a_value_just_outside_its_bound_is_found(low, asked, side):
    answers, reference = low.answers(asked.X), evaluate(low.machine, asked.X)
    row = int(np.abs(reference.decisions[:, 0]).argmax())
    reach = answers.bounds[row, 0] + reference.error[row, 0]
    at = np.float32(reference.decisions[row, 0] + side * reach)
    beyond = np.nextafter(np.nextafter(at, np.float32(side * np.inf)), np.float32(side * np.inf))
    with pytest.raises(VerificationError, match="1 decision values lie outside their bounds"):
        check_bounded(low.machine, asked, changed(answers, row, decision=beyond))
    within = np.float32(reference.decisions[row, 0] + side * reach / 2)
    check_bounded(low.machine, asked, changed(answers, row, decision=within))


def test_a_bound_that_is_too_small_is_found(low, asked):
    answers, reference = low.answers(asked.X), evaluate(low.machine, asked.X)
    off = np.abs(answers.decisions - reference.decisions)[:, 0] - reference.error[:, 0]
    row = int(off.argmax())
    with pytest.raises(VerificationError, match="outside their bounds"):
        check_bounded(low.machine, asked, changed(answers, row, bound=np.float32(off[row] / 2)))


def test_a_certified_label_that_is_wrong_is_found(low, asked):
    # Labels that differ are counted on the user's samples: all of these here.
    asked = Queries(asked.X, "test-data", len(asked.X), len(asked.X))
    answers = low.answers(asked.X)
    before = check_bounded(low.machine, asked, answers).label_disagreements
    row = int(np.flatnonzero(answers.results["certified"])[0])
    other = (answers.results["label"][row] + 1) % len(low.program.classes)
    with pytest.raises(VerificationError, match="1 certified label differs"):
        check_bounded(low.machine, asked, changed(answers, row, label=other))
    check = check_bounded(low.machine, asked, changed(answers, row, label=other, certified=False))
    assert check.label_disagreements == before + 1


def test_only_a_sign_that_matters_excuses_a_certified_label(monkeypatch):
    X, y = digits((3, 5, 8))
    low = lowered(SVC().fit(X[::2], y[::2]))
    asked = Queries(X[1::2], "test-data", len(X[1::2]), len(X[1::2]))
    answers, reference = low.answers(asked.X), evaluate(low.machine, asked.X)
    # A sample that wins both of its pairs; the third is between the two others.
    row = int(np.flatnonzero(answers.results["certified"] & (reference.labels == 0))[0])
    wrong = changed(answers, row, label=1)

    def open_pairs(pairs):
        error = reference.error.copy()
        error[row, pairs] = 2 * np.abs(reference.decisions[row, pairs])
        unsure = replace(reference, error=error)
        monkeypatch.setattr("kmcompile.verify.checks.evaluate", lambda machine, X: unsure)

    for pairs in ([], [2], [1, 2]):  # (0, 1), (0, 2), (1, 2)
        open_pairs(pairs)
        with pytest.raises(VerificationError, match="1 certified label differs"):
            check_bounded(low.machine, asked, wrong)
    open_pairs([0, 2])
    assert check_bounded(low.machine, asked, wrong).certified.wrong == 0


def test_figures_are_of_the_ordinary_queries_only(low):
    given = low.queries[:10]
    asked = Queries(low.queries, "test-data", 10, 50)
    check = check_bounded(low.machine, asked, low.answers(asked.X))
    assert (check.bounded.queries, check.certified.queries) == (50, 10)
    alone = check_bounded(low.machine, Queries(given, "test-data", 10, 10), low.answers(given))
    assert check.certified.certified_share == alone.certified.certified_share


@pytest.fixture(scope="module")
def in_codes():
    """Return a program of codes, which stand for thirds."""
    X = np.random.default_rng(7).integers(0, 9, size=(40, 3)) / 3
    return emit_in_format(SVC(gamma=0.4).fit(X, X[:, 0] > X[:, 1]), "int8", "host")


def test_true_answers_to_codes_pass(in_codes):
    answers = in_codes.answers_of_codes
    assert (answers.results["status"] != Status.OK).sum() == 0 < answers.results["certified"].sum()
    check_codes(in_codes.machine, in_codes.program, in_codes.codes, answers)


def test_codes_are_held_against_what_they_stand_for(in_codes):
    scale = in_codes.program.scale
    wrong = replace(in_codes.program, scale=replace(scale, step=scale.step * 1.001))
    with pytest.raises(VerificationError, match="outside their bounds"):
        check_codes(in_codes.machine, wrong, in_codes.codes, in_codes.answers_of_codes)


def test_a_wrong_answer_to_codes_is_found(in_codes):
    answers = in_codes.answers_of_codes
    row = int(np.flatnonzero(answers.results["certified"])[0])
    beyond = answers.decisions[row, 0] + 3 * answers.bounds[row, 0]
    label = 1 - answers.results["label"][row]
    for values, text in (
        ({"decision": beyond}, "1 decision values lie outside their bounds"),
        ({"label": label}, "1 certified label differs"),
    ):
        with pytest.raises(VerificationError, match=text):
            check_codes(
                in_codes.machine, in_codes.program, in_codes.codes, changed(answers, row, **values)
            )


def test_a_changed_bit_of_an_answer_to_codes_is_found(in_codes):
    answers, of_codes = in_codes.answers, in_codes.answers_of_codes
    check_exact(answers, run_result(in_codes.records), "host", of_codes)
    wrong = in_codes.records.copy()
    wrong[2, -1] ^= np.uint32(1)
    with pytest.raises(VerificationError, match=rf"query 2, word {wrong.shape[1] - 1} is 0x"):
        check_exact(answers, run_result(wrong), "host", of_codes)
