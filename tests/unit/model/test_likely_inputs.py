"""Generated queries: the same every time, near the data, on both sides of the boundary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kit.lowered import lowered
from kmcompile.model.likely_inputs import edge_inputs, generate, ordinary_inputs
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status

STEPS = {
    "raw": list,
    "standard": lambda: [StandardScaler()],
    "pca": lambda: [PCA(2)],
    "l2": lambda: [Normalizer()],
}
CLASSIFIERS = {"svc": SVC, "linear_svc": lambda: LinearSVC(random_state=0)}


@pytest.fixture(params=[(s, c) for s in STEPS for c in CLASSIFIERS], ids="-".join, scope="module")
def low(request):
    steps, classifier = request.param
    X = 5 + np.random.default_rng(1).normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] > 10).astype(int)
    return lowered(make_pipeline(*STEPS[steps](), CLASSIFIERS[classifier]()).fit(X, y))


def test_the_same_machine_gives_the_same_queries(low):
    again = lowered(low.estimator)
    for make in (lambda m: generate(m, 300), lambda m: ordinary_inputs(m, 300)):
        assert make(low.machine).tobytes() == make(again.machine).tobytes()
    limit = low.prepare.limit
    assert edge_inputs(low.machine, limit).tobytes() == edge_inputs(again.machine, limit).tobytes()


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_there_are_as_many_as_asked_and_all_are_finite(low, n):
    made, ordinary = generate(low.machine, n), ordinary_inputs(low.machine, n)
    assert len(made) >= n
    assert len(ordinary) == n
    for X in (made, ordinary):
        assert X.dtype == np.float32
        assert np.isfinite(X).all()
    assert (low.answers(ordinary).results["status"] == Status.OK).all()


def test_both_labels_occur_and_neighbours_part_them(low):
    X = generate(low.machine, 300)
    labels = evaluate(low.machine, X).labels
    assert set(labels) == {0, 1}
    # The last ones are pairs: the first half against the second.
    half = (len(X) - _first_neighbour(X, labels)) // 2
    a, b = X[-2 * half : -half], X[-half:]
    assert half > 0
    assert (labels[-2 * half : -half] != labels[-half:]).all()
    middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
    assert ((middle == a).all(axis=1) | (middle == b).all(axis=1)).all(), "not neighbours"


def _first_neighbour(X: np.ndarray, labels: np.ndarray) -> int:
    """Return where the longest tail begins whose two halves have opposite labels and touch."""
    for half in range(64, 0, -1):  # the most that are made
        a, b = X[-2 * half : -half].astype(np.float64), X[-half:].astype(np.float64)
        middle = (a / 2 + b / 2).astype(np.float32)
        touch = ((middle == a).all(axis=1) | (middle == b).all(axis=1)).all()
        if touch and (labels[-2 * half : -half] != labels[-half:]).all():
            return len(X) - 2 * half
    return len(X)


def test_edges_hold_every_special_value_in_every_feature(low):
    limit = low.prepare.limit
    X = edge_inputs(low.machine, limit)
    for feature in range(3):
        column = X[:, feature]
        assert np.isnan(column).any()
        assert {np.inf, -np.inf} <= set(column[~np.isnan(column)].tolist())
        assert (np.abs(column) == limit * np.float32(2)).any()
    status = set(low.answers(X).results["status"])
    assert status == {Status.OK, Status.ERROR_NOT_FINITE, Status.ERROR_RANGE}
