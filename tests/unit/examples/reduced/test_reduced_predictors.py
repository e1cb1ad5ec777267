"""The predictors of the example, trained on made-up sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import predictors
import pytest
from numpy.testing import assert_allclose

from kmcompile.model.kernel_machine import Task


@pytest.fixture(autouse=True)
def folder(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictors, "DATA", sets)


def test_two_classes_are_standardised_and_learned() -> None:
    predictor = predictors.load("german")
    assert_allclose(predictor.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(predictor.X.std(axis=0), 1, atol=1e-12)
    assert set(predictor.y) == set(predictor.y_test) == {0, 1}
    assert len(predictor.fresh) == 0
    assert predictor.error(predictor.machine) < 0.2
    assert predictor.training_error(predictor.machine) < 0.1


def test_image_is_three_classes_against_four() -> None:
    predictor = predictors.load("image")
    with np.load(predictors.DATA / "segment.npz") as file:
        assert np.array_equal(predictor.y, file["y_train"] < 3)
    assert predictor.machine.n_decisions == 1


def test_samples_that_train_nothing_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(predictors.CLASSES, "letter", (60, 0.12, 10.0))
    predictor = predictors.load("letter")
    assert predictor.machine.n_decisions == 7
    assert predictor.X.shape == (60, 3) and predictor.fresh.shape == (30, 3)
    assert not predictor.X[:, 2].any() and not predictor.fresh[:, 2].any()  # constant
    with np.load(predictors.DATA / "letter.npz") as file:
        X = file["X_train"][:, :2]
    mean, scale = X[:60].mean(axis=0), X[:60].std(axis=0)
    assert_allclose(predictor.fresh[:, :2], (X[60:] - mean) / scale, atol=1e-12)


def test_regression_has_outputs_without_a_unit() -> None:
    predictor = predictors.load("kin8nm")
    assert predictor.machine.task is Task.REGRESSION
    assert_allclose([predictor.y.mean(), predictor.y.std()], [0, 1], atol=1e-12)
    # A straight line; the mean of the outputs would give about 1.
    assert predictor.error(predictor.machine) < 0.1


def test_numbers_are_written_with_six_digits(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.csv"
    predictors.write_csv(path, ("set", "vectors", "error"), [("banana", 10, 1 / 3)])
    assert path.read_text() == "set,vectors,error\nbanana,10,0.333333\n"


def test_curves_are_plotted(tmp_path: Path) -> None:
    curve = np.array([[10.0, 0.1], [5.0, 0.2]])
    predictors.plot(tmp_path / "new" / "figure", {"banana": {"l1": curve}}, "vectors", "error")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"figure.png", "figure.svg"}


def test_names_of_sets_are_all_by_default() -> None:
    options = predictors.parser("Figure 0.\n\nMore.", ("banana", "german"))
    assert options.parse_args([]).names == ["banana", "german"]
    assert options.parse_args(["german"]).names == ["german"]
    assert options.description == "Figure 0."
