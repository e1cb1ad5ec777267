"""Fitted estimators lowered to programs as `pipeline.compile_model` does, without any C.

For tests of lowering, stages and exits that need no compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kit.function_kernels import load_machine
from kmcompile.lower import lower
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import edge_inputs, generate, ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Answers, Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import Prepare
from kmcompile.target import load_target


def program_of(machine: KernelMachine, lanes: int | None = None) -> Program:
    """Return the program of a machine for the host, with other lanes if they are given."""
    target = load_target("host")
    if lanes is not None:
        target = replace(target, program=replace(target.program, lanes=lanes))
    machine = run_passes(machine)
    return lower(machine, target, "model", ordinary_inputs(machine, 16))


@dataclass(frozen=True, eq=False)
class Lowered:
    """A fitted estimator with its machine and program."""

    estimator: Any
    machine: KernelMachine
    program: Program

    @property
    def prepare(self) -> Prepare:
        """The first stage."""
        stage = self.program.prepare
        assert isinstance(stage, Prepare)
        return stage

    @cached_property
    def queries(self) -> np.ndarray:
        """Generated inputs and the accepted ones at the edges, float32."""
        edges = edge_inputs(self.machine, self.prepare.limit)
        X = np.concatenate([generate(self.machine, 100), edges])
        return X[interpret(self.program, X).results["status"] == Status.OK]

    def answers(self, X: np.ndarray) -> Answers:
        """Return the answers of the program."""
        return interpret(self.program, X)

    def prepared(self, X: np.ndarray) -> Batch:
        """Return the batch as it enters the kernel."""
        return self.prepare.run(Batch.of(X, self.program.n_decisions))


def lowered(estimator: Any, lanes: int | None = None) -> Lowered:
    """Lower a fitted estimator."""
    machine = load_machine(estimator)
    return Lowered(estimator, machine, program_of(machine, lanes))
