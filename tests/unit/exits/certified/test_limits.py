"""Certified exits whose constants leave float32 are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit import catalogue, certified
from kit.every_offer import every_offer
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.limits import is_usable
from kmcompile.kernels import Rbf
from kmcompile.lower import lower
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.program.stages import BoundSequence
from kmcompile.target import load_target

EVERYTHING = Room(1e9, None, None)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.0**100, -(2.0**120)])
def test_no_number_and_none_that_may_overflow_is_usable(value):
    program = catalogue.emitted(certified.CORE[0], "host").program
    stage = next(s for s in program.stages if isinstance(s, BoundSequence))
    assert is_usable(stage)
    residual = np.array(stage.residual)
    residual[-1, -1] = value
    assert not is_usable(replace(stage, residual=residual))
    assert not is_usable(replace(stage, reach=replace(stage.reach, per_z=np.float32(value))))
    assert not is_usable((1.0, (stage, value)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("scale", [2e-6, 1e-5, 2e-5, 3e-5, 1.0, 1e5])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3])
def test_every_exit_of_a_machine_with_an_extreme_scale_is_usable(scale, beta):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 2)) * scale
    coefficients = np.where(vectors[:, 0] > 0, beta, -beta)[None, :]
    kernel, intercept = Rbf(1 / scale**2), np.array([0.01 * beta])
    machine = KernelMachine("SVC", Task.BINARY, kernel, vectors, coefficients, intercept, (0, 1), 2)
    known = ordinary_inputs(machine, 64)
    program = lower(machine, load_target("host"), "iris", known)
    with np.errstate(all="ignore"):
        fitted = every_offer(machine, program, known, EVERYTHING)
    assert all(is_usable(stage) for stage, _ in fitted)
    assert scale < 1e-3 or fitted
