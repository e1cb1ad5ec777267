"""Generated queries lie where early exits are misled, and tell thresholds apart by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kit.digits_cascade import digits_cascade
from kmcompile import readers
from kmcompile.exits.statistical.generated import Challenge, challenge, generated_challenges
from kmcompile.model.coefficients import vector_classes
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import LinearFilter, NearestVectors, ReducedSet

KERNELS = [("rbf", 2), ("poly", 2), ("rbf", 10)]


def scaled(program: Program, scale: float) -> Program:
    """Return the program with all half-widths times a factor."""
    exits = list(program.exits)
    for place, stage in enumerate(exits):
        if isinstance(stage, LinearFilter | ReducedSet | NearestVectors):
            with np.errstate(over="ignore"):  # what decides nothing stays so
                half_width = stage.half_width * np.float32(scale)
            exits[place] = replace(stage, half_width=half_width)
    return replace(program, exits=tuple(exits))


@pytest.mark.parametrize(("kernel", "n_classes"), KERNELS)
def test_most_points_have_more_vectors_of_another_class_nearby(kernel: str, n_classes: int) -> None:
    case, nearest = digits_cascade(kernel, n_classes), 8
    machine = case.machine

    def misled_share(X: np.ndarray) -> float:
        labels = evaluate(machine, X).labels
        distance = ((X[:, None].astype(np.float64) - machine.support_vectors) ** 2).sum(axis=2)
        near = vector_classes(machine)[np.argsort(distance, axis=1)[:, :nearest]]
        return float(((near != labels[:, None]).sum(axis=1) > nearest / 2).mean())

    points = generated_challenges(machine, case.test, 60)
    assert len(points) > 30
    assert points.dtype == np.float32
    assert misled_share(points) > 2 * misled_share(case.test)


@pytest.mark.parametrize(("kernel", "n_classes"), KERNELS)
def test_points_lie_nearer_to_the_boundary_than_the_samples(kernel: str, n_classes: int) -> None:
    case = digits_cascade(kernel, n_classes)
    points = generated_challenges(case.machine, case.test, 60)
    own = np.abs(evaluate(case.machine, case.test).decisions).min(axis=1)
    generated = np.abs(evaluate(case.machine, points).decisions).min(axis=1)
    assert np.median(generated) < np.median(own)


def test_points_lie_within_the_convex_hull_of_the_samples() -> None:
    case = digits_cascade("rbf", 2)
    X = case.test.astype(np.float64)
    for point in generated_challenges(case.machine, case.test, 8):
        # The smallest largest deviation of a convex combination from the point, by a linear
        # program: minimise t with |X^T w - point| <= t, w >= 0, sum w = 1.
        n, d = X.shape
        matrix = np.vstack([np.c_[X.T, -np.ones(d)], np.c_[-X.T, -np.ones(d)]])
        solved = linprog(
            np.r_[np.zeros(n), 1.0],
            A_ub=matrix,
            b_ub=np.r_[point, -point],
            A_eq=np.r_[np.ones(n), 0.0][None],
            b_eq=[1.0],
        )
        # Features lie within [0, 1]: rounded to float32 once; the solver's own tolerance is 1e-7.
        assert solved.fun <= 2.0**-24 + 1e-7


@pytest.mark.parametrize(("kernel", "n_classes"), KERNELS)
def test_thresholds_that_are_too_narrow_fail_the_challenge(kernel: str, n_classes: int) -> None:
    case = digits_cascade(kernel, n_classes)
    points = generated_challenges(case.machine, case.test, 60)
    narrow = challenge(scaled(case.program, 0.05), case.machine, points)
    wide = challenge(scaled(case.program, 4.0), case.machine, points)
    assert narrow.n_points == wide.n_points == len(points)
    assert narrow.disagreements > wide.disagreements
    assert narrow.n_decided_early > wide.n_decided_early


def test_challenge_counts_what_the_program_answers() -> None:
    case = digits_cascade("rbf", 2)
    program = scaled(case.program, 0.2)
    points = generated_challenges(case.machine, case.test, 60)
    results = interpret(program, points).results
    early = results["stage"] < len(program.exit_stages) - 1
    wrong = results["label"] != evaluate(case.machine, points).labels
    assert challenge(program, case.machine, points) == Challenge(
        len(points), int(early.sum()), int((early & wrong).sum())
    )


def test_same_seed_gives_the_same_points() -> None:
    case = digits_cascade("poly", 2)
    first, again, other = (generated_challenges(case.machine, case.test, 20, s) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_samples_of_one_label_give_no_points() -> None:
    X, y = load_digits(return_X_y=True)
    machine = readers.load_model(SVC().fit(X[:200], y[:200] == 3))
    zeros = X[y == 0][:50].astype(np.float32)
    assert generated_challenges(machine, zeros, 20).shape == (0, 64)
