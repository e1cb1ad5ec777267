"""Models with probabilities: CalibratedClassifierCV's sigmoid over machines of this compiler, and
Platt's of an SVC.

For tests of probabilities: in Python, in the C, and what bounds them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from kit.emitted import Emitted, named
from kit.sharing import shared
from kmcompile import readers
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.move_threshold import move_asked_threshold
from kmcompile.target import Target

MODELS: dict[str, tuple[Any, Any]] = {
    "rbf": (load_breast_cancer, lambda: SVC(gamma=0.02)),
    "platt": (load_breast_cancer, lambda: SVC(gamma=0.02, probability=True, random_state=0)),
    "linear": (load_breast_cancer, lambda: LinearSVC(random_state=0)),
    "iris": (load_iris, lambda: LinearSVC(random_state=0)),
    "digits": (load_digits, lambda: LinearSVC(random_state=0, C=0.01)),
}
"""Data and classifier of two and of many classes."""


@dataclass(frozen=True)
class Calibrated:
    """A calibrated model in a number format."""

    model: str
    number_format: str = "float32"
    threshold: float | None = None
    n_samples: int | None = None

    def __str__(self) -> str:
        words = ["calibrated", self.model, self.number_format]
        return "-".join(words if self.threshold is None else [*words, str(self.threshold)])

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        loaded = named(target)
        machine = read(self.model, self.n_samples)
        if self.threshold is not None:
            machine = move_asked_threshold(machine, self.threshold)
        lowered = lower_in_format(machine, loaded, name, self.number_format)
        return Emitted(machine, lowered.program, loaded)


CORE = [
    Calibrated("rbf", threshold=0.2),
    Calibrated("rbf", "int8"),
    Calibrated("iris"),
    Calibrated("platt", threshold=-0.3),
]
"""All forms, with a threshold, and after sums of integers."""

EVERY = [
    *CORE,
    Calibrated("rbf"),
    Calibrated("platt", "int16"),
    Calibrated("linear"),
    Calibrated("digits"),
]


@cache
def samples(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a model's samples, rounded to float32, and their labels."""
    X, y = MODELS[model][0](return_X_y=True)
    return X.astype(np.float32).astype(np.float64), y


@cache
def fitted(model: str, n_samples: int | None = None) -> Any:
    """Return the fitted model, by default of all samples."""
    X, y = samples(model)
    pipeline = make_pipeline(StandardScaler(), MODELS[model][1]())
    if model == "platt":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # probability=True is deprecated
            return pipeline.fit(X[:n_samples], y[:n_samples])
    calibrated = CalibratedClassifierCV(pipeline, ensemble=False, cv=3)
    return calibrated.fit(X[:n_samples], y[:n_samples])


@cache
def read(model: str, n_samples: int | None = None) -> KernelMachine:
    """Return the machine whose decisions are log odds."""
    return readers.load_model(fitted(model, n_samples))
