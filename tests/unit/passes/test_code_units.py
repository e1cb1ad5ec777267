"""The same function in the units of codes: what float64 rounds is within what is claimed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kmcompile.errors import InputError
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.passes.code_units import to_code_units
from kmcompile.steps import Affine


def machine_of(vectors: np.ndarray, gamma: float, *steps: Affine) -> KernelMachine:
    """Return a machine with these vectors."""
    m, n = vectors.shape
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma),
        support_vectors=vectors,
        dual_coef=np.ones((1, m)),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=n,
        preprocessing=steps,
    )


def exact(values: np.ndarray) -> list[Fraction]:
    """Return the numbers as rationals."""
    return [Fraction(float(v)) for v in values]


CASES = [
    (size, middle, factor)
    for size in (1e-8, 1.0, 1e7)
    for middle in (0.0, 3.3, 1e6)
    for factor in (2.0**-15 * 255, 1 / 3, 1e9 / 7)
]


@pytest.mark.parametrize(("size", "middle", "factor"), CASES)
def test_vectors_gamma_and_scaler_are_within_their_errors(size, middle, factor):
    rng = np.random.default_rng(3)
    own = Affine(rng.normal(size=4) * 100, np.exp(rng.normal(size=4)))
    machine = machine_of(size * (rng.normal(size=(6, 4)) + middle), 0.37, own)
    offset = size * (rng.normal(size=4) + middle)
    moved, error = to_code_units(machine, offset, factor)
    by = Fraction(factor)
    for s, found in zip(machine.support_vectors, moved.support_vectors, strict=True):
        columns = zip(exact(s), exact(offset), exact(found), strict=True)
        off = sum(((v - o) * by - f) ** 2 for v, o, f in columns)
        assert off <= Fraction(error) ** 2
    gamma = Fraction(0.37) / by**2
    assert abs(Fraction(moved.kernel.gamma) / gamma - 1) <= Fraction(2) ** -52
    (folded,) = moved.preprocessing
    assert isinstance(folded, Affine)
    columns = zip(exact(own.offset), exact(own.factor), exact(offset), strict=True)
    for j, (first, scale, second) in enumerate(columns):
        true_offset, true_factor = first + second / scale, scale * by
        assert abs(Fraction(folded.offset[j]) - true_offset) <= Fraction(folded.offset_error[j])
        relative = abs(Fraction(folded.factor[j]) / true_factor - 1)
        assert relative <= Fraction(folded.factor_error)


def test_a_machine_that_is_in_units_of_codes_stays_as_it_is():
    vectors = np.arange(12.0).reshape(3, 4)
    moved, error = to_code_units(machine_of(vectors, 0.5), np.zeros(4), 1.0)
    assert moved.preprocessing == ()
    assert np.array_equal(moved.support_vectors, vectors)
    assert moved.kernel.gamma == 0.5
    assert error <= 2.0**-51 * np.sqrt((vectors**2).sum(axis=1)).max()


def test_a_gamma_that_is_no_number_any_more_is_refused():
    with pytest.raises(InputError, match="gamma is inf"):
        to_code_units(machine_of(np.ones((2, 1)), 1e-3), np.zeros(1), 1e-200)
