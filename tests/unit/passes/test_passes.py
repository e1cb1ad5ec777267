"""The passes keep the function: shown in exact arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmcompile.kernels import Linear, Poly, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.passes.center_vectors import center_vectors
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.passes.fold_selections import fold_selections
from kmcompile.passes.merge_duplicate_vectors import merge_duplicate_vectors
from kmcompile.passes.sum_linear import sum_linear
from kmcompile.steps import (
    Affine,
    Clip,
    Extension,
    Normalization,
    Projection,
    Selection,
    Step,
)

U64 = Fraction(1, 2**53)
finite = st.floats(-1e6, 1e6, allow_subnormal=False)


def machine_of(vectors, dual_coef, task=Task.BINARY, counts=(), kernel=None, steps=()):
    vectors, dual_coef = np.asarray(vectors, dtype=float), np.asarray(dual_coef, dtype=float)
    n_classes = 2 if task is Task.BINARY else len(counts)
    return KernelMachine(
        kind="SVC",
        task=task,
        kernel=kernel or Poly(1.0, 0.0, 1),
        support_vectors=vectors,
        dual_coef=dual_coef,
        intercept=np.zeros(n_classes * (n_classes - 1) // 2),
        classes=tuple(range(n_classes)),
        n_features=_width(steps) or vectors.shape[1],
        class_counts=counts,
        preprocessing=steps,
    )


def _width(steps: tuple[Step, ...]) -> int:
    """Return the features of the first step's input; 0 without a step."""
    if not steps:
        return 0
    return steps[0].n_in if isinstance(steps[0], Selection) else steps[0].n_out


def summed_by_vector(machine: KernelMachine) -> dict:
    """Return, for every decision and distinct vector, the exact sum of the coefficients."""
    sums: dict = {}
    for p, row in enumerate(decision_coefficients(machine)):
        for beta, vector in zip(row, machine.support_vectors + 0.0, strict=True):
            key = (p, tuple(vector))
            sums[key] = sums.get(key, Fraction(0)) + Fraction(float(beta))
    return sums


@st.composite
def machines_with_duplicates(draw):
    pool = draw(st.lists(st.tuples(finite, finite), min_size=1, max_size=3, unique=True))
    n_classes = draw(st.integers(2, 4))
    counts = tuple(draw(st.lists(st.integers(1, 4), min_size=n_classes, max_size=n_classes)))
    n_sv = sum(counts)
    vectors = [pool[draw(st.integers(0, len(pool) - 1))] for _ in range(n_sv)]
    coefs = st.one_of(finite, st.sampled_from([1e16, -1e16, 1.0, 0.0]))
    rows = [[draw(coefs) for _ in range(n_sv)] for _ in range(n_classes - 1)]
    if n_classes == 2:
        return machine_of(vectors, rows)
    return machine_of(vectors, rows, Task.ONE_VS_ONE, counts)


@settings(max_examples=200)
@given(machines_with_duplicates())
def test_merged_duplicates_have_the_same_exact_sums(machine):
    """reliability 16: duplicate SVs merged; result proved equal.

    For every kernel and input, f is a sum over distinct vectors of (sum of beta) K(s, x): these
    sums agree exactly, but for one rounding of each merged coefficient.
    """
    merged = merge_duplicate_vectors(machine)
    before, after = summed_by_vector(machine), summed_by_vector(merged)
    assert before.keys() == after.keys()
    binary = machine.task is Task.BINARY
    for key, total in after.items():
        # One-vs-one keeps one vector a class, so that two coefficients may remain.
        slack = U64 * abs(total) if binary else U64 * 2 * sum(_parts(merged, key))
        assert abs(total - before[key]) <= slack
    distinct = {tuple(v) for v in machine.support_vectors + 0.0}
    if binary:
        assert merged.n_support_vectors == len(distinct)
    else:
        starts = np.cumsum((0, *merged.class_counts))
        for first, end in itertools.pairwise(starts):
            own = [tuple(v) for v in merged.support_vectors[first:end] + 0.0]
            assert len(set(own)) == len(own)


def _parts(machine: KernelMachine, key: tuple) -> list[Fraction]:
    p, vector = key
    rows = zip(decision_coefficients(machine)[p], machine.support_vectors + 0.0, strict=True)
    return [abs(Fraction(float(beta))) for beta, s in rows if tuple(s) == vector]


