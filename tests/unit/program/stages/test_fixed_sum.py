"""The sum in integers: exact products, every kernel value, and adversaries of its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mpf

from kit.fixed_sums import Case, in_format, random_machine
from kmcompile.kernels import Rbf
from kmcompile.lower.fixed_point import exponent_scale, relative_error
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.width import WIDTHS
from kmcompile.program.stages import FixedSum
from kmcompile.program.stages.sums.fixed_sum import exact_product

_BLOCK = 1 << 20


def stage_of(case: Case) -> FixedSum:
    """Return the sum."""
    stage = case.program.ends.exact
    assert isinstance(stage, FixedSum)
    return stage


@pytest.mark.few
@pytest.mark.parametrize("n", [1, 3, 65535, 1 << 20])
def test_products_of_the_largest_sizes_are_exact(n):
    """Sums below 2^64 of 32-bit operands, more of them than the tables can index."""
    rng = np.random.default_rng(n)
    left = rng.integers((1 << 31) - 5, (1 << 31) + 1, size=(2, n)).astype(np.uint64)
    right = rng.integers(0, max(1, (1 << 32) // n), size=(n, 2)).astype(np.uint32)
    exact = left.astype(object) @ right.astype(object)
    assert (exact < 1 << 64).all()
    assert (exact_product(left, right) == exact).all()


def test_products_at_the_end_of_64_bits_are_exact():
    largest = np.array([[(1 << 32) - 1]], dtype=np.uint64)
    assert int(exact_product(largest, largest.astype(np.uint32))[0, 0]) == ((1 << 32) - 1) ** 2
    many = np.full((1, 65535), (1 << 32) - 1, dtype=np.uint64)
    ones = np.ones((65535, 1), dtype=np.uint32)
    assert int(exact_product(many, ones)[0, 0]) == 65535 * ((1 << 32) - 1)


def some_stage() -> FixedSum:
    """Return any sum in integers."""
    return stage_of(
        in_format(random_machine(1, "uint8"), "lossless", IntegerTableForm(False, True))
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("log2_rate", [-20.93, -15.5, -9.03, -2.0, 3.7])
def test_every_kernel_value_is_within_rho(log2_rate):
    """For every distance below the cutoff, up to 2^26 of them; float64 is within 2^-48."""
    gamma = 2.0**log2_rate * np.log(2)
    scale = exponent_scale(gamma, 1 << 40)
    rho = relative_error(scale, gamma)
    stage = replace(
        some_stage(),
        distance_shift=scale.distance_shift,
        multiplier=scale.multiplier,
        product_shift=scale.product_shift,
        cutoff=scale.cutoff,
    )
    assert scale.distance_shift == 0 and scale.cutoff <= 1 << 26
    for start in range(0, scale.cutoff, _BLOCK):
        distances = np.arange(start, min(start + _BLOCK, scale.cutoff))
        exact = np.exp(-gamma * distances)
        error = np.abs(stage.kernels(distances) / 2.0**31 - exact)
        assert (error <= exact * (rho + 2.0**-48) + 2.0**-31).all()
    beyond = np.arange(scale.cutoff, scale.cutoff + 1000)
    assert not stage.kernels(beyond).any()
    assert (np.exp(-gamma * beyond) < 2.0**-32 * (1 + rho)).all()


def test_distances_that_are_cut_keep_within_rho():
    """Of 48 bits, of which the lowest 16 are left out."""
    gamma = 32 * np.log(2) / 2.0**48
    scale = exponent_scale(gamma, 1 << 49)
    assert scale.distance_shift == 17
    rho = relative_error(scale, gamma)
    stage = replace(
        some_stage(),
        distance_shift=scale.distance_shift,
        multiplier=scale.multiplier,
        product_shift=scale.product_shift,
        cutoff=scale.cutoff,
    )
    distances = np.random.default_rng(1).integers(0, scale.cutoff, size=_BLOCK)
    distances[::2] |= (1 << 17) - 1
    distances = np.minimum(distances, scale.cutoff - 1)
    exact = np.exp(-gamma * distances)
    error = np.abs(stage.kernels(distances) / 2.0**31 - exact)
    assert (error <= exact * (rho + 2.0**-48) + 2.0**-31).all()


def test_sums_are_those_of_whole_numbers():
    """Kernels, coefficients, signs and intercepts with Python's integers."""
    for seed in range(6):
        case = in_format(
            random_machine(seed, "uint8"), "lossless", IntegerTableForm(False, seed % 2 == 0)
        )
        stage = stage_of(case)
        x = np.random.default_rng(seed).integers(0, 256, size=(3, stage.n_features))
        k = stage.kernels(stage.codes.distances(x))
        sums = stage.sums(x)
        by_slot = stage.coefficients.transpose(0, 2, 1).reshape(stage.n_slots, stage.n_rows)
        for q in range(len(x)):
            expected = [[int(part) for part in row] for row in stage.start]
            for slot in range(stage.n_slots):
                group = int(np.searchsorted(stage.group_ends, slot // stage.lanes, side="right"))
                for row, coded in enumerate(stage.group_rows[group]):
                    product = int(k[q, slot]) * int(by_slot[slot, row])
                    expected[int(coded) // 2][int(coded) % 2] += product
            assert sums[q].tolist() == expected


def one_vector(beta: float, gamma: float, n: int, intercept: float = 0.0) -> KernelMachine:
    """Return a machine of a vector with a large coefficient, and one with another."""
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma),
        support_vectors=np.full((2, n), 100.0) * np.array([[1.0], [2.0]]),
        dual_coef=np.array([[beta, 65535.0]]),
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=n,
    )


def largest_share(case: Case, stage: FixedSum, X: np.ndarray) -> float:
    """Return the largest |error| / bound of a stage on raw inputs or codes."""
    batch = prepared(case, X)
    summed = stage.run(batch)
    shares = []
    for x, decisions, bounds in zip(X, summed.decision, summed.bound, strict=True):
        for f, decision, bound in zip(case.decisions(x), decisions, bounds, strict=True):
            shares.append(float(abs(f - mpf(float(decision))) / mpf(float(bound))))
    return max(shares)


def prepared(case: Case, X: np.ndarray) -> Batch:
    """Return the batch that the sum gets."""
    n = case.program.n_decisions
    if X.dtype == np.float32:
        return case.program.prepare.run(Batch.of(X, n))
    return case.program.prepare.run_codes(Batch.of(X.astype(np.float32), n))


def weakened(stage: FixedSum, term: str) -> FixedSum:
    """Return a stage with half of a term."""
    return replace(stage, **{term: getattr(stage, term) * np.float32(0.5)})


def test_half_of_the_constant_part_is_too_little():
    """A coefficient of half a step more, at its vector."""
    case = in_format(one_vector(2.5, 1e-2, 3), "lossless", IntegerTableForm(False, False))
    X = np.full((1, 3), 100)
    stage = stage_of(case)
    assert largest_share(case, stage, X) <= 1 < largest_share(case, weakened(stage, "minimum"), X)


def test_half_of_what_a_deviation_does_is_too_little():
    """Half a code away in every feature, where the kernel is steepest: 2 gamma D^2 = 1."""
    case = in_format(one_vector(0.0, 8e-4, 4), "lossless", IntegerTableForm(False, True))
    X = np.array([[200.0 - 12.5] * 4, [200.0 - 12.49] * 4, [200 - 13.5] * 4], dtype=np.float32)
    stage = stage_of(case)
    assert largest_share(case, stage, X) <= 1
    assert largest_share(case, weakened(stage, "per_deviation"), X) > 1


def test_half_of_a_kernel_values_error_is_too_little():
    """Where the exponent is cut and 2^-t is rounded as unluckily as can be, and f is 0."""
    gamma = 3.1e-6
    codes = np.stack(np.meshgrid(np.arange(256), np.arange(256)), axis=-1).reshape(-1, 2)
    distances = ((codes - 200) ** 2).sum(axis=1)
    exact = np.exp(-gamma * distances)
    free = stage_of(in_format(one_vector(0.0, gamma, 2), "lossless", IntegerTableForm(False, True)))
    worst = int(np.argmax(np.abs(free.kernels(distances) / 2.0**31 - exact)))
    machine = one_vector(0.0, gamma, 2, -65535.0 * float(exact[worst]))
    case = in_format(machine, "lossless", IntegerTableForm(False, True))
    stage, X = stage_of(case), codes[worst : worst + 1]
    assert largest_share(case, stage, X) <= 1
    assert largest_share(case, weakened(stage, "value_error"), X) > 1


@pytest.mark.parametrize(("number_format", "half"), [("int8", 63.5), ("int16", 16383.5)])
def test_half_of_what_stored_vectors_do_is_too_little(number_format, half, monkeypatch):
    """A vector half-way between codes, asked for on the side that it was not rounded to."""
    monkeypatch.setitem(WIDTHS, number_format, replace(WIDTHS[number_format], margin=2.0))
    machine = replace(
        one_vector(1e-3, 1.02 * half**2, 2),
        support_vectors=np.array([[-1.0, -1.0], [1.0, 1.0]]),
    )
    case = in_format(machine, number_format, IntegerTableForm(False, True))
    X = np.full((1, 2), int(half))
    stage = stage_of(case)
    assert largest_share(case, stage, X) <= 1 < largest_share(case, weakened(stage, "minimum"), X)
