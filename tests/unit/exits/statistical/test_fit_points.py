"""Points that reduced sets are fitted to: what the machine says to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from calibration_cases import N_TRAINED, Case, digits
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kmcompile.exits.statistical.fit_points import FitPoints, of_samples, with_vectors
from kmcompile.numeric.batch import Batch

CASES = [("rbf", 2), ("poly", 2), ("sigmoid", 2), ("rbf", 10)]


def points_of(case: Case, n: int | None = None) -> FitPoints:
    part = slice(n)
    return of_samples(case.exact, case.x[part], case.samples.decisions[part], case.relevant[part])


def checked(case: Case, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the program's sums at prepared points and their certified bounds."""
    x = points.astype(np.float32)
    batch = Batch.of(x, case.program.n_decisions)
    moved = np.sqrt(((points - x) ** 2).sum(axis=1))
    length = np.sqrt((points**2).sum(axis=1))
    up = np.float32(1 + 2.0**-20)  # upper bounds stay so when they are rounded
    deviation, length = (part.astype(np.float32) * up for part in (moved, length))
    batch = case.exact.run(replace(batch, deviation=deviation, length=length))
    return batch.decision.astype(np.float64), batch.bound.astype(np.float64)


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_few_samples_are_filled_up_and_all_have_the_machines_decisions(
    kernel: str, n_classes: int
) -> None:
    case = digits(kernel, n_classes)
    points = points_of(case)
    n = len(case.x)
    assert len(points.x) == 4000
    assert np.array_equal(points.x[:n], case.x)
    assert np.array_equal(points.decisions[:n], case.samples.decisions)
    assert np.array_equal(points.relevant[:n], case.relevant)
    assert points.relevant[n:].all()
    sums, bound = checked(case, points.x)
    assert (np.abs(points.decisions - sums) <= 2 * bound).all()


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_magnitudes_hold_the_sums(kernel: str, n_classes: int) -> None:
    case = digits(kernel, n_classes)
    points = points_of(case)
    _, bound = checked(case, points.x)
    sums = np.abs(points.decisions - case.exact.intercept)
    assert (sums <= points.magnitudes[:, None] + bound).all()


@pytest.mark.exhaustive
def test_shifted_points_are_samples_moved_by_less_than_samples_differ() -> None:
    case = digits("rbf", 2)
    made = points_of(case, 300).x[300:]
    samples = case.x[:300].astype(np.float64)
    to_samples = np.sqrt(((made[:, None] - samples) ** 2).sum(axis=2)).min(axis=1)
    between = np.sqrt(((samples[:, None] - samples) ** 2).sum(axis=2))
    assert to_samples.max() <= between.max()
    assert np.median(to_samples) < np.median(between)
    assert (made >= samples.min(axis=0)).all()
    assert (made <= samples.max(axis=0)).all()


def test_shifted_points_have_the_variety_of_samples() -> None:
    case = digits("rbf", 2)
    points = points_of(case, 300).x
    of_samples, of_made = points[:300].var(axis=0).sum(), points[300:].var(axis=0).sum()
    assert 0.9 < of_made / of_samples < 1.6


def test_shifted_points_of_normalised_samples_have_their_length() -> None:
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    estimator = make_pipeline(Normalizer(), SVC(kernel="poly", degree=9, gamma=1, coef0=0, C=1))
    case = Case(estimator.fit(X[:N_TRAINED], y[:N_TRAINED] > 4), X[N_TRAINED:1500], X[1500:])
    length = np.sqrt((points_of(case).x ** 2).sum(axis=1))
    mean = np.sqrt((case.x.astype(np.float64) ** 2).sum(axis=1)).mean()
    assert np.abs(length[len(case.x) :] - mean).max() <= 64 * 2.0**-52 * mean


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_vectors_are_added_with_the_decisions_that_they_are_about(
    kernel: str, n_classes: int
) -> None:
    case = digits(kernel, n_classes)
    before = points_of(case)
    points = with_vectors(case.exact, before)
    n = len(before.x)
    beta = case.exact.slot_decisions()
    used = (beta != 0).any(axis=1)
    assert np.array_equal(points.x[:n], before.x)
    assert np.array_equal(points.x[n:], case.exact.columns().T[used])
    assert np.array_equal(points.relevant[n:], beta[used] != 0)
    # Each is less on its own side without itself; decisions that it has no part in stay.
    sums, bound = checked(case, points.x[n:])
    change = points.decisions[n:] - sums
    slack = 2 * bound
    assert (change * np.sign(beta[used]) <= slack).all()
    assert (np.abs(change)[beta[used] == 0] <= slack[beta[used] == 0]).all()


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_span_rule_says_about_what_machines_trained_without_the_vector_say(C: float) -> None:
    """Vapnik and Chapelle's estimate against retraining: near in value, nearly always in sign."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(np.float32).astype(np.float64)
    X, y, rest = X[:150], y[:150], X[150:]
    machine = SVC(C=C, gamma=0.03).fit(X, y)
    case = Case(machine, rest.astype(np.float32), rest.astype(np.float32))
    none = FitPoints(
        np.zeros((0, X.shape[1])), np.zeros((0, 1)), np.zeros(0), np.zeros((0, 1), dtype=bool)
    )
    points = with_vectors(case.exact, none)
    center = case.x.astype(np.float64)[0] - rest[0]  # passes may centre vectors and inputs
    retrained = []
    for vector in points.x - center:
        row = int(((X - vector) ** 2).sum(axis=1).argmin())
        others = np.arange(len(X)) != row
        without = SVC(C=C, gamma=0.03).fit(X[others], y[others])
        retrained.append(without.decision_function(X[row : row + 1])[0])
    actual, said = np.array(retrained), points.decisions[:, 0]
    with_itself = machine.decision_function(X[machine.support_])
    assert len(said) == len(with_itself)
    assert np.corrcoef(actual, said)[0, 1] > 0.9
    assert (np.sign(actual) == np.sign(said)).mean() > 0.9
    kept = checked(case, points.x)[0][:, 0]
    assert np.abs(actual - said).mean() < np.abs(actual - kept).mean() / 2
