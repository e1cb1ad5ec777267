"""Programs with a subspace certificate for machines of real data.

For tests of the stage `subspace_certificate`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit.emitted import Emitted, emit_model
from kit.sharing import shared
from kit.sparse_digits import sparse_digits
from kmcompile.exits.certified.lower_subspace import Subspace, lower_subspace
from kmcompile.exits.certified.subspace import Trial
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate
from kmcompile.target import Target

N_TRAINED = 160
_UNIT_SHARE = 0.8

KERNELS: dict[str, dict[str, Any]] = {
    "cosine9": {"degree": 9, "gamma": 1.0, "coef0": 0.0},
    "quartic": {"degree": 4, "gamma": 0.05, "coef0": 1.0},
    "indefinite": {"degree": 3, "gamma": 0.1, "coef0": -0.5},
    "quadratic": {"degree": 2, "gamma": 0.1, "coef0": 0.5},
}
PREPROCESSING: dict[str, Any] = {"raw": list, "l2": lambda: [Normalizer()]}
PREPROCESSING["standard"] = lambda: [StandardScaler()]


@dataclass(frozen=True)
class SubspaceCase:
    """A machine with a subspace certificate of given sizes.

    Parameters
    ----------
    kernel : str
        Of `KERNELS`.
    data : str
        "digits" (3 against 8), "sparse_digits" or "breast_cancer".
    preprocessing : str
        "raw", "l2" or "standard".
    """

    kernel: str
    data: str
    preprocessing: str
    n_dimensions: int
    max_touched: int
    n_trained: int = N_TRAINED

    def __str__(self) -> str:
        sizes = f"{self.n_dimensions}_dimensions-{self.max_touched}_touched"
        return f"{self.kernel}-{self.data}-{self.preprocessing}-{sizes}"

    @cached_property
    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and labels."""
        return _DATA[self.data]()

    @property
    def fresh(self) -> np.ndarray:
        """Inputs that the machine has not seen, float32."""
        return self.samples[0][self.n_trained :].astype(np.float32)

    def fitted(self) -> Pipeline:
        """Return the fitted pipeline."""
        X, y = self.samples
        classifier = SVC(kernel="poly", C=10, **KERNELS[self.kernel])
        model = make_pipeline(*PREPROCESSING[self.preprocessing](), classifier)
        return model.fit(X[: self.n_trained], y[: self.n_trained])

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        plain = emit_model(self.fitted(), target, name)
        machine = run_passes(plain.machine, centers=False)
        stage = self.stage(machine, plain.program)
        exits = (*plain.program.exits, stage)
        program = replace(plain.program, mode="certified", exits=exits)
        queries = np.concatenate([self.fresh, plain.queries])
        return Emitted(plain.machine, program, plain.target, queries)

    def stage(self, machine: KernelMachine, program: Program) -> SubspaceCertificate:
        """Return the stage, fitted to some fresh inputs."""
        trial = Trial.of(machine, program, program.prepare.run(Batch.of(self.fresh[:100], 1)))
        degree = KERNELS[self.kernel]["degree"]
        directions = trial.directions[: self.n_dimensions]
        subspace = Subspace.of(program, directions, trial.delta, degree)
        unit = _UNIT_SHARE * trial.unit
        return lower_subspace(machine, program, subspace, unit, self.max_touched)


def _digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return X[chosen] / 16, y[chosen]


_DATA = {
    "digits": _digits,
    "sparse_digits": lambda: sparse_digits((3, 8)),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
}

CORE = (
    SubspaceCase("cosine9", "digits", "l2", 12, 30),
    SubspaceCase("quartic", "breast_cancer", "standard", 7, 1000),
    SubspaceCase("indefinite", "sparse_digits", "raw", 9, 5),
    SubspaceCase("quadratic", "digits", "raw", 20, 0),
)
"""Odd and even degrees; with and without a list of zeros; with some, all and no kernels."""
