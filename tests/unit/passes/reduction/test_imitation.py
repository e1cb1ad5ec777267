"""Imitated machines: analytic gradients, and decisions that are nearer on samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from kit.reductions import TASKS, small_machine
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.imitation import Target, imitate
from kmcompile.passes.reduction.pursuit import pursue

X = np.random.default_rng(7).normal(size=(150, 4)).astype(np.float32)


@pytest.mark.parametrize("task", TASKS)
def test_the_gradient_is_that_of_the_loss(task):
    machine = small_machine(task)
    start = pursue(machine, 3).reduced(3)
    target = Target.of(machine, X)
    Z, beta, b = start.support_vectors, decision_coefficients(start), start.intercept
    ends = np.cumsum([Z.size, beta.size])

    def split(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        vectors, coefficients, intercept = np.split(theta, ends)
        return vectors.reshape(Z.shape), coefficients.reshape(beta.shape), intercept

    def slope(theta: np.ndarray) -> np.ndarray:
        return np.concatenate([part.ravel() for part in target.loss(*split(theta))[1:]])

    theta = np.concatenate([Z.ravel() + 0.05, beta.ravel(), b])
    error = check_grad(lambda at: target.loss(*split(at))[0], slope, theta)
    assert error < 1e-4 * np.linalg.norm(slope(theta))


@pytest.mark.parametrize("task", TASKS)
def test_decisions_on_samples_are_nearer(task):
    machine = small_machine(task, n=12)
    start = pursue(machine, 3).reduced(3)
    made = imitate(machine, start, X)
    target = Target.of(machine, X)

    def loss(reduced):
        parts = (reduced.support_vectors, decision_coefficients(reduced), reduced.intercept)
        return target.loss(*parts)[0]

    assert loss(made) < 0.8 * loss(start)
    assert made.n_support_vectors == 3 and made.class_counts == start.class_counts


def test_a_decision_beyond_the_margin_on_its_side_is_no_error():
    machine = small_machine(Task.BINARY)
    target = Target.of(machine, X)
    f = evaluate(machine, X).decisions
    parts = (machine.support_vectors, decision_coefficients(machine), machine.intercept)
    assert target.loss(*parts)[0] < 1e-20
    assert (target.clear == (np.abs(f) >= np.median(np.abs(f)))).all()
    larger = (parts[0], 3 * parts[1], 3 * parts[2])
    values = 3 * f
    wrong = ~target.clear & (np.abs(values - target.decisions) > 0)
    expected = ((values - target.decisions)[wrong] ** 2).sum() / (target.decisions**2).sum()
    assert target.loss(*larger)[0] == pytest.approx(expected)


def test_in_one_vs_one_only_the_pairs_of_the_label_count():
    machine = small_machine(Task.ONE_VS_ONE)
    target = Target.of(machine, X)
    labels = evaluate(machine, X).labels
    assert (target.relevant.sum(axis=1) == 2).all()
    assert (target.relevant[labels == 0] == [True, True, False]).all()


def test_vectors_take_no_part_in_pairs_of_other_classes():
    machine = small_machine(Task.ONE_VS_ONE, n=12)
    made = imitate(machine, pursue(machine, 6).reduced(6), X)
    first = made.class_counts[0]
    assert (decision_coefficients(made)[2, :first] == 0).all()  # the pair of classes 1 and 2
