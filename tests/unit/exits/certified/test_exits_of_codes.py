"""Exits of a program in integers hold for the inputs that codes stand for."""

from __future__ import annotations

import numpy as np
from mpmath import mpf

from kit.every_offer import every_offer
from kit.fixed_sums import codes_of, in_format
from kmcompile.exits.candidates.room import Room
from kmcompile.kernels import Rbf
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.steps import Affine

_NO_LIMIT = Room(operations=np.inf, flash_bytes=None, ram_bytes=None)


def far_from_zero() -> KernelMachine:
    """Return a machine of features so large that float64 rounds what a code stands for."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 2))
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma=0.5),
        support_vectors=vectors,
        dual_coef=np.where(vectors[:, :1].T > 0, 1.0, -1.0),
        intercept=np.array([0.5]),
        classes=(0, 1),
        n_features=2,
        preprocessing=(Affine(2.0**43 * np.array([1.0, 1.5]), np.array([0.9, 1.1])),),
    )


def test_what_float64_rounded_in_the_meaning_of_codes_is_in_every_interval():
    case = in_format(far_from_zero(), "int16", IntegerTableForm(False, True))
    program = case.program
    samples = (2.0**43 * np.array([[1.0, 1.5]])).astype(np.float32)
    codes = codes_of(case, samples)
    batch = program.prepare.run_codes(Batch.of(codes.astype(np.float32), 1))
    assert (batch.deviation >= case.coded.code_deviation).all()
    decision = case.decisions(codes[0])[0]
    stages = [stage for stage, _ in every_offer(case.coded.machine, program, samples, _NO_LIMIT)]
    assert stages
    for stage in stages:
        answer, _ = stage.decide(batch, program.ends)
        assert mpf(float(answer.least[0, 0])) <= decision <= mpf(float(answer.most[0, 0]))
