"""Small polynomial machines whose support vectors are multiplied out, of every task and degree.

For tests of the stage `polynomial_sum`, alone and with a replay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from kit.emitted import Emitted, named
from kit.sharing import shared
from kmcompile import readers
from kmcompile.lower import lower
from kmcompile.lower.program import with_tolerance
from kmcompile.lower.replay import add_replay
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import edge_inputs, generate, ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages import PolynomialSum
from kmcompile.target import Target

TASKS = ("binary", "one_vs_one", "break_ties", "one_vs_rest", "one_class", "regression")


@dataclass(frozen=True)
class Polynomial:
    """A machine of a task and a degree, in standardised or projected features."""

    task: str
    degree: int
    replays: bool = False
    n_features: int = 5
    projects: bool = False
    coef0: float = 0.5
    tolerance: float | None = None
    n_samples: int = 60

    def __str__(self) -> str:
        words = ["polynomial", self.task, f"degree{self.degree}", f"{self.n_features}_features"]
        words += ["pca"] * self.projects + ["homogeneous"] * (self.coef0 == 0)
        words += ["replay"] * self.replays
        return "-".join(words if self.tolerance is None else [*words, f"{self.tolerance:g}"])

    def fitted(self) -> Any:
        """Return the fitted pipeline."""
        rng = np.random.default_rng(8)
        X = rng.normal(size=(self.n_samples, self.n_features)) * 3.0 + 1.0
        scores = X @ rng.normal(size=(self.n_features, 2 if self.task == "binary" else 4))
        y = np.argmax(scores, axis=1)
        y[: scores.shape[1]] = np.arange(scores.shape[1])
        if self.task == "regression":
            y = scores[:, 0] + 0.1 * scores[:, 1] ** 2
        steps = [StandardScaler(), *([PCA(3)] if self.projects else [])]
        return make_pipeline(*steps, self._machine()).fit(X, y)

    def _machine(self) -> Any:
        own = {"kernel": "poly", "degree": self.degree, "gamma": 0.3, "coef0": self.coef0}
        if self.task == "regression":
            return SVR(C=5.0, epsilon=0.1, **own)
        if self.task == "one_class":
            return OneClassSVM(nu=0.3, **own)
        if self.task == "one_vs_rest":
            return OneVsRestClassifier(SVC(**own))
        return SVC(break_ties=self.task == "break_ties", **own)

    def machine(self) -> KernelMachine:
        """Return the machine after the passes."""
        return run_passes(readers.load_model(self.fitted()))

    def program(self, machine: KernelMachine, target: Target, name: str = "iris") -> Program:
        """Return the program of a machine, with the replay."""
        ordinary = ordinary_inputs(machine, 64)
        program = lower(machine, target, name, ordinary, vectorless=PolynomialSum)
        program = with_tolerance(program, self.tolerance)
        if self.replays:
            program, _ = add_replay(machine, target, program, ordinary, None, required=True)
        return program

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C, with a replay only where double has 64 bits."""
        if self.replays and named(target).double_bits != 64:
            return replace(self, replays=False).emit(target, name)
        machine = self.machine()
        program = self.program(machine, named(target), name)
        trained = readers.load_model(self.fitted())
        edges = edge_inputs(trained, program.prepare.limit)
        X = np.concatenate([generate(trained, 150), edges])
        return Emitted(trained, program, named(target), X)


CORE = [
    Polynomial("one_vs_one", 3, replays=True),
    Polynomial("binary", 2),
]
MORE = [
    *(Polynomial("binary", degree, replays=True) for degree in (1, 2, 3, 4, 5, 6)),
    *(Polynomial(task, degree) for task in TASKS[1:] for degree in (1, 2)),
    Polynomial("break_ties", 4, replays=True, n_features=3),
    Polynomial("one_vs_one", 2, projects=True),
    Polynomial("regression", 3, tolerance=0.01, replays=True),
    Polynomial("binary", 3, coef0=0.0),
    Polynomial("binary", 4, n_features=1),
]
FEW_TERMS = [Polynomial("binary", 2, n_features=2, n_samples=8)]
"""Small tables, of which every bit can be tried."""
