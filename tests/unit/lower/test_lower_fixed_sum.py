"""The constants of sums in integers: nothing overflows, and no bound is too small."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from kit.fixed_sum_terms import TERMS, VALUES, needed
from kit.fixed_sums import GRIDS, Case, in_format, random_machine
from kmcompile.errors import InputError
from kmcompile.kernels import Rbf
from kmcompile.lower.fixed_point import exponent_scale, relative_error
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages import FixedSum

ONE = 1 << exp2_fixed.ARGUMENT_BITS
TOP = 1 << exp2_fixed.RESULT_BITS


def binary(vectors: np.ndarray, beta: np.ndarray, intercept: float, gamma: float) -> KernelMachine:
    """Return a binary machine."""
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma),
        support_vectors=vectors,
        dual_coef=beta[None],
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=vectors.shape[1],
    )


def stage_of(case: Case) -> FixedSum:
    """Return the sum."""
    stage = case.program.ends.exact
    assert isinstance(stage, FixedSum)
    return stage


@settings(max_examples=400)
@given(
    st.floats(-57.9, 5.9),
    st.floats(0.0, 48.0),
    st.lists(st.floats(0.0, 1.0), max_size=8),
)
def test_no_exponent_overflows_and_all_are_as_near_as_claimed(log2_rate, log2_largest, places):
    gamma, largest = math.exp2(log2_rate) * math.log(2), int(2**log2_largest)
    scale = exponent_scale(gamma, largest)
    assert 1 << 31 <= scale.multiplier < 1 << 32
    assert 0 <= scale.product_shift < 64
    assert 1 <= scale.cutoff <= largest + 1
    last = scale.cutoff - 1
    assert last >> scale.distance_shift < 1 << 32
    with mp.workdps(50):
        # rho is of 2^-t; 2^-t itself has RELATIVE_ERROR of it.
        of_t = mp.log1p(mpf(relative_error(scale, gamma)) - exp2_fixed.RELATIVE_ERROR) / mp.log(2)
        for distance in {last, *(int(place * last) for place in places)}:
            product = (distance >> scale.distance_shift) * scale.multiplier
            assert product < 1 << 64
            t = product >> scale.product_shift
            assert t < exp2_fixed.ARGUMENT_END
            assert abs(mpf(t) / ONE - mpf(gamma) * distance / mp.log(2)) <= of_t
    if scale.cutoff <= largest:
        product = (scale.cutoff >> scale.distance_shift) * scale.multiplier
        assert product >> scale.product_shift >= exp2_fixed.ARGUMENT_END


@pytest.mark.parametrize("gamma", [0.0, 5e-324, 1e-300, 1e-19, 45.0, 1e30, 1e308, math.inf])
def test_a_gamma_that_integers_do_not_hold_is_refused(gamma):
    with pytest.raises(InputError, match="too large or too small for integers"):
        exponent_scale(gamma, 1 << 40)


@pytest.mark.parametrize("largest", [0, 1, (1 << 32) - 2, (1 << 32) - 1, 1 << 32, 1 << 48])
@pytest.mark.parametrize("rate", [2.0**-58, 2.0**-40, 1.0, math.nextafter(64.0, 0.0)])
def test_the_ends_of_the_ranges_are_held(rate, largest):
    scale = exponent_scale(rate * math.log(2), largest)
    assert 0 <= scale.product_shift < 64
    assert 1 << 31 <= scale.multiplier < 1 << 32
    assert scale.cutoff <= largest + 1
    assert ((scale.cutoff - 1) >> scale.distance_shift) * scale.multiplier < 1 << 64


@pytest.mark.parametrize("number_format", ["int16", "int8"])
@pytest.mark.parametrize("exponent", [-320, -200, -40, -12, 8, 14, 40, 200, 300])
def test_every_gamma_is_held_or_refused(exponent, number_format):
    rng = np.random.default_rng(2)
    machine = binary(rng.normal(size=(4, 3)), rng.normal(size=4), 0.5, 10.0**exponent)
    try:
        stage = stage_of(in_format(machine, number_format, IntegerTableForm(False, True)))
    except InputError as error:
        assert "gamma" in str(error)
    else:
        assert np.isfinite(stage.minimum).all() and np.isfinite(stage.per_deviation).all()


def proved(stage: FixedSum) -> None:
    """Check that no sum of a stage overflows, whatever the kernel values."""
    by_slot = stage.coefficients.transpose(0, 2, 1).reshape(stage.n_slots, stage.n_rows)
    sums = [[int(part) for part in row] for row in stage.start]
    first = 0
    for block, rows in zip(stage.group_ends, stage.group_rows, strict=True):
        own = slice(first, int(block) * stage.lanes)
        for row, coded in enumerate(rows):
            group = TOP * int(by_slot[own, row].astype(object).sum())
            assert group < 1 << 64
            sums[int(coded) // 2][int(coded) % 2] += group
        first = own.stop
    for positive, negative in sums:
        assert positive < 1 << 64 and negative < 1 << 64
        assert positive + negative < 1 << 64
        assert (positive + negative >> stage.result_shift) + 1 < 1 << 32


@pytest.mark.few
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", [*GRIDS, "int16", "int8"])
def test_no_sum_of_a_random_machine_overflows(kind, wide):
    for seed in range(20, 28):
        machine = random_machine(seed, kind if kind in GRIDS else None)
        number_format = "lossless" if kind in GRIDS else kind
        try:
            proved(stage_of(in_format(machine, number_format, IntegerTableForm(False, wide))))
        except InputError as error:
            assert "gamma" in str(error)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("intercept", [0.0, 0.7, -3.0, 1e9, -1e25])
@pytest.mark.parametrize("size", [1e-30, 1e-12, 1.0, 3e4, 1e25])
def test_no_sum_overflows_at_the_ends_of_the_coefficients(size, intercept, wide):
    rng = np.random.default_rng(4)
    vectors = rng.integers(0, 256, size=(300, 2)).astype(np.float64)
    for beta in (np.full(300, size), size * rng.choice([-1.0, 1e-6, 1.0], size=300)):
        stage = stage_of(
            in_format(
                binary(vectors, beta, intercept, 1e-3), "lossless", IntegerTableForm(False, wide)
            )
        )
        proved(stage)
        assert 2.0**-100 <= stage.result_scale <= 2.0**100
        assert np.isfinite(stage.minimum).all()


def test_coefficients_beyond_float32_are_refused():
    machine = binary(np.array([[1.0], [2.0]]), np.array([1e31, -1.0]), 0.0, 1.0)
    with pytest.raises(InputError, match="retrain with a smaller C"):
        in_format(machine, "lossless", IntegerTableForm(False, True))


def test_a_machine_of_zeros_is_lowered():
    machine = binary(np.array([[1.0], [2.0]]), np.zeros(2), 0.0, 1.0)
    stage = stage_of(in_format(machine, "lossless", IntegerTableForm(False, True)))
    assert not stage.coefficients.any()


def holds(stage: FixedSum, least: dict[str, np.ndarray]) -> list[str]:
    """Return the constants that are too small."""
    return [name for name in least if not np.all(getattr(stage, name) >= least[name])]


def test_every_field_is_a_term_or_a_value():
    assert {field.name for field in fields(FixedSum)} == {*TERMS, *VALUES}


@pytest.mark.few
@pytest.mark.parametrize("kind", ["pixels", "quarters", "offset", "int16", "int8"])
def test_every_constant_is_at_least_what_its_derivation_needs_and_not_twice_that(kind):
    for seed in (0, 3, 6):
        machine = random_machine(seed, kind if kind in GRIDS else None)
        number_format = "lossless" if kind in GRIDS else kind
        try:
            case = in_format(machine, number_format, IntegerTableForm(False, seed == 3))
        except InputError:
            continue
        stage = stage_of(case)
        least = needed(case, stage)
        assert holds(stage, least) == []
        for term in TERMS:
            halved = replace(stage, **{term: getattr(stage, term) * np.float32(0.5)})
            # Half of the five roundings of |f| is still more than two.
            assert holds(halved, least) == ([] if term == "result_error" else [term])
            none = replace(stage, **{term: getattr(stage, term) * np.float32(0.0)})
            assert holds(none, least) == [term]
