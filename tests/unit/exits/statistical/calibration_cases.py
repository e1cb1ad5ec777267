"""Machines on real data with samples that they have not seen, for the tests of calibration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.lowered import program_of
from kit.shared_data import data_file
from kmcompile import readers
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.statistical.cascade_exit import Seen, State
from kmcompile.exits.statistical.case import prepared, range_gate
from kmcompile.exits.statistical.chooser import WORST_SHARE
from kmcompile.exits.statistical.fits import estimates_of, fit_of
from kmcompile.exits.statistical.links import FittedExit, Link, link
from kmcompile.exits.statistical.samples import CalibrationSamples, calibration_samples
from kmcompile.lower.sparsity import sum_skips_zeros
from kmcompile.model.coefficients import relevant_decisions
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit, ExactSum
from kmcompile.program.stages.input.range_gate import sum_of_squares

N_TRAINED = 600


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted estimator and samples: some to calibrate with, the others to test on."""

    estimator: Any
    X: Float32Array
    test: Float32Array

    @cached_property
    def machine(self) -> KernelMachine:
        """After the passes."""
        return run_passes(readers.load_model(self.estimator))

    @cached_property
    def program(self) -> Program:
        """The exact one."""
        return program_of(self.machine)

    @cached_property
    def exact(self) -> ExactSum:
        """Its sum."""
        stage = self.program.ends.exact
        assert isinstance(stage, ExactSum)
        return stage

    @cached_property
    def samples(self) -> CalibrationSamples:
        """What the machine says to `X`."""
        return calibration_samples(self.machine, self.X)

    @cached_property
    def relevant(self) -> np.ndarray:
        """Which decisions each of `X` is about."""
        return relevant_decisions(self.machine, self.samples.labels)

    @cached_property
    def x(self) -> Float32Array:
        """`X`, prepared."""
        return prepared(self.program, self.X)

    @cached_property
    def skip_zeros(self) -> bool:
        """Whether sums skip zeros."""
        return sum_skips_zeros(self.program)

    @cached_property
    def room(self) -> Room:
        """A tenth of the exact program, without limits of memory."""
        return Room(WORST_SHARE * sum(s.operations() for s in self.program.stages), None, None)

    @cached_property
    def errors(self) -> np.ndarray:
        """Return the certified bounds on the exact sum's rounding at `X`, (n, n_decisions)."""
        batch = self.program.prepare.run(Batch.of(self.X, self.program.n_decisions))
        return self.exact.run(batch).bound.astype(np.float64)

    @property
    def begin(self) -> State:
        """The state before the first exit on `X`."""
        batch = Batch.of(self.x, self.program.n_decisions)
        return Seen(batch, self.samples.labels.astype(np.int32)).begin

    def fitted(self, stage: EarlyExit) -> FittedExit:
        """Return the stage with its estimates of `X`."""
        return FittedExit(stage, estimates_of(stage, self.program.ends, self.x), stage.template)

    def linked(self, stage: EarlyExit, before: State | None = None) -> Link:
        """Return the stage with bands, to follow nothing unless told."""
        stage = fit_of(stage).with_limits(stage, self.x, sum_of_squares(self.x))
        return link(self.fitted(stage), before or self.begin, self.samples.decisions, self.relevant)

    def with_stages(self, *stages: EarlyExit) -> Program:
        """Return the program with early exits behind a range gate."""
        gate = range_gate(self.x, self.skip_zeros)
        exits = (*self.program.exits, gate, *stages)
        return replace(self.program, mode="statistical", exits=exits)

    def exits(self, *links: Link, scale: float) -> Program:
        """Return the program with the early exits of links at a scale."""
        return self.with_stages(*(made.finished(n, scale) for n, made in enumerate(links, 1)))


@cache
def digits(kernel: str, n_classes: int) -> Case:
    """Return small digits against large ones, or all ten classes."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    labels = y if n_classes == 10 else y > 4
    gamma = {"rbf": 0.5, "poly": 0.1, "sigmoid": 0.02}[kernel]
    estimator = SVC(kernel=kernel, gamma=gamma, C=10).fit(X[:N_TRAINED], labels[:N_TRAINED])
    return Case(estimator, X[N_TRAINED:1500], X[1500:])


@cache
def mnist_pair(kernel: str = "rbf", n: int = 1000, n_trained: int = 1500) -> Case:
    """Return 3 against 8 with pixels from 0 to 1."""
    data = arrays("mnist")
    chosen = np.isin(data["y_train"], (3, 8))
    X = (data["X_train"][chosen][: n_trained + n] / 255).astype(np.float32)
    y = data["y_train"][chosen][:n_trained]
    tested = np.isin(data["y_test"], (3, 8))
    parameters = {"gamma": 0.05} if kernel == "rbf" else {"gamma": 0.01, "degree": 9}
    estimator = SVC(kernel=kernel, C=10, **parameters).fit(X[:n_trained], y)
    return Case(estimator, X[n_trained:], (data["X_test"][tested] / 255).astype(np.float32))


@cache
def scaled_case(name: str, n_trained: int, C: float = 10.0) -> Case:
    """Return a scaled rbf machine on one of the shared data sets, other training rows beside."""
    data = arrays(name)
    X, y = data["X_train"].astype(np.float32), data["y_train"]
    order = np.random.default_rng(7).permutation(len(X))
    own, fresh = order[:n_trained], order[n_trained:]
    estimator = make_pipeline(StandardScaler(), SVC(C=C)).fit(X[own], y[own])
    return Case(estimator, X[fresh], data["X_test"].astype(np.float32))


def arrays(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a shared data set, or skip the test where there is none."""
    with np.load(data_file(name)) as data:
        return {key: data[key] for key in data.files}
