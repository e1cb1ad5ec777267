"""The options for flight go together: one program with many of them is verified as any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmcompile
from kmcompile.errors import UsageError

ALL = {"telemetry": True, "redundancy": 2, "step": 20_000}
PARTED = 4
"""Every fourth sample trains; the others are held out, and the first of these are asked."""


def of_labels(load: Any) -> tuple[Any, np.ndarray]:
    """Return a machine of one of scikit-learn's sets, and samples that did not train it."""
    X, y = load(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(C=10.0, gamma="scale"))
    model.fit(X[::PARTED], y[::PARTED])
    return model, np.delete(X, np.s_[::PARTED], axis=0).astype(np.float32)


def of_values() -> tuple[Any, np.ndarray]:
    """Return a regression, and samples that did not train it."""
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVR(C=50.0, gamma=0.05))
    return model.fit(X[::PARTED], y[::PARTED]), np.delete(X, np.s_[::PARTED], axis=0)


BINARY, CLASSES, VALUES = of_labels(load_breast_cancer), of_labels(load_wine), of_values()
CASES = {
    "certified": (BINARY, {**ALL, "mode": "certified", "monitor": 0.05}),
    "statistical": (BINARY, {**ALL, "mode": "statistical", "risk": "auto", "monitor": 0.05}),
    "exact": (CLASSES, {**ALL, "mode": "exact", "monitor": 0.1}),
    "int8": (BINARY, {**ALL, "mode": "certified", "format": "int8", "monitor": 0.05}),
    "values": (VALUES, {**ALL, "tolerance": 20.0, "monitor": 0.05}),
    "tolerance": (
        BINARY,
        {"telemetry": True, "redundancy": 2, "monitor": 0.05, "input_tolerance": 0.001},
    ),
    "tolerance of many classes": (
        CLASSES,
        {"telemetry": True, "redundancy": 2, "monitor": 0.1, "input_tolerance": 0.001},
    ),
}


@pytest.mark.few
@pytest.mark.parametrize("name", CASES)
def test_a_program_with_many_options_is_verified(name):
    (model, X), options = CASES[name]
    made = kmcompile.compile_model(
        model, data=X, name="flown", verify="host", trust_pickle=False, **options
    )
    report = made.report
    assert report["verification"]["exact"]["host"]["mismatches"] == 0
    assert made.program.telemetry
    assert made.program.redundancy == 2
    assert made.program.monitor is not None
    assert (report["stepping"] is None) == ("step" not in options)
    certified = report["verification"]["certified"]
    assert certified is None or certified["wrong"] == 0


@pytest.mark.parametrize(
    ("option", "other"),
    [
        ({"tables": "image"}, {"redundancy": 2}),
        ({"tables": "image"}, {"step": 20_000}),
        ({"tables": "image"}, {"input_tolerance": 0.1}),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(option, other):
    model, _ = BINARY
    with pytest.raises(UsageError):
        kmcompile.compile_model(model, name="flown", **option, **other)
