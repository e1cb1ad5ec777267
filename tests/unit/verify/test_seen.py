"""Test samples are told from calibration samples, on data with few and many different values."""

from __future__ import annotations

import numpy as np
import pytest

from kit.shared_data import data_file
from kmcompile.exits.statistical.training import first_of_equal
from kmcompile.verify.seen import SEEN_SHARE, seen_note


def parts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return 10,000 calibration and other test samples, drawn from the same rows."""
    with np.load(data_file(name)) as data:
        X = data["X_train"].astype(np.float32)
    X = X[np.random.default_rng(3).permutation(len(X))]
    return X[: min(len(X) // 2, 10_000)], X[min(len(X) // 2, 10_000) :][:10_000]


@pytest.mark.parametrize("name", ["skin", "a9a", "letter", "segment", "spambase", "phoneme"])
def test_independent_samples_are_a_test_however_few_values_they_have(name: str) -> None:
    calibration, test = parts(name)
    assert seen_note(test, calibration) is None


@pytest.mark.parametrize("name", ["skin", "a9a", "letter", "segment", "spambase", "phoneme"])
def test_calibration_samples_are_none(name: str) -> None:
    calibration, _ = parts(name)
    n = len(first_of_equal(calibration))
    told = f"{n:,} of the {n:,} distinct samples in --test-data"
    for seen in (calibration, np.repeat(calibration, 4, axis=0)):
        assert str(seen_note(calibration, seen)).startswith(told)
        assert str(seen_note(seen, calibration)).startswith(told)


def test_a_small_part_of_calibration_samples_is_let_pass() -> None:
    calibration, test = parts("twonorm")  # no two rows are equal
    few = int(SEEN_SHARE * len(test))
    mixed = np.concatenate([calibration[:few], test[few:]])
    assert seen_note(mixed, calibration) is None
    mixed[few] = calibration[few]
    assert str(seen_note(mixed, calibration)).startswith(f"{few + 1} of the {len(test):,} distinct")


def test_no_samples_are_no_calibration_samples() -> None:
    nothing = np.zeros((0, 3), dtype=np.float32)
    assert seen_note(nothing, np.ones((5, 3), dtype=np.float32)) is None
