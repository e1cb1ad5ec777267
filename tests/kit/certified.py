"""Programs with certified exits for machines of real data, every stage in front of some queries.

For tests of the claims of certified exits, and of their C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC

from kit import expansions, quadratics, sign_maps, subspaces
from kit.emitted import Emitted, emit_model
from kit.function_kernels import kernel_function
from kit.sharing import shared
from kit.sparse_digits import sparse_digits
from kmcompile.exits.certified.bound_sequence import lower_bound_sequence
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit
from kmcompile.target import Target

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.05},
    "wide": {"kernel": "rbf", "gamma": 0.002},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.05, "coef0": 1.0},
    "laplacian": {"kernel": kernel_function("laplacian", gamma=0.3)},
    "chi2": {"kernel": kernel_function("chi2", gamma=0.3)},
    "matern": {"kernel": kernel_function("matern", gamma=0.7, degree=2)},
    "rational": {"kernel": kernel_function("rational_quadratic", gamma=0.4, alpha=1.5)},
}
N_TRAINED = 300


@dataclass(frozen=True)
class Certified:
    """A machine with certified exits.

    Parameters
    ----------
    kernel : str
        A key of `KERNELS`.
    data : str
        "moons", "breast_cancer", "wine" (3 classes), "digits" (3 against 8) or "sparse_digits"
        (the same, of whose pixels two in three are 0).
    preprocessing : str
        "standard", "minmax", "l2" or "raw".
    """

    kernel: str
    data: str
    preprocessing: str = "standard"
    n_trained: int = N_TRAINED

    def __str__(self) -> str:
        return f"{self.kernel}-{self.data}-{self.preprocessing}"

    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and labels in an order drawn with a fixed seed."""
        X, y = _DATA[self.data]()
        order = np.random.default_rng(0).permutation(len(X))
        return X[order], y[order]

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        X, y = self.samples()
        model = make_pipeline(*_STEPS[self.preprocessing], SVC(C=10, **KERNELS[self.kernel]))
        plain = emit_model(model.fit(X[: self.n_trained], y[: self.n_trained]), target, name)
        fresh = X[self.n_trained :].astype(np.float32)
        machine = run_passes(plain.machine, centers=False)
        exits = exits_of(machine, plain.program)
        program = with_exits(plain.program, exits)
        return Emitted(plain.machine, program, plain.target, np.concatenate([fresh, plain.queries]))


def _digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return X[chosen] / 16, y[chosen]


_DATA = {
    "moons": lambda: make_moons(800, noise=0.25, random_state=0),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": _digits,
    "sparse_digits": lambda: sparse_digits((3, 8)),
}
_STEPS: dict[str, list[Any]] = {
    "standard": [StandardScaler()],
    "minmax": [MinMaxScaler(clip=True)],
    "l2": [Normalizer()],
    "raw": [],
}


def exits_of(machine: KernelMachine, program: Program) -> list[EarlyExit]:
    """Return every certified exit that there is for a machine."""
    vectors = greedy_vectors(Normals.of(machine), 32)
    sequence = lower_bound_sequence(machine, program, vectors)
    return [] if sequence is None else [sequence]


def with_exits(program: Program, exits: list[EarlyExit]) -> Program:
    """Return the program with early exits."""
    exits = (*program.exits, *exits)
    return replace(program, mode="certified", exits=exits)


CORE = (
    Certified("rbf", "moons"),
    Certified("wide", "breast_cancer"),
    Certified("poly", "breast_cancer"),
    Certified("rbf", "wine"),
    Certified("rbf", "digits", "l2"),
    Certified("poly", "digits", "l2"),
)
"""Bound sequences with every kernel that there are for, two classes and more."""

SPARSE = (
    Certified("rbf", "sparse_digits", "raw"),
    Certified("poly", "sparse_digits", "l2"),
)
"""Bound sequences in front of sums that skip zeros, with every kernel that there are for."""

OTHERS = (
    Certified("laplacian", "moons"),
    Certified("chi2", "wine", "minmax"),
    Certified("matern", "moons"),
    Certified("rational", "moons"),
)
"""Bound sequences with the other kernels exp(-z)."""

EVERY = (
    *CORE,
    *subspaces.CORE,
    *quadratics.CORE,
    *sign_maps.CORE,
    *expansions.CORE,
    *SPARSE,
    *OTHERS,
)
"""Every certified stage."""
