"""Distances of reduced machines: never below the real ones, and never far above them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit.reductions import TASKS, small_machine
from kmcompile.errors import InputError
from kmcompile.kernels import Poly, Sigmoid
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.construction import construct
from kmcompile.passes.reduction.distance import distances, standing_for
from kmcompile.passes.reduction.pursuit import pursue


def real_distances(machine: KernelMachine, reduced: KernelMachine) -> list[mpf]:
    """Return |W_p - W^_p| with 50 digits."""
    vectors = [*machine.support_vectors, *reduced.support_vectors]
    spread = np.hstack([decision_coefficients(machine), -decision_coefficients(reduced)])
    with mp.workdps(50):
        points = [[mpf(float(v)) for v in z] for z in vectors]
        gram = [[_value(machine, s, t) for t in points] for s in points]
        rows = [[mpf(float(v)) for v in row] for row in spread]
        return [mp.sqrt(mp.fdot(a, [mp.fdot(g, a) for g in gram])) for a in rows]


def _value(machine: KernelMachine, s: list[mpf], t: list[mpf]) -> mpf:
    kernel = machine.kernel
    if isinstance(kernel, Poly):
        return (mpf(kernel.gamma) * mp.fdot(s, t) + mpf(kernel.coef0)) ** int(kernel.degree)
    square = mp.fsum((a - b) ** 2 for a, b in zip(s, t, strict=True))
    return mp.exp(-mpf(kernel.gamma) * square)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("move", [False, True], ids=["selected", "moved"])
def test_a_distance_is_an_upper_bound_and_tight(task, move):
    machine = small_machine(task)
    reduced = pursue(machine, 5).reduced(5)
    if move:
        reduced = construct(machine, reduced)
    bounds = distances(machine, reduced)
    for bound, real in zip(bounds, real_distances(machine, reduced), strict=True):
        assert real <= bound <= real * (1 + 1e-6) + 1e-5


def test_a_distance_of_0_is_covered_too():
    machine = small_machine(Task.ONE_VS_REST, Poly(0.5, 1.0, 2), n=40)
    reduced = pursue(machine, 40).reduced(len(pursue(machine, 40)))
    assert reduced.n_support_vectors < 40
    for bound, real in zip(
        distances(machine, reduced), real_distances(machine, reduced), strict=True
    ):
        assert real <= bound < 1e-3


@pytest.mark.parametrize("task", TASKS)
def test_decisions_lie_within_distance_and_offset(task):
    machine = small_machine(task)
    reduced = pursue(machine, 5).reduced(5)
    reduced = replace(reduced, intercept=reduced.intercept + 0.25)
    made = standing_for(machine, reduced)
    assert made.reduced_from is not None and made.reduced_from.machine is machine
    assert made.sha256 == machine.sha256 != reduced.sha256
    X = np.random.default_rng(2).normal(size=(500, 4))
    apart = np.abs(evaluate(machine, X).decisions - evaluate(reduced, X).decisions)
    assert (apart <= made.reduced_from.distance + made.reduced_from.offset).all()  # K(x, x) = 1
    assert (made.reduced_from.offset >= 0.25).all()


def test_a_kernel_that_is_no_inner_product_is_refused():
    machine = small_machine(Task.BINARY, Sigmoid(0.5, -1.0))
    with pytest.raises(InputError, match="not positive definite"):
        distances(machine, machine)
