"""Which layout the codes of a machine take on a target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kmcompile import readers
from kmcompile.lower.code_table import code_lanes, sparse_is_better
from kmcompile.lower.codes import Coded, lossless_codes
from kmcompile.target import load_target


def coded(X: np.ndarray, y: np.ndarray) -> Coded:
    found = lossless_codes(readers.load_model(SVC(gamma=1e-5, C=2).fit(X, y)))
    assert found is not None
    return found


def few_pixels() -> tuple[Coded, np.ndarray]:
    """Codes of which one in 25 is not 0, and inputs like them."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 256, size=(200, 60)) * (rng.random((200, 60)) < 0.04)
    return coded(X[:160].astype(float), X[:160, 0:30].sum(axis=1) > 150), X.astype(np.float32)


def test_few_pixels_are_stored_in_lists_on_every_target():
    machine, X = few_pixels()
    for name in ("host", "cortex-m0", "cortex-m7", "cortex-m55"):
        assert sparse_is_better(machine, load_target(name), X)


def test_inputs_without_zeros_make_lists_dearer_than_they_save():
    machine, X = few_pixels()
    target = load_target("cortex-m55")
    fast = replace(target, part=None)
    assert not sparse_is_better(machine, fast, np.full_like(X, 255))


def test_pixels_that_are_mostly_not_0_are_stored_as_they_are():
    X, y = load_digits(return_X_y=True)
    machine = coded(X[:300], y[:300])
    assert not sparse_is_better(machine, load_target("cortex-m7"), X.astype(np.float32))


def test_blocks_of_integers_have_four_vectors_at_least():
    lanes = {name: code_lanes(load_target(name)) for name in ("cortex-m0", "cortex-m7", "host")}
    assert lanes == {"cortex-m0": 4, "cortex-m7": 4, "host": 16}
