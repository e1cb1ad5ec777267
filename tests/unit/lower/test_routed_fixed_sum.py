"""Routed machines in integers: no decision is farther from the real one than its bound says."""

from __future__ import annotations

import numpy as np
import pytest

from kit.routed_random import RandomRouted, largest_share
from kmcompile.program.stages import RoutedFixedSum

EXTRAS = (
    "",
    "widths",
    "units widths",
    "scaler linear",
    "widths linear",
    "products",
    "scaler widths products",
    "units widths products linear",
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
