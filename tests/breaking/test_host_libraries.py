"""No certified label of the host's libraries is wrong, and every interval holds f."""

from __future__ import annotations

import numpy as np
import pytest
from attack import attack, common_inputs, judge, limits_of
from library import Library, OfCodes, library_of, received
from subjects import QUICK, SUBJECTS, fitted, planned
from truth import evaluate

from kit.covering import some
from kit.emitted import Emitted
from kmcompile.program.interpreter import RESULT_DTYPE, Status, classify, interpret

N_QUERIES = 1_000_000
N_INTERPRETED = 400


@pytest.fixture(params=some(SUBJECTS, QUICK[1::2]), scope="module")
def subject(request):
    request.param.need_data()
    return request.param


@pytest.mark.exhaustive
def test_no_certified_label_is_wrong_and_every_interval_holds_f(subject, record_figures):
    planned_here = planned(N_QUERIES)[subject]
    table = attack(subject, planned_here)
    record_figures("host libraries", table)
    dirty = {name: figures for name, figures in table.items() if not figures.is_clean}
    assert not dirty


@pytest.mark.exhaustive
def test_the_interpreter_gives_the_same_answers_and_its_bounds_hold(subject, record_figures):
    target = fitted(subject)
    inputs = common_inputs(target, 4 * N_INTERPRETED, np.random.default_rng(5))
    for name, emitted in target.programs.items():
        chosen = _hardest(library_of(emitted), inputs)
        answers = interpret(emitted.program, _as_given(emitted, chosen))
        truth = evaluate(target.machine, chosen)
        figures = judge(truth, answers.results)
        record_figures("the interpreter", {name: figures})
        assert figures.is_clean
        _check_same(emitted, chosen, answers.results)
        _check_same_within(emitted, chosen)
        error = np.abs(truth.decisions - answers.decisions)
        assert (error <= answers.bounds + truth.error).all()


def _hardest(library: Library, inputs: np.ndarray) -> np.ndarray:
    """Return accepted inputs, those that only just are certified or not among them."""
    inputs = received(library.emitted, inputs)
    answers = library.ask(inputs)
    accepted = answers["status"] == Status.OK
    ends = np.minimum(np.abs(answers["lower"]), np.abs(answers["upper"]))
    order = np.argsort(np.where(accepted, ends, np.inf), kind="stable")
    n = min(N_INTERPRETED, int(accepted.sum()))
    return inputs[order[:n]]


def _as_given(emitted: Emitted, X: np.ndarray) -> np.ndarray:
    """Return inputs as the interpreter takes them: codes as integers."""
    return X.astype(np.int64) if isinstance(emitted, OfCodes) else X


def _check_same(emitted: Emitted, X: np.ndarray, results: np.ndarray) -> None:
    answers = library_of(emitted).ask(X)
    for name in set(RESULT_DTYPE.names) - {"in_range"}:
        np.testing.assert_array_equal(answers[name], results[name])


def _check_same_within(emitted: Emitted, X: np.ndarray) -> None:
    library = library_of(emitted)
    for limit in limits_of(library) if library.proves else []:
        answers, (results, _) = (
            library.ask(X, limit),
            classify(emitted.program, _as_given(emitted, X), limit),
        )
        for name in set(RESULT_DTYPE.names) - {"in_range"}:
            np.testing.assert_array_equal(answers[name], results[name])
