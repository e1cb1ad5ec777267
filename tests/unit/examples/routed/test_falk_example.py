"""The example of local SVMs, on small made-up samples."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import kmcompile

_PATH = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "routed" / "falk.py"
_SPEC = importlib.util.spec_from_file_location("falk_example", _PATH)
assert _SPEC is not None and _SPEC.loader is not None
falk = importlib.util.module_from_spec(_SPEC)


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    sys.modules["falk_example"] = falk
    _SPEC.loader.exec_module(falk)


def test_checkerboards_flip_the_given_share_of_labels():
    X, y = falk.checkerboard(4000, 0.0, 0)
    assert ((X >= 0) & (X <= 1)).all()
    assert (y == (np.floor(X * 4).sum(axis=1) % 2)).all()
    same, flipped = falk.checkerboard(4000, 0.25, 0)
    assert (same == X).all()
    # Four standard deviations of a binomial count.
    assert abs((flipped != y).sum() - 1000) < 4 * np.sqrt(4000 * 0.25 * 0.75)


def test_rows_tell_what_noise_costs():
    clean, noisy, fewer = falk.board_rows(3000)
    assert clean["vectors"] < noisy["vectors"]
    assert clean["mean ops"] < clean["worst ops"]
    assert fewer["vectors"] == 3000 // falk.POINTS_A_VECTOR
    assert fewer["leaves"] == noisy["leaves"]
    assert fewer["table bytes"] < noisy["table bytes"] / 4
    assert fewer["worst ops"] < noisy["worst ops"]


def test_reduced_leaves_say_how_far_they_are_from_the_trained_ones():
    X, y = falk.checkerboard(1500, 0.058, 0)
    model = falk.FaLKSVC(k=200, gamma=64.0, selection="nearest_centre", random_state=0).fit(X, y)
    machine = falk.reduced(model, 40)
    assert machine.n_support_vectors == 40
    assert machine.reduced_from.distance.shape == (machine.routing.n_leaves, 1)


def test_every_model_of_ijcnn1_has_a_row():
    X, y = falk.checkerboard(1200, 0.0, 0)
    X_test, y_test = falk.checkerboard(400, 0.0, 1)
    rows = list(falk.ijcnn1_rows(falk.Split(X, y, X_test, y_test), 300))
    names = [row["model"] for row in rows]
    assert names == [
        "SVC",
        "FaLK-SVMc, flat",
        "FaLK-SVMc, two_levels",
        "FaLK-SVM, two_levels",
    ]
    assert rows[0]["leaves"] == 1
