"""Items 9, 10 and 12 of reliability.md for calibrated models and thresholds."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from model_files import META, refused, write
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

from kmcompile import cli

SIGMOID = "calibrated_classifiers_[0].calibrators[0]."


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["a_", "b_"])
def test_calibrators_that_are_not_finite_are_refused(name, poison, tmp_path):
    """reliability 9: in the sigmoid's slope and offset."""
    model = copy.deepcopy(META["CalibratedClassifierCV"])
    setattr(model.calibrated_classifiers_[0].calibrators[0], name, np.float64(poison))
    refused(write(tmp_path, pickle.dumps(model)), f"{SIGMOID}{name}", "must be finite")


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("kind", "name"), [("FixedThreshold", "threshold"), ("TunedThreshold", "best_threshold_")]
)
def test_thresholds_that_are_not_finite_are_refused(kind, name, poison, tmp_path):
    """reliability 9: in a threshold."""
    model = copy.deepcopy(META[kind])
    setattr(model, name, poison)
    refused(write(tmp_path, pickle.dumps(model)), name, "must be finite")


@pytest.mark.parametrize("name", ["a_", "b_"])
def test_a_calibrator_that_overflows_is_refused(name, tmp_path):
    """reliability 9: what follows from it is not finite, or too large for float32."""
    model = copy.deepcopy(META["CalibratedClassifierCV"])
    setattr(model.calibrated_classifiers_[0].calibrators[0], name, 1e308)
    model.calibrated_classifiers_[0].estimator._intercept_[:] = 1e10
    model.calibrated_classifiers_[0].estimator.intercept_[:] = 1e10
    path = write(tmp_path, pickle.dumps(model))
    assert cli.run([str(path), "--out", str(tmp_path / "o"), "--verify", "none"]) == 3


def test_unfitted_calibrated_models_are_refused(tmp_path):
    """reliability 12: outputs of an unfitted estimator."""
    model = CalibratedClassifierCV(SVC(), ensemble=False)
    refused(write(tmp_path, pickle.dumps(model)), "is not fitted")


def test_calibrators_of_another_number_of_classes_are_refused(tmp_path):
    """reliability 10: inconsistent shapes."""
    model = copy.deepcopy(META["CalibratedClassifierCV"])
    pair = model.calibrated_classifiers_[0]
    pair.calibrators = [*pair.calibrators, *pair.calibrators]
    refused(write(tmp_path, pickle.dumps(model)), "calibrators is ", "must be a list of 1")
