"""Constructed vectors: analytic gradients, no worse than their start, the best of a fine grid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from kit.reductions import TASKS, least_squares, small_machine
from kmcompile.errors import InputError
from kmcompile.kernels import Laplacian, Poly, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.construction import Problem, construct
from kmcompile.passes.reduction.distance import distances
from kmcompile.passes.reduction.pursuit import pursue


def relative(machine: KernelMachine, reduced: KernelMachine) -> float:
    squares = least_squares(machine, ())[1]
    return float((distances(machine, reduced) ** 2 / squares).sum())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kernel", [Rbf(0.3), Poly(0.5, 1.0, 2)], ids=["rbf", "poly"])
def test_the_gradient_is_that_of_the_loss(task, kernel):
    machine = small_machine(task, kernel)
    start = pursue(machine, 4).reduced(4)
    problem = Problem.of(Normals.of(machine), start)
    Z = start.support_vectors + 0.1
    error = check_grad(
        lambda flat: problem.loss(flat.reshape(Z.shape))[0],
        lambda flat: problem.loss(flat.reshape(Z.shape))[1].ravel(),
        Z.ravel(),
    )
    size = np.linalg.norm(problem.loss(Z)[1])
    assert error < 1e-4 * size


@pytest.mark.parametrize("task", TASKS)
def test_moved_vectors_are_nearer_and_keep_the_rest(task):
    machine = small_machine(task, n=12)
    start = pursue(machine, 4).reduced(4)
    moved = construct(machine, start)
    assert relative(machine, moved) < 0.9 * relative(machine, start)
    assert moved.n_support_vectors == 4
    assert moved.class_counts == start.class_counts
    np.testing.assert_array_equal(moved.intercept, machine.intercept)


def test_the_weights_are_the_best_ones():
    machine = small_machine(Task.ONE_VS_REST, n=12)
    moved = construct(machine, pursue(machine, 3).reduced(3))
    kernel, Z = machine.kernel, moved.support_vectors
    expected = np.linalg.solve(
        kernel.values(Z, Z),
        kernel.values(machine.support_vectors, Z) @ decision_coefficients(machine).T,
    )
    np.testing.assert_allclose(decision_coefficients(moved).T, expected, rtol=1e-5, atol=1e-6)


def test_one_vector_is_where_a_fine_grid_has_its_optimum():
    machine = small_machine(Task.BINARY, Rbf(0.7), n=6, n_features=1, seed=3)
    moved = construct(machine, pursue(machine, 1).reduced(1))
    grid = np.linspace(-3, 3, 60001)[:, None]
    normals = Normals.of(machine)
    gains = normals.product(grid)[:, 0] ** 2  # K(z, z) = 1
    best = gains.max() / normals.squares[0]
    assert relative(machine, moved) <= 1 - best + 1e-6


def test_a_kernel_without_derivative_is_refused():
    machine = small_machine(Task.BINARY, Laplacian(0.3))
    with pytest.raises(InputError, match="no derivative"):
        construct(machine, pursue(machine, 2).reduced(2))
