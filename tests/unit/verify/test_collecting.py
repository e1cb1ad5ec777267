"""How many queries there are, and where they come from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.hand_made_cascade import digits
from kit.lowered import Lowered, lowered
from kit.plans import plan_for
from kmcompile.verify import verifier
from kmcompile.verify.verifier import collect_queries


@pytest.fixture(scope="module")
def low() -> Lowered:
    X, y = digits()
    return lowered(SVC().fit(X[::2], y[::2]))


def collected(low, held_out=None, **samples):
    return collect_queries(low.machine, low.program, plan_for(low.machine, **samples), held_out)


def n_made(queries) -> int:
    return queries.n_ordinary - queries.n_given


def test_without_data_a_thousand_are_generated(low):
    queries = collected(low)
    assert (queries.source, queries.n_given) == ("generated", 0)
    assert n_made(queries) >= 1000


def test_held_out_samples_are_taken_as_they_are(low):
    X, _ = digits()
    queries = collected(low, X[:700])
    assert queries.source == "generated", "nothing is held out without --data"
    queries = collected(low, X[:700], samples=X)
    assert (queries.source, queries.n_given) == ("held-out", 700)
    assert queries.X[:700].tobytes() == X[:700].tobytes()
    assert n_made(queries) >= 1000


def test_of_many_held_out_samples_some_of_all_are_taken_in_order(low):
    X, y = digits()
    order = np.argsort(y, kind="stable")
    queries = collected(low, X[order], samples=X)
    assert queries.n_given == 1000
    places = {row.tobytes(): place for place, row in enumerate(X[order])}
    taken = [places[row.tobytes()] for row in queries.X[:1000]]
    assert taken == sorted(taken)
    assert set(y[order][taken]) == set(range(10))


def test_all_calibration_samples_are_taken_where_nothing_is_held_out(low):
    X, _ = digits()
    queries = collected(low, samples=X[:500])
    assert (queries.source, queries.n_given) == ("held-out", 500)


def test_test_data_are_taken_in_full_and_before_held_out_ones(low):
    X, _ = digits()
    queries = collected(low, X[:10], samples=X, test_samples=X)
    assert (queries.source, queries.n_given) == ("test-data", len(X))
    assert n_made(queries) >= 1000


def test_test_data_that_were_calibrated_with_are_told_apart(low):
    X, _ = digits()
    plan = plan_for(low.machine, X, X[:300])
    fresh = collect_queries(low.machine, low.program, plan, X[300:400], X[300:])
    assert fresh.source == "test-data"
    seen = collect_queries(low.machine, low.program, plan, X[300:400], X[200:])
    assert (seen.source, seen.n_given) == ("calibration", 300)
    told = "100 of the 300 distinct samples in --test-data were calibrated with"
    assert any(note.startswith(told) for note in seen.notes)


@pytest.mark.parametrize("budget, n", [(1, 200), (10**12, 1000)])
def test_a_large_machine_with_test_data_gets_fewer_generated_queries(low, monkeypatch, budget, n):
    X, _ = digits()
    monkeypatch.setattr(verifier, "_GENERATED_WORK", budget)
    most = n + 2 + n // 20 + 128  # thirds, corners, neighbours
    assert n <= n_made(collected(low, test_samples=X[:300])) <= most
    assert n_made(collected(low)) >= 1000
    assert n_made(collected(low, X[:300], samples=X)) >= 1000
