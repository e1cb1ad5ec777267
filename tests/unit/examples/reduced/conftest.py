"""The example's modules, and small made-up sets in the place of its files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kmcompile

sys.path.insert(0, str(Path(kmcompile.__file__).resolve().parents[1] / "examples" / "reduced"))

N_TRAIN, N_TEST = 90, 30


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Return a folder with sets of two and seven classes and of numbers, of three features.

    The last feature is constant but in german.
    """
    rng = np.random.default_rng(0)
    for name in ("segment", "letter", "kin8nm", "german"):
        X = rng.normal(2.0, 3.0, size=(N_TRAIN + N_TEST, 3))
        if name != "german":
            X[:, 2] = 4.0
        score = (X[:, 0] - 2.0) / 3.0
        if name == "kin8nm":
            y = 5.0 + 2.0 * score
        elif name == "german":
            y = np.where(score > 0, 1, -1)
        else:
            y = np.digitize(score, np.linspace(-1.2, 1.2, 6))
        parts = {"X_train": X[:N_TRAIN], "y_train": y[:N_TRAIN]}
        np.savez(tmp_path / f"{name}.npz", **parts, X_test=X[N_TRAIN:], y_test=y[N_TRAIN:])
    return tmp_path
