"""How many queries there are, and where they come from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.hand_made_cascade import digits
from kit.lowered import Lowered, lowered
from kmcompile.request.options import Options
from kmcompile.verify import verifier
from kmcompile.verify.verifier import collect_queries


@pytest.fixture(scope="module")
def low() -> Lowered:
    X, y = digits()
    return lowered(SVC().fit(X[::2], y[::2]))


def collected(low, options, held_out=None):
    return collect_queries(low.machine, low.program, options, held_out)


def n_made(queries) -> int:
    return queries.n_ordinary - queries.n_given


def test_without_data_a_thousand_are_generated(low):
    queries = collected(low, Options())
    assert (queries.source, queries.n_given) == ("generated", 0)
    assert n_made(queries) >= 1000


def test_held_out_samples_are_taken_as_they_are(low):
    X, _ = digits()
    queries = collected(low, Options(), X[:700])
    assert queries.source == "generated", "nothing is held out without --data"
    queries = collected(low, Options(data="not read"), X[:700])
    assert (queries.source, queries.n_given) == ("held-out", 700)
    assert queries.X[:700].tobytes() == X[:700].tobytes()
    assert n_made(queries) >= 1000


def test_of_many_held_out_samples_some_of_all_are_taken_in_order(low):
    X, y = digits()
    order = np.argsort(y, kind="stable")
    queries = collected(low, Options(data="not read"), X[order])
    assert queries.n_given == 1000
    places = {row.tobytes(): place for place, row in enumerate(X[order])}
    taken = [places[row.tobytes()] for row in queries.X[:1000]]
    assert taken == sorted(taken)
    assert set(y[order][taken]) == set(range(10))


def test_the_calibration_file_is_read_where_nothing_is_passed(low, tmp_path):
    X, _ = digits()
    np.save(tmp_path / "data.npy", X[:500])
    queries = collected(low, Options(data=tmp_path / "data.npy"))
    assert (queries.source, queries.n_given) == ("held-out", 500)


def test_test_data_are_taken_in_full_and_before_held_out_ones(low, tmp_path):
    X, _ = digits()
    np.save(tmp_path / "test.npy", X)
    queries = collected(low, Options(data="not read", test_data=tmp_path / "test.npy"), X[:10])
    assert (queries.source, queries.n_given) == ("test-data", len(X))
    assert n_made(queries) >= 1000


def test_test_data_that_were_calibrated_with_are_told_apart(low, tmp_path):
    X, _ = digits()
    np.save(tmp_path / "test.npy", X[:300])
    options = Options(data="not read", test_data=tmp_path / "test.npy")
    fresh = collect_queries(low.machine, low.program, options, X[300:400], X[300:])
    assert fresh.source == "test-data"
    seen = collect_queries(low.machine, low.program, options, X[300:400], X[200:])
    assert (seen.source, seen.n_given) == ("calibration", 300)
    told = "100 of the 300 distinct samples in --test-data were calibrated with"
    assert any(note.startswith(told) for note in seen.notes)


@pytest.mark.parametrize("budget, n", [(1, 200), (10**12, 1000)])
def test_a_large_machine_with_test_data_gets_fewer_generated_queries(
    low, tmp_path, monkeypatch, budget, n
):
    X, _ = digits()
    np.save(tmp_path / "test.npy", X[:300])
    monkeypatch.setattr(verifier, "_GENERATED_WORK", budget)
    most = n + 2 + n // 20 + 128  # thirds, corners, neighbours
    assert n <= n_made(collected(low, Options(test_data=tmp_path / "test.npy"))) <= most
    assert n_made(collected(low, Options())) >= 1000
    assert n_made(collected(low, Options(data="not read"), X[:300])) >= 1000
