"""Machines whose answers hold within an input tolerance, for tests in Python and of the C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

from kit.emitted import Emitted, named
from kit.sharing import shared
from kmcompile import readers
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.certify import fit
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.input_tolerance import with_input_tolerance
from kmcompile.lower.program import with_tolerance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import edge_inputs, generate
from kmcompile.program.program import Program
from kmcompile.target import Target


def _framed(return_X_y: bool = False) -> Any:
    """Load the digits in frames of four pixels that are 0, as `load_digits` does."""
    data = load_digits()
    images = np.pad(data.images, ((0, 0), (4, 4), (4, 4)))
    data.data = images.reshape(len(images), -1)
    return (data.data, data.target) if return_X_y else data


_DATA = {
    "framed_digits": _framed,
    "breast_cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "digits": load_digits,
    "wine": load_wine,
}
NARROW = 40.0
"""The tolerance of values of cases with exits, in the units of the diabetes data."""

_STEPS: dict[str, Any] = {
    "raw": lambda: (),
    "standard": lambda: (StandardScaler(),),
    "minmax": lambda: (MinMaxScaler(clip=True),),
    "pca": lambda: (StandardScaler(), PCA(4, whiten=True, random_state=0)),
}
_ESTIMATORS: dict[str, Any] = {
    "rbf": lambda: SVC(C=10.0),
    "break_ties": lambda: SVC(C=10.0, break_ties=True),
    "linear": lambda: LinearSVC(random_state=0),
    "linear_pairs": lambda: SVC(kernel="linear"),
    "one_class": lambda: OneClassSVM(nu=0.2),
    "value": lambda: SVR(C=50.0, gamma=0.05, epsilon=10.0),
    "value_cubic": lambda: SVR(kernel="poly", C=10.0, gamma=0.1, coef0=1.0, epsilon=10.0),
    "value_linear": lambda: SVR(kernel="linear", C=50.0),
    "square": lambda: SVC(kernel="poly", degree=2, coef0=1.0),
    "cubic": lambda: SVC(kernel="poly", degree=3, coef0=1.0),
    "pure_cubic": lambda: SVC(kernel="poly", degree=3),
    "quartic": lambda: SVC(kernel="poly", degree=4, coef0=0.5),
    "straight": lambda: SVC(kernel="poly", degree=1),
    "one_class_square": lambda: OneClassSVM(kernel="poly", degree=2, coef0=1.0, nu=0.2),
}


@dataclass(frozen=True)
class Tolerant:
    """A machine with a tolerance in shares of each feature's standard deviation."""

    data: str
    steps: str
    kind: str
    share: float
    exits: bool = False
    n_trained: int = 150
    number_format: str = "float32"

    def __str__(self) -> str:
        words = ["within", f"{self.share:g}", self.data, self.steps, self.kind]
        words += [self.number_format] * (self.number_format != "float32")
        return "-".join([*words, *(["local_expansion"] if self.exits else [])])

    def fitted(self) -> Any:
        """Return the fitted pipeline."""
        return _fitted(self.data, self.steps, self.kind, self.n_trained)

    def tolerance(self) -> np.ndarray:
        """Return the tolerance of each raw feature."""
        return self.share * (_DATA[self.data]().data.std(axis=0) + 1e-3)

    def fresh(self) -> np.ndarray:
        """Return samples that were not trained on, float32."""
        X, _ = _shuffled(self.data)
        return X[self.n_trained : self.n_trained + 200].astype(np.float32)

    def lower(self, target: str | Target, name: str = "iris") -> tuple[KernelMachine, Program]:
        """Return the machine as it was trained, and the program."""
        machine = readers.load_model(self.fitted())
        lowered = lower_in_format(machine, named(target), name, self.number_format)
        exact = with_tolerance(lowered.program, NARROW if self.exits else None)
        program = with_input_tolerance(exact, lowered.machine, self.tolerance())
        if self.exits:
            offered = fit(lowered.machine, program, self.fresh(), Room(1e9, None, None))
            exits = (*program.exits, offered[-1][0])
            program = replace(program, mode="certified", exits=exits)
        return machine, program

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        machine, program = self.lower(target, name)
        edges = edge_inputs(machine, program.prepare.limit)
        queries = np.concatenate([self.fresh(), generate(machine, 60), edges])
        return Emitted(machine, program, named(target), queries)


@cache
def _shuffled(data: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = _DATA[data](return_X_y=True)
    order = np.random.default_rng(5).permutation(len(X))
    return X[order], y[order]


@cache
def _fitted(data: str, steps: str, kind: str, n_trained: int) -> Any:
    X, y = _shuffled(data)
    n = min(n_trained, len(X) * 2 // 3)
    return make_pipeline(*_STEPS[steps](), _ESTIMATORS[kind]()).fit(X[:n], y[:n])


CORE = [
    Tolerant("breast_cancer", "standard", "rbf", 0.05),
    Tolerant("digits", "raw", "rbf", 0.05),
    Tolerant("wine", "minmax", "break_ties", 0.1, n_trained=100),
    Tolerant("breast_cancer", "standard", "rbf", 0.01, exits=True),
    Tolerant("wine", "standard", "linear", 0.1, n_trained=100),
    Tolerant("breast_cancer", "standard", "cubic", 0.05),
    Tolerant("digits", "raw", "square", 0.05),
    Tolerant("diabetes", "standard", "value", 0.05),
    Tolerant("breast_cancer", "standard", "rbf", 0.02, number_format="int16"),
]
MORE = [
    Tolerant("breast_cancer", "pca", "rbf", 0.02),
    Tolerant("wine", "standard", "rbf", 0.02, exits=True, n_trained=100),
    Tolerant("breast_cancer", "standard", "linear", 0.1),
    Tolerant("wine", "standard", "linear_pairs", 0.1, n_trained=100),
    Tolerant("breast_cancer", "standard", "one_class", 0.05),
    Tolerant("breast_cancer", "standard", "rbf", 5.0),
    Tolerant("digits", "minmax", "rbf", 0.0),
    Tolerant("diabetes", "standard", "value", 0.01, exits=True),
    Tolerant("diabetes", "pca", "value_cubic", 0.05),
    Tolerant("digits", "raw", "rbf", 0.02, number_format="int8"),
    Tolerant("diabetes", "standard", "value", 0.02, number_format="int16"),
    Tolerant("diabetes", "standard", "value_linear", 0.05),
    Tolerant("breast_cancer", "minmax", "square", 0.05),
    Tolerant("wine", "standard", "pure_cubic", 0.05, n_trained=100),
    Tolerant("breast_cancer", "pca", "quartic", 0.05),
    Tolerant("digits", "minmax", "quartic", 0.05),
    Tolerant("breast_cancer", "standard", "straight", 0.05),
    Tolerant("breast_cancer", "standard", "one_class_square", 0.05),
    Tolerant("framed_digits", "raw", "rbf", 0.02),
]
