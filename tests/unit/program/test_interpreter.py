"""The interpreter refuses what the C refuses, and says nothing of what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.lowered import lowered
from kmcompile.program.interpreter import RESULT_DTYPE, Status, check

D = 5


@pytest.fixture(scope="module")
def low():
    X = np.random.default_rng(1).normal(size=(60, D))
    return lowered(make_pipeline(StandardScaler(), SVC()).fit(X, np.argmax(X[:, :3], axis=1)))


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_in_every_feature(low, value):
    """reliability 29: NaN or Inf input."""
    X = np.zeros((D, D), dtype=np.float32)
    np.fill_diagonal(X, value)
    X[:, -1] = np.where(np.arange(D) == D - 1, value, 1e38)  # a range error besides
    assert (low.answers(X).results["status"] == Status.ERROR_NOT_FINITE).all()


def test_signalling_patterns_are_not_finite(low):
    bits = np.array([0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFC00000], dtype=np.uint32)
    X = np.repeat(bits.view(np.float32)[:, None], D, axis=1)
    assert (check(X, low.prepare.limit) == Status.ERROR_NOT_FINITE).all()


def test_a_refused_query_has_no_answer(low):
    X = np.zeros((3, D), dtype=np.float32)
    X[0, 0], X[1, 1] = np.nan, low.prepare.limit * np.float32(2)
    answers = low.answers(X)
    nothing = np.zeros(1, dtype=RESULT_DTYPE)[0]
    for row, status in ((0, Status.ERROR_NOT_FINITE), (1, Status.ERROR_RANGE)):
        nothing["status"] = status
        assert answers.results[row] == nothing
        assert not answers.decisions[row].any()
        assert not answers.bounds[row].any()
    assert answers.results[2]["status"] == Status.OK
    assert answers.results[2]["kernel_evals"] > 0


def test_refused_queries_change_no_other_answer(low):
    X = low.queries[:50]
    mixed = np.repeat(X, 2, axis=0)
    mixed[::2, 2] = np.inf
    alone, among = low.answers(X), low.answers(mixed)
    assert among.results[1::2].tobytes() == alone.results.tobytes()
    assert among.decisions[1::2].tobytes() == alone.decisions.tobytes()


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 1000])
def test_an_answer_does_not_depend_on_its_batch(low, rows):
    X = np.resize(low.queries, (rows, D))
    together = low.answers(X)
    assert len(together.results) == rows
    for row in range(0, rows, 97):
        alone = low.answers(X[row : row + 1])
        assert alone.results[0] == together.results[row]
        assert alone.bounds.tobytes() == together.bounds[row : row + 1].tobytes()


def test_strided_inputs_are_read_right(low):
    X = np.asfortranarray(low.queries)
    assert low.answers(X).results.tobytes() == low.answers(low.queries).results.tobytes()
