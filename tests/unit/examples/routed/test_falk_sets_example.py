"""The tables of local SVMs over sets: the paired test, and rows of small made-up samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import kmcompile

_FOLDER = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "routed"


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(_FOLDER))
    for name in ("falk", "falk_cost", "falk_data", "falk_search", "falk_sets"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import falk_search
    import falk_sets

    monkeypatch.setattr(falk_search, "N_TRIALS", 2)
    return falk_sets


def answers(both: int, one: int, local: int) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.repeat([True, True, False], [both, one, local]),
        np.repeat([True, False, True], [both, one, local]),
    )


def test_bound_of_a_probability_leaves_what_was_seen_the_error(sets: Any) -> None:
    bound = sets.upper(3, 50, 0.995)
    near = 2.0**-20
    assert binom.cdf(3, 50, bound * (1 - near)) > 0.005 > binom.cdf(3, 50, bound * (1 + near))


def test_loss_is_at_most_a_bound_above_the_seen_one(sets: Any) -> None:
    for one, local in ((0, 0), (5, 0), (40, 60), (60, 40), (0, 90)):
        assert sets.largest_loss(*answers(1000, one, local)) > (one - local) / 1100


def test_verdicts_are_three(sets: Any) -> None:
    assert sets.verdict(*answers(100_000, 5, 30)).startswith("not worse")
    assert sets.verdict(*answers(1000, 60, 10)).startswith("worse")
    assert sets.verdict(*answers(1000, 10, 10)).startswith("undecided")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_method_has_a_row(sets: Any, n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("falk_cost.instructions", lambda program, X: np.arange(len(X)))
    random = np.random.default_rng(0)
    X = np.float32(random.random((800, 2))).astype(np.float64)
    y = np.floor(3 * X).sum(axis=1) % n_classes
    rows = list(sets.rows(sets.Split(X[:600], y[:600], X[600:], y[600:])))
    names = [row["model"] for row in rows if row["model"] != "FaLK-SVMc, two levels"]
    assert names == ["SVC", "FaLK-SVMc", "FaLK-SVM"]
    assert all(row.keys() == rows[0].keys() for row in rows)
    assert all(int(row["mean ops"]) <= int(row["worst ops"]) for row in rows)
