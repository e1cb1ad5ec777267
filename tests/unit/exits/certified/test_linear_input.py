"""The preprocessing as one linear map, against exact rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kmcompile.exits.certified.linear_input import linear_input
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import Affine, Clip, Projection

_RNG = np.random.default_rng(0)
SCALE = Affine(np.array([1000.0, -0.37]), np.array([317.3, 1e-3]))
TURN = Projection(_RNG.standard_normal((2, 2)))
LIFT = Projection(_RNG.standard_normal((3, 2)))
STEPS = {
    "none": (),
    "scale": (SCALE,),
    "scale_turn": (SCALE, TURN),
    "turn_scale_lift": (TURN, SCALE, LIFT),
}


def machine_of(steps) -> KernelMachine:
    n = steps[-1].n_out if steps else 2
    s = np.zeros((1, n))
    return KernelMachine("SVC", Task.BINARY, Rbf(1.0), s, [[1.0]], [0.0], (0, 1), 2, (), steps)


def exactly(steps, x):
    """Return the preprocessed input in rational numbers."""
    z = [Fraction(float(v)) for v in x]
    for step in steps:
        if isinstance(step, Affine):
            numbers = zip(z, step.offset.tolist(), step.factor.tolist(), strict=True)
            z = [(v - Fraction(o)) * Fraction(f) for v, o, f in numbers]
        else:
            rows = step.matrix.tolist()
            z = [sum(Fraction(w) * v for w, v in zip(row, z, strict=True)) for row in rows]
    return z


@pytest.mark.parametrize("name", STEPS)
def test_the_map_is_off_by_less_than_its_deviation(name):
    steps = STEPS[name]
    found = linear_input(machine_of(steps))
    assert found is not None
    X = np.random.default_rng(1).uniform(-1, 1, size=(200, 2)) * [1010.0, 3.0]
    deviation = Fraction(found.deviation(np.array([1010.0, 3.0]), 0.0))
    for x in X:
        z = found.matrix @ x + found.offset
        off = [Fraction(float(a)) - b for a, b in zip(z, exactly(steps, x), strict=True)]
        assert sum(v * v for v in off) <= deviation**2


def test_an_offset_s_error_is_passed_on():
    error = np.array([0.5, 0.0])
    steps = (Affine(SCALE.offset, SCALE.factor, error),)
    found = linear_input(machine_of(steps))
    assert found is not None
    assert 0.5 * 317.3 <= found.deviation(np.ones(2), 0.0) <= 0.5 * 317.4


def test_what_clips_has_no_linear_map():
    assert linear_input(machine_of((Clip(0.0, 1.0, 2),))) is None


def test_what_a_large_offset_rounds_is_within_a_small_input_s_deviation():
    exactly_known = np.zeros(2)
    steps = (Affine(np.array([1e6 + 0.3, -1e6 / 7]), np.array([0.7, 0.3]), exactly_known), TURN)
    found = linear_input(machine_of(steps))
    assert found is not None
    deviation = Fraction(found.deviation(np.ones(2), 0.0))
    for x in np.random.default_rng(2).uniform(-1, 1, size=(200, 2)):
        z = found.matrix @ x + found.offset
        off = [Fraction(float(a)) - b for a, b in zip(z, exactly(steps, x), strict=True)]
        assert sum(v * v for v in off) <= deviation**2