def test_coefficients_that_cancel_are_summed_with_one_rounding():
    machine = machine_of([[1.0]] * 3, [[1e16, 1.0, -1e16]])
    merged = merge_duplicate_vectors(machine)
    assert merged.dual_coef.tolist() == [[1.0]]
    assert merged.notes == ("2 duplicate support vectors merged",)


def test_a_machine_without_duplicates_stays_itself():
    machine = machine_of([[1.0], [2.0]], [[1.0, -1.0]])
    assert merge_duplicate_vectors(machine) is machine


@settings(max_examples=200)
@given(
    scalers=st.lists(st.tuples(finite, st.floats(2.0**-20, 2.0**20)), min_size=2, max_size=4),
    x=finite,
)
def test_folded_scalers_are_within_their_stated_rounding(scalers, x):
    steps = tuple(Affine([offset], [factor]) for offset, factor in scalers)
    (folded,) = fold_scalers(machine_of([[1.0]], [[1.0]], steps=steps)).preprocessing
    exact, gain = Fraction(x), Fraction(1)
    for offset, factor in scalers:
        exact = (exact - Fraction(offset)) * Fraction(factor)
        gain *= Fraction(factor)
    offset, factor = Fraction(float(folded.offset[0])), Fraction(float(folded.factor[0]))
    shift = exact / gain - Fraction(x)  # minus the exact offset
    assert abs(shift + offset) <= Fraction(float(folded.offset_error[0]))
    assert abs(factor - gain) <= gain * U64 * 2 * len(scalers)


def scales_that_round_alike(n: int) -> list[float]:
    """Return scales whose inverses' product is off by as much as a search of some finds."""
    rng = np.random.default_rng(0)
    scales: list[float] = []
    factor, exact = 1.0, Fraction(1)
    for _ in range(n):
        tried = [float(scale) for scale in 1 - rng.uniform(0, 2e-3, 60)]
        off = [abs(Fraction(factor * (1.0 / s)) / (exact / Fraction(s)) - 1) for s in tried]
        scales.append(tried[int(np.argmax([float(error) for error in off]))])
        factor, exact = factor * (1.0 / scales[-1]), exact / Fraction(scales[-1])
    return scales


def test_the_error_of_folded_factors_is_in_the_offset_that_they_move():
    scales, offset = scales_that_round_alike(7), 0.75
    steps = (*(Affine([0.0], [1.0 / s]) for s in scales), Affine([offset], [1.0], [0.0]))
    (folded,) = fold_scalers(machine_of([[1.0]], [[1.0]], steps=steps)).preprocessing
    exact = Fraction(offset)
    for scale in scales:
        exact *= Fraction(scale)
    error = abs(Fraction(float(folded.offset[0])) - exact)
    stated = Fraction(float(folded.offset_error[0]))
    assert stated / 2 < error <= stated


def test_steps_between_scalers_keep_them_apart():
    a, clip = Affine([1.0], [2.0]), Clip(0.0, 1.0, 1)
    nothing = Affine([0.0], [1.0])
    machine = machine_of([[1.0]], [[1.0]], steps=(nothing, a, clip, a, nothing))
    assert [type(s) for s in fold_scalers(machine).preprocessing] == [Affine, Clip, Affine]


def test_the_hash_is_of_what_was_trained_not_of_our_rounding():
    known = Affine([1.0], [2.0], [0.25])
    machines = [machine_of([[1.0]], [[1.0]], steps=(s,)) for s in (known, Affine([1.0], [2.0]))]
    assert machines[0].sha256 == machines[1].sha256


@pytest.mark.parametrize("at", [0.0, 1e3, -1e6])
def test_centred_vectors_have_the_same_differences(at):
    vectors = at + np.random.default_rng(2).normal(size=(9, 3))
    machine = machine_of(vectors, np.ones((1, 9)), kernel=Rbf(0.5))
    centred = center_vectors(machine)
    if at == 0.0:
        assert centred is machine
        return
    (step,) = centred.preprocessing
    assert (step.offset == step.offset.astype(np.float32)).all()
    for before, after in zip(machine.support_vectors, centred.support_vectors, strict=True):
        for s, c, moved in zip(before, step.offset, after, strict=True):
            difference = Fraction(float(s)) - Fraction(float(c))
            assert abs(Fraction(float(moved)) - difference) <= U64 * abs(difference)


