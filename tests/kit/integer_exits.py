"""Early exits before sums of integers: every kind that there is, with both entries.

For tests of exits in programs of codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit import certified
from kit.cascades import Cascade, Stages
from kit.emitted import Emitted, emit_in_format
from kit.every_offer import every_offer
from kit.sharing import shared
from kmcompile import readers
from kmcompile.exits.candidates.room import Room
from kmcompile.lower.formats import lower_in_format
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import EarlyExit
from kmcompile.target import Target

N_TRAINED = 200
_NO_LIMIT = Room(operations=np.inf, flash_bytes=None, ram_bytes=None)


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs and labels in an order drawn with a fixed seed, and the machine of the first ones."""

    load: Callable[[], tuple[np.ndarray, np.ndarray]]
    model: Callable[[], Any]

    def fitted(self, n_trained: int = N_TRAINED) -> tuple[Any, np.ndarray]:
        """Return the estimator and fresh inputs, float32."""
        X, y = self.load()
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order], y[order]
        n = min(n_trained, len(X) // 2)
        return self.model().fit(X[:n], y[:n]), X[n:].astype(np.float32)


def _pair() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return X[chosen], y[chosen]


def _hundredths() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_moons(800, noise=0.2, random_state=1)
    return np.rint(X * 100), y


def _standard(**parameters: Any) -> Callable[[], Any]:
    return lambda: make_pipeline(StandardScaler(), SVC(**parameters))


DATA = {
    "moons": Data(lambda: make_moons(800, noise=0.25, random_state=0), _standard(C=10, gamma=1.0)),
    "hundredths": Data(_hundredths, lambda: SVC(C=10, gamma=1e-4)),
    "cancer": Data(lambda: load_breast_cancer(return_X_y=True), _standard(C=10, gamma=0.01)),
    "wine": Data(lambda: load_wine(return_X_y=True), _standard(C=10, gamma=0.02)),
    "digits": Data(_pair, lambda: SVC(C=10, gamma=0.001)),
    "poly": Data(_pair, lambda: SVC(kernel="poly", C=10, degree=2, coef0=1.0, gamma=0.001)),
    "sigmoid": Data(_pair, lambda: SVC(kernel="sigmoid", C=10, coef0=-1.0, gamma=0.0002)),
}


@dataclass(frozen=True)
class Certified:
    """A machine in an integer format with certified exits.

    Parameters
    ----------
    data : str
        A key of `DATA`.
    exits : tuple of str
        Templates of the stages.
    number_format : str
    """

    data: str
    exits: tuple[str, ...]
    number_format: str = "int16"
    n_trained: int = N_TRAINED

    def __str__(self) -> str:
        return "-".join([self.number_format, self.data, *self.exits])

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        model, fresh = DATA[self.data].fitted(self.n_trained)
        plain = emit_in_format(model, self.number_format, target, name)
        program = certified.with_exits(
            plain.program, certified_exits(model, plain, fresh[::2], self.exits)
        )
        return Emitted(plain.machine, program, plain.target, np.concatenate([fresh, plain.queries]))


def certified_exits(
    model: Any, plain: Emitted, samples: np.ndarray, kinds: tuple[str, ...]
) -> list[EarlyExit]:
    """Return the smallest exit of some kinds that the compiler considers."""
    program, number_format = plain.program, plain.program.number_format
    machine = readers.load_model(model)
    lowered = lower_in_format(machine, plain.target, program.name, number_format)
    accepted = interpret(program, samples).results["status"] == Status.OK
    found = {}
    for stage, _ in every_offer(lowered.machine, program, samples[accepted], _NO_LIMIT):
        if stage.template not in found or _curves(stage) > _curves(found[stage.template]):
            found[stage.template] = stage
    return [found[kind] for kind in kinds]


def _curves(stage: EarlyExit) -> bool:
    """Return whether a local expansion has a curved test."""
    return getattr(stage, "n_basis", 0) > 0


@dataclass(frozen=True)
class Statistical:
    """A machine in an integer format with statistical exits of uncalibrated thresholds."""

    data: str
    number_format: str = "int16"
    n_reduced: int = 1
    n_trained: int = N_TRAINED

    def __str__(self) -> str:
        return f"{self.number_format}-{self.data}-{self.n_reduced}_reduced"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        model, fresh = DATA[self.data].fitted(self.n_trained)
        plain = emit_in_format(model, self.number_format, target, name)
        cascade = Cascade("rbf", "binary", n_reduced=self.n_reduced, skip_zeros=False)
        program = Stages(cascade, plain.program, fresh).program
        queries = np.concatenate([fresh, fresh[:20] * np.float32(1.5), plain.queries])
        return Emitted(plain.machine, program, plain.target, queries)


CORE = (
    Certified("moons", ("sign_map",)),
    Certified("hundredths", ("bound_sequence", "sign_map")),
    Certified("cancer", ("local_expansion",)),
    Certified("wine", ("local_expansion", "bound_sequence")),
    Certified("digits", ("bound_sequence",), "int8"),
    Certified("digits", ("local_expansion",), "int8"),
    Statistical("digits", "int8"),
    Statistical("digits", "int8", n_reduced=2),
    Certified("poly", ("bound_sequence",), "int8"),
    Statistical("poly", "int8"),
    Statistical("sigmoid", "int8", n_reduced=2),
)
"""Every kind of exit and kernel, lossless codes and scaled ones, two classes and more."""
