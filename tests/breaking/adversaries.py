"""Machines and inputs whose error comes within a factor 2 of one term of a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from attack import common_inputs
from library import library_of
from subjects import SUBJECTS, fitted
from truth import Truth, evaluate

from kit.lowered import program_of
from kmcompile.exits.certified.bound_sequence import lower_bound_sequence
from kmcompile.kernels import Rbf
from kmcompile.kernels.float32 import KernelContext
from kmcompile.kernels.rbf import RbfReach
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, eq=False)
class Adversary:
    """A stage with prepared queries of which the truth is known."""

    stage: EarlyExit
    ends: Ends
    batch: Batch
    truth: Truth

    def breaks(self, stage: EarlyExit) -> bool:
        """Return whether a proved interval of a weakened stage does not hold f."""
        with np.errstate(all="ignore"):
            after, _ = stage.decide(self.batch, self.ends)
        least = self.truth.decisions - self.truth.error
        most = self.truth.decisions + self.truth.error
        return bool(((most < after.least) | (least > after.most)).any())


@cache
def on_data(subject_name: str, stage_name: str) -> Adversary:
    """Return a stage of a subject with hard queries."""
    subject = next(s for s in SUBJECTS if s.name == subject_name)
    target = fitted(subject)
    name = stage_name if stage_name in target.programs else "case"
    emitted = target.programs[name]
    program = emitted.program
    stage = next(s for s in program.early_exits if s.template == stage_name)
    X = common_inputs(target, 4000, np.random.default_rng(2))
    X = X[library_of(emitted).ask(X)["status"] == Status.OK]
    batch = program.prepare.run(Batch.of(X, program.n_decisions))
    for before in program.exits[: program.exits.index(stage)]:
        batch = before.run(batch)
    return Adversary(stage, program.ends, batch, evaluate(target.machine, X))


@cache
def deviating_sequence(of_z: float, of_s: float) -> Adversary:
    """Return a bound sequence of one z = 0 whose input x = 1 is off by its deviation.

    K = exp(-x^2 / 2) is steepest at x = 1, and the prepared input is nearer to z: the kernel
    value is wrong by six tenths of what `RbfReach` says.

    Parameters
    ----------
    of_z, of_s : float
        beta of the support vectors 0 and 1.
    """
    kernel = Rbf(0.5)
    machine = KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=np.array([[0.0], [1.0]]),
        dual_coef=np.array([[of_z, of_s]]),
        intercept=np.array([0.0]),
        classes=(0, 1),
        n_features=1,
    )
    program = program_of(machine, lanes=1)
    stage = lower_bound_sequence(machine, program, np.array([[0.0]]))
    assert stage is not None
    typical = KernelContext(1, 0.0, 1.0, typical_deviation=1e-4, sum_error=0.0, skip_zeros=False)
    reach = RbfReach.of_kernel(kernel.lower(typical))
    exact = np.ones((3, 1), dtype=np.float32)
    x = exact - np.array([[8e-5], [1e-4], [1.3e-4]], dtype=np.float32)
    batch = replace(Batch.of(x, 1), deviation=np.nextafter(1 - x[:, 0], np.float32(1)))
    truth = evaluate(machine, exact)
    return Adversary(replace(stage, reach=reach), program.ends, batch, truth)
