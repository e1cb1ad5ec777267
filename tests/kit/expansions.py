"""Programs with local expansions for machines of real data.

For tests of the stage `local_expansion`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit.emitted import Emitted, emit_model
from kit.sharing import shared
from kmcompile.exits.certified.expansion_tree import Centre, tree
from kmcompile.exits.certified.lower_expansion import curvature, lower_local_expansion
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.threads import one_thread
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit
from kmcompile.target import Target

N_TRAINED = 160


@dataclass(frozen=True)
class Expanded:
    """A machine with local expansions.

    Parameters
    ----------
    data : str
        "moons", "breast_cancer", "wine" (3 classes), "digits" (3 against 8) or "far" (breast
        cancer at 1000, 0.01 wide).
    gamma : float
    shape : tuple of int
        Children of each centre, of each level.
    n_basis : int
        Rows of the basis of the last level's curved test; 0: no curved test.
    preprocessing : str
        "standard" or "l2".
    n_labels : int
        How many labels a centre's rows may prove.
    """

    data: str
    gamma: float
    shape: tuple[int, ...]
    n_basis: int
    preprocessing: str = "standard"
    n_trained: int = N_TRAINED
    n_labels: int = 1

    def __str__(self) -> str:
        shape = "x".join(str(n) for n in self.shape)
        labels = f"-{self.n_labels}_labels" if self.n_labels > 1 else ""
        return f"{self.data}-{self.preprocessing}-{shape}_centres-{self.n_basis}_curved{labels}"

    @cached_property
    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and labels in an order drawn with a fixed seed."""
        X, y = _DATA[self.data]()
        order = np.random.default_rng(0).permutation(len(X))
        return X[order], y[order]

    @property
    def fresh(self) -> np.ndarray:
        """Inputs that the machine has not seen, float32."""
        return self.samples[0][self.n_trained :].astype(np.float32)

    @cached_property
    def plain(self) -> Emitted:
        """The program without early exits."""
        return self._plain("host", "iris")

    def _plain(self, target: str | Target, name: str) -> Emitted:
        X, y = self.samples
        steps = [StandardScaler()] if self.preprocessing == "standard" else [Normalizer()]
        model = make_pipeline(*steps, SVC(C=10, gamma=self.gamma))
        return emit_model(model.fit(X[: self.n_trained], y[: self.n_trained]), target, name)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        plain = self._plain(target, name)
        exits = (*plain.program.exits, self.stage(plain))
        program = replace(plain.program, mode="certified", exits=exits)
        queries = np.concatenate([self.fresh, plain.queries])
        return Emitted(plain.machine, program, plain.target, queries)

    def stage(self, plain: Emitted) -> EarlyExit:
        """Return the stage, fitted to half of the fresh inputs."""
        machine = passed(plain.machine)
        levels = self.levels(machine, plain.program)
        return lower_local_expansion(
            machine, self.shape, levels, curvature(levels[-1], self.n_basis)
        )

    def levels(self, machine: KernelMachine, program: Program) -> list[list[Centre]]:
        """Return the centres."""
        X = self.fresh[::2]
        prepared = program.prepare.run(Batch.of(X, program.n_decisions)).x.astype(np.float64)
        with one_thread():
            labels = evaluate(machine, X).labels
            return tree(machine, program, prepared, labels, self.shape, n_labels=self.n_labels)


def passed(machine: KernelMachine) -> KernelMachine:
    """Return the machine after the passes."""
    return run_passes(machine, centers=False)


def _digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return X[chosen] / 16, y[chosen]


def _far() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return 1000 + 0.01 * (X - X.mean(axis=0)) / X.std(axis=0), y


_DATA = {
    "moons": lambda: make_moons(800, noise=0.25, random_state=0),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": _digits,
    "far": _far,
}

CORE = (
    Expanded("breast_cancer", 0.01, (1, 4), 4),
    Expanded("digits", 1.0, (1,), 8, "l2"),
    Expanded("wine", 0.02, (3,), 3),
    Expanded("wine", 0.02, (3,), 3, n_labels=2),
    Expanded("moons", 2.0, (4, 4, 4), 0),
    Expanded("far", 0.01, (2,), 5),
)
"""One level and more, with and without a curved test, two classes and more."""
