"""Routed machines in integers: no decision is farther from the real one than its bound says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from kit.routed_random import RandomRouted, largest_share, share_of
from kmcompile.kernels import Rbf
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages import RoutedFixedSum
from kmcompile.program.stages.leaves.fixed_leaf_parts import scaled

EXTRAS = (
    "",
    "widths",
    "units widths",
    "scaler linear",
    "widths linear",
    "products",
    "scaler widths products",
    "units widths products linear",
    "ties widths linear",
)


@pytest.mark.parametrize("number_format", ["int8", "int16"])
@pytest.mark.parametrize("extra", EXTRAS)
def test_no_decision_is_farther_off_than_its_bound(extra, number_format):
    for seed in range(3):
        case = RandomRouted(extra, number_format, seed)
        most, asked = largest_share(case, 8, wide=seed < 2)
        assert most <= 1.0, case
        assert asked > 0, case


@pytest.mark.exhaustive
@pytest.mark.parametrize("number_format", ["int8", "int16"])
@pytest.mark.parametrize("extra", EXTRAS)
def test_no_decision_of_many_machines_is_farther_off(extra, number_format):
    shares = [
        largest_share(RandomRouted(extra, number_format, seed), 24, seed % 3 > 0, seed % 2 > 0)[0]
        for seed in range(100, 125)
    ]
    assert max(shares) <= 1.0
    assert max(shares) > 0.05  # the queries come near the bounds


def test_each_slot_has_the_kernel_of_its_gamma():
    case = RandomRouted("widths", "int16", 5)
    stage = case.program().sum
    assert isinstance(stage, RoutedFixedSum)
    routing = case.machine().routing
    assert len(stage.scales.multipliers) == len(np.unique(routing.relative_gamma)) > 1
    gammas = stage.scales.of_slots
    assert (np.unique(routing.relative_gamma)[gammas] == routing.relative_gamma).all()


@pytest.mark.parametrize(
    ("extra", "seeds", "term"),
    [
        ("widths linear", (1000, 1011), "per_deviation"),
        ("units products", (1004, 1005), "minimum"),
        ("widths products", (1002, 1004), "mean_factor"),
        ("ties widths", (2, 4, 7, 9), "apart"),
    ],
)
def test_a_bound_with_a_smaller_term_is_wrong(extra, seeds, term):
    shares = []
    for seed in seeds:
        case = RandomRouted(extra, "int16", seed)
        program, borders = case.program(wide=False), term in {"mean_factor", "apart"}
        smaller = (getattr(program.sum, term) * np.float32(0.25)).astype(np.float32)
        weaker = replace(program, sum=replace(program.sum, **{term: smaller}))
        queries = case.queries(16, borders)
        assert share_of(program, case.machine(), queries)[0] <= 1.0
        shares.append(share_of(weaker, case.machine(), queries)[0])
    assert max(shares) > 1.0


@pytest.mark.parametrize("extra", ["widths", "widths products"])
def test_kernels_are_as_near_as_the_relative_error_says(extra):
    for seed in range(6):
        case = RandomRouted(extra, "int16", seed)
        program = case.program()
        stage, kernel = program.sum, case.machine().kernel
        assert isinstance(stage, RoutedFixedSum)
        assert isinstance(kernel, Rbf)
        # Of products, the error has that of two kernels.
        rho = float(stage.value_error) / (2 if stage.pairs else 1)
        per_code = float(program.scale.step[0])
        rng = np.random.default_rng(seed)
        for number, share in enumerate(np.unique(case.machine().routing.relative_gamma)):
            scale = stage.scales.scale(number)
            distances = rng.integers(scale.cutoff, size=50)
            distances[:2] = 0, scale.cutoff - 1
            with mp.workdps(40):
                rate = mpf(kernel.gamma) * mpf(float(share)) * mpf(per_code) ** 2
                for d, k in zip(distances.tolist(), scale.kernels(distances), strict=True):
                    exact = mp.exp(-rate * d)
                    off = abs(mpf(int(k)) / 2**exp2_fixed.RESULT_BITS - exact)
                    assert off <= exact * rho + exp2_fixed.SHIFT_ERROR


def test_products_of_sums_and_kernels_are_cut_to_whole_numbers():
    rng = np.random.default_rng(0)
    sums = rng.integers(1 << 63, size=2000, dtype=np.uint64)
    sums[:3] = 0, 1, (1 << 63) - 1
    kernels = rng.integers(1 << 31, size=2000, dtype=np.uint64)
    kernels[:6] = 1 << 31, 1, 1 << 31, 0, 1, 1 << 31
    exact = [
        int(Fraction(int(a) * int(b), 1 << 31).__floor__())
        for a, b in zip(sums, kernels, strict=True)
    ]
    assert scaled(sums, kernels).tolist() == exact
