"""Machines of one to three features with their sign maps.

For tests of the stage `sign_map`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.emitted import Emitted, emit_model
from kit.lowered import program_of
from kit.shared_data import data_file
from kit.sharing import shared
from kmcompile import readers
from kmcompile.exits.certified.sign_map import build_sign_map
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages.early_exits.sign_map import SignMap
from kmcompile.target import Target

N_TRAINED = 1000

TRANSFORMERS: dict[str, Any] = {
    "raw": list,
    "standard": lambda: [StandardScaler()],
    "pca": lambda: [StandardScaler(), PCA(2)],
    "whiten": lambda: [PCA(2, whiten=True)],
}


@dataclass(frozen=True, eq=False)
class Mapped:
    """A fitted machine with its map.

    Parameters
    ----------
    data : str
        A file of the shared data, "moons", "one" (its first feature), "solid" (a third one), "far"
        (at 1000, tiny) or "uneven" (one feature a thousand times the other).
    preprocessing : str
        Of `TRANSFORMERS`.
    parameters : dict
        Of the SVC.
    """

    data: str
    preprocessing: str = "standard"
    parameters: dict[str, Any] = field(default_factory=lambda: {"C": 10, "gamma": 1.0})
    n_trained: int = N_TRAINED

    def __str__(self) -> str:
        words = [self.data, self.preprocessing]
        return "-".join([*words, *(f"{k}_{v}" for k, v in self.parameters.items())])

    @cached_property
    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs and labels to train with, and other inputs, float32."""
        X, y, X_test = _samples(self.data)
        n = self.n_trained
        return X[:n].astype(np.float32), y[:n], X_test.astype(np.float32)

    @cached_property
    def estimator(self) -> Any:
        """The fitted pipeline."""
        X, y, _ = self.samples
        return make_pipeline(*TRANSFORMERS[self.preprocessing](), SVC(**self.parameters)).fit(X, y)

    @cached_property
    def machine(self) -> KernelMachine:
        """As it was trained."""
        return readers.load_model(self.estimator)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        plain = emit_model(self.estimator, target, name)
        machine = run_passes(plain.machine, centers=False)
        stage = build_sign_map(machine, plain.program, self.samples[0], 1000)
        assert stage is not None
        exits = (*plain.program.exits, stage)
        program = replace(plain.program, mode="certified", exits=exits)
        queries = np.concatenate([self.samples[2][:200], plain.queries])
        return Emitted(plain.machine, program, plain.target, queries)

    @cached_property
    def plain(self) -> Program:
        """The exact program."""
        return program_of(self.machine)

    @cached_property
    def stage(self) -> SignMap:
        """The map."""
        stage = build_sign_map(run_passes(self.machine), self.plain, self.samples[0], 4000)
        assert stage is not None
        return stage

    @cached_property
    def program(self) -> Program:
        """The program with the map as its only early exit."""
        exits = (*self.plain.exits, self.stage)
        return replace(self.plain, mode="certified", exits=exits)


def _samples(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if name in ("moons", "one", "solid", "far", "uneven"):
        X, y = make_moons(3000, noise=0.25, random_state=0)
        X = {
            "moons": X,
            "one": X[:, :1],
            "solid": np.column_stack([X, (X * X).sum(axis=1)]),
            "far": 1000 + X / 256,
            "uneven": X * [1000.0, 1.0],
        }[name]
        return X[:N_TRAINED], y[:N_TRAINED], X[N_TRAINED:]
    with np.load(data_file(name)) as file:
        X, y, X_test = (file[key] for key in ("X_train", "y_train", "X_test"))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    return X[order], y[order], X_test[rng.permutation(len(X_test))[:3000]]


CASES = (
    Mapped("banana", "raw", {"C": 100, "gamma": 1.0}),
    Mapped("fourclass", parameters={"C": 1, "gamma": 3.0}),
    Mapped("checkerboard", parameters={"C": 1000, "gamma": 1.0}),
    Mapped("spirals2", parameters={"C": 100, "gamma": 3.0}),
    Mapped("moons"),
    Mapped("skin", parameters={"C": 10, "gamma": 3.0}),
    Mapped("one"),
    Mapped("solid"),
    Mapped("far"),
    Mapped("uneven"),
    Mapped("banana", "pca"),
    Mapped("moons", "whiten"),
)
"""One to three features, every kind of linear preprocessing."""

CORE = (Mapped("moons"), Mapped("one", "raw"), Mapped("solid"))
"""One to three features, for every compiler and every board."""
