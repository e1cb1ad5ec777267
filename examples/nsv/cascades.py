"""From a fitted machine to its programs, and what these answer and cost.

No C is built here (`host_c` does that): the interpreter is its meaning bit for bit. Operations are
multiply-adds of one query with all overhead, as in report.json.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.cascade import add_cascade
from kmcompile.exits.statistical.case import Case, Wish, relevant_decisions
from kmcompile.exits.statistical.chooser import WORST_SHARE
from kmcompile.exits.statistical.paper_cascade import add_paper_cascade
from kmcompile.exits.statistical.risk import Control
from kmcompile.exits.statistical.samples import (
    CalibrationSamples,
    calibration_samples,
    decision_values,
    split,
)
from kmcompile.lower import lower
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.model.reference import labels_of
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.passes.drop_zero_features import drop_zero_features
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, LinearFilter, NearestVectors, Nonzeros, Stage
from kmcompile.readers import load_model
from kmcompile.request.plan import AskedPromise
from kmcompile.target import load_target


@dataclass(frozen=True, eq=False)
class Answers:
    """What a program says to test samples, and what that takes.

    Parameters
    ----------
    results : structured ndarray of shape (n,), interpreter.RESULT_DTYPE
    differs : ndarray of shape (n,), bool
        The label is not the model's.
    k : ndarray of shape (n,), int
        Kernels a query, at least 1, as the paper counts: the linear filter is one touched vector.
    stage : ndarray of shape (n,), int
        Index into `stage_names`.
    stage_names : tuple of str
    operations : ndarray of shape (n,), int
    exact_operations : ndarray of shape (n,), int
        Of the exact program.
    prepare_operations : int
        Of the input check and the preprocessing, which are part of both.
    """

    results: np.ndarray
    differs: np.ndarray
    k: np.ndarray
    stage: np.ndarray
    stage_names: tuple[str, ...]
    operations: np.ndarray
    exact_operations: np.ndarray
    prepare_operations: int

    def decided_by(self, name: str) -> np.ndarray:
        """Return which samples a stage decides, shape (n,), bool."""
        return np.array(self.stage_names)[self.stage] == name

    def shares(self) -> dict[str, float]:
        """Return the share of samples that each stage decides."""
        counts = np.bincount(self.stage, minlength=len(self.stage_names))
        return dict(zip(self.stage_names, counts / len(self.stage), strict=True))

    def cost(self, with_prepare: bool) -> tuple[float, float]:
        """Return the mean operations of the exact program and of this one."""
        common = 0 if with_prepare else self.prepare_operations
        return float(self.exact_operations.mean()) - common, float(self.operations.mean()) - common


@dataclass(frozen=True, eq=False)
class Machine:
    """A model as it is compiled, and its exact program."""

    machine: KernelMachine
    exact: Program

    @classmethod
    def of(cls, model: Any) -> Machine:
        """Return the machine of a fitted estimator, for a Cortex-M7."""
        return cls.lowered(run_passes(load_model(model)))

    @classmethod
    def lowered(cls, machine: KernelMachine) -> Machine:
        """Return a machine after the passes with its exact program."""
        target, known = load_target("cortex-m7"), ordinary_inputs(machine, 256)
        return cls(machine, lower(machine, target, "model", known))

    def dense(self) -> Machine:
        """Return the machine and its program without features that no vector has.

        Sums over features of 0 are what the paper counts. A sum that skips zeros needs no such
        machine.
        """
        fewer = Machine.lowered(drop_zero_features(self.machine))
        return replace(fewer, exact=dense(fewer.exact))

    @property
    def room(self) -> Room:
        """What early exits may take: a tenth of the exact sum, and as much memory as they like."""
        operations = sum(stage.operations() for stage in self.exact.stages)
        return Room(WORST_SHARE * operations, None, None)

    def samples(self, X: np.ndarray) -> CalibrationSamples:
        """Return calibration samples with what the model says to them."""
        return calibration_samples(self.machine, X)

    def decisions(self, X: np.ndarray) -> np.ndarray:
        """Return the model's decision values, shape (n, n_decisions), float64."""
        return decision_values(self.machine, X)

    def paper(
        self, samples: CalibrationSamples, thresholds: Literal["simple", "maxsmoothed"]
    ) -> Program:
        """Return the program of the paper's scheme, with its window of 10 and PCA(20)."""
        window = 10 if thresholds == "maxsmoothed" else None
        asked = AskedPromise(thresholds, 0.0, "default", "guaranteed", window, dimensions=20)
        relevant = relevant_decisions(self.machine, samples.labels)
        return add_paper_cascade(self.exact, samples, relevant, asked, _silent)[0]

    def with_risk(
        self, samples: CalibrationSamples, risk: float, control: Control, exact: Program
    ) -> tuple[Program, Calibration]:
        """Return the program of `--thresholds risk`, and what calibration found."""
        parts = split(len(samples), risk, control)
        wish = Wish(risk, control, parts, n_generated=0)  # as `--generated 0`
        case = Case.of(self.machine, exact, samples, wish)
        return add_cascade(case, self.room, _silent, n_jobs=1)

    def ask(self, program: Program, X: np.ndarray, exact: Program) -> Answers:
        """Return what a program says to test samples, and what the exact one takes for them."""
        results, operations = classify(program, X)
        return Answers(
            results=results,
            differs=results["label"] != labels_of(self.machine, self.decisions(X)),
            k=np.maximum(results["kernel_evals"].astype(int), 1),
            stage=results["stage"],
            stage_names=tuple(stage.name for stage in program.exit_stages),
            operations=operations,
            exact_operations=operations_of(exact, X),
            prepare_operations=program.prepare.operations(),
        )


def without_filter(program: Program) -> Program:
    """Return the program without its linear filter."""
    exits = tuple(stage for stage in program.exits if not isinstance(stage, LinearFilter))
    return replace(program, exits=exits)


def operations_of(exact: Program, X: np.ndarray) -> np.ndarray:
    """Return the operations of the exact program for each sample, shape (n,)."""
    batch = exact.prepare.run(Batch.of(np.ascontiguousarray(X), exact.n_decisions))
    counting: list[Any] = [*exact.stages]
    return sum(np.asarray(stage.operations_of(batch)) for stage in counting)


def dense(program: Program) -> Program:
    """Return the exact or the paper's program with sums over features of 0, too.

    The features other than 0 are still found where a stage needs the squares that go with them.
    """
    exits = tuple(_dense(stage) for stage in program.exits)
    if not any("square" in stage.needs() for stage in exits):
        exits = tuple(stage for stage in exits if not isinstance(stage, Nonzeros))
    return replace(program, exits=exits, sum=_dense(program.sum))


def _dense(stage: Stage) -> Stage:
    if isinstance(stage, LinearFilter):
        return replace(stage, products=replace(stage.products, skip_zeros=False))
    if isinstance(stage, NearestVectors):
        levels = tuple(replace(level, skip_zeros=False) for level in stage.levels)
        return replace(stage, levels=levels)
    if isinstance(stage, ExactSum):
        return replace(stage, skip_zeros=False, squares=np.zeros((0, 0)))
    return stage


def _silent(text: str) -> None:
    """Say nothing."""