def test_only_kernels_of_differences_are_centred():
    vectors = 1e6 + np.random.default_rng(2).normal(size=(9, 3))
    for kernel in (Poly(1.0, 0.0, 3), Linear()):
        machine = machine_of(vectors, np.ones((1, 9)), kernel=kernel)
        assert center_vectors(machine) is machine
    pixels = np.random.default_rng(2).integers(0, 256, size=(9, 3))
    machine = machine_of(pixels, np.ones((1, 9)), kernel=Rbf(0.5))
    assert center_vectors(machine) is machine


def test_summed_weights_are_within_their_stated_error():
    rng = np.random.default_rng(4)
    counts = (3, 4, 5)
    coef = rng.normal(size=(2, 12)) * 10.0 ** rng.integers(-8, 8, size=(2, 12))
    machine = machine_of(rng.normal(size=(12, 4)), coef, Task.ONE_VS_ONE, counts, Linear())
    weights, error = sum_linear(machine)
    for p, row in enumerate(decision_coefficients(machine)):
        square = Fraction(0)
        for j in range(4):
            pairs = zip(row, machine.support_vectors[:, j], strict=True)
            exact = sum((Fraction(float(b)) * Fraction(float(s)) for b, s in pairs), Fraction(0))
            square += (exact - Fraction(float(weights[p, j]))) ** 2
        assert square <= Fraction(float(error[p])) ** 2


def test_libsvm_coefficients_are_spread_over_the_pairs():
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    machine = machine_of(np.eye(3), rows, Task.ONE_VS_ONE, (1, 1, 1))
    assert decision_coefficients(machine).tolist() == [
        [1.0, 2.0, 0.0],  # classes 0 and 1: row 0 of class 0, row 0 of class 1
        [4.0, 0.0, 3.0],
        [0.0, 5.0, 6.0],
    ]


def test_projections_are_not_folded():
    steps = (Affine([1.0, 2.0], [2.0, 3.0]), Projection([[1.0, 1.0]]))
    machine = machine_of([[1.0]], [[1.0]], steps=steps)
    assert fold_scalers(machine).preprocessing == steps


RNG = np.random.default_rng(5)
PERMUTATION = Selection((2, 0, 3, 1), 4)
AFTER_SELECTIONS: dict[str, tuple[Step, ...]] = {
    "permuted": (PERMUTATION,),
    "scaled": (PERMUTATION, Affine([0.5, 1.0, -2.0, 4.0], [1.0, 2.0, 4.0, 8.0]), PERMUTATION),
    "clipped": (Clip(-1.0, 1.0, 4), PERMUTATION, Normalization("max", 4)),
    "projected": (PERMUTATION, Projection(np.arange(12.0).reshape(3, 4)), Selection((2, 0, 1), 3)),
    "extended": (PERMUTATION, Extension(3.0, 5), Selection((4, 1, 0, 2, 3), 5)),
    "dropped": (PERMUTATION, Selection((3, 1), 4), Extension(1.0, 3)),
    "repeated": (Selection((0, 0, 1, 2), 4), Selection((3, 0, 1, 2), 4)),
    "undone": (Selection((0, 1, 2, 3, 3), 4), Selection((4, 0, 1, 2), 5)),
}
KEPT = {"dropped": [Selection, Extension], "repeated": [Selection]}
"""Steps that are left; of the others none is a selection."""


@pytest.mark.parametrize("name", AFTER_SELECTIONS)
def test_folded_selections_keep_every_difference_of_a_vector_and_an_input(name):
    """As a set: the sum over the features has another order. Powers of two keep all exact."""
    steps = AFTER_SELECTIONS[name]
    vectors = RNG.integers(-9, 9, size=(3, steps[-1].n_out)).astype(float)
    machine = machine_of(vectors, [[1.0, 2.0, 3.0]], steps=steps)
    folded = fold_selections(machine)
    X = RNG.integers(-9, 9, size=(20, 4)).astype(float)
    trained, left = machine.prepare(X), folded.prepare(X)
    for s, t in zip(machine.support_vectors, folded.support_vectors, strict=True):
        pairs = [np.stack([a, np.broadcast_to(b, a.shape)]) for a, b in ((trained, s), (left, t))]
        before, after = (np.sort(p[0] * 1e3 + p[1], axis=1) for p in pairs)
        np.testing.assert_array_equal(after, before)
    kinds = [type(step) for step in folded.preprocessing]
    assert kinds == KEPT.get(name, [type(s) for s in steps if not isinstance(s, Selection)])
