"""Where a board reads subnormal numbers as 0, long inputs make of it more than an underflow.

Found by writing down the proof (kmcompile/manual/rounding_proof.md).
"""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mpf

from kmcompile.kernels import Linear, Poly
from kmcompile.lower.sum_constants import SumContext, Summation, sum_constants
from kmcompile.lower.sums import lower_linear, lower_sum
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.rounding import SMALLEST_NORMAL

WIDTH = 100
TINY = 2.0**-127
LARGE = 2.0**100


def machine_of(kernel, dual_coef=1.0):
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=np.full((1, WIDTH), TINY),
        dual_coef=np.array([[dual_coef]]),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=WIDTH,
    )


def test_bound_of_a_linear_machine_of_subnormal_weights_holds_where_they_are_flushed():
    """All weights read as 0 give 0; the model gives 100 * 2^-127 * 2^100."""
    stage = lower_linear(machine_of(Linear()), 4)
    exact = mpf(WIDTH) * TINY * LARGE
    length = np.sqrt(WIDTH) * LARGE
    assert float(stage.per_length[0]) * length + float(stage.minimum[0]) >= exact


def test_bound_of_inner_products_with_subnormal_vectors_holds_where_they_are_flushed():
    stage = lower_sum(machine_of(Poly(1.0, 0.0, 1)), 4, SumContext())
    exact = mpf(WIDTH) * TINY * LARGE
    length = np.sqrt(WIDTH) * LARGE
    kernel = stage.kernel
    assert float(kernel.per_length) * length + float(kernel.minimum) >= exact


@pytest.mark.parametrize("n_compensated", [0, 9, 1000])
def test_flushed_results_of_compensated_additions_are_counted(n_compensated):
    """Six operations of an addition can flush: the sum, four of its error, the error's sum."""
    machine = machine_of(Poly(1.0, 0.0, 1), dual_coef=1e-30)
    summation = Summation(9, 9, n_compensated, n_compensated)
    minimum = sum_constants(machine, machine.support_vectors, summation, SumContext())["minimum"]
    products_and_sums = 2 * n_compensated
    assert minimum[0] >= (products_and_sums + 6 * n_compensated) * SMALLEST_NORMAL
