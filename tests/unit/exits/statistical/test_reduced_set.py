"""Reduced sets: the fit's gradient, its features, its range, and the same bytes every time."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from calibration_cases import Case, digits, mnist_pair
from sklearn.datasets import load_breast_cancer

from kmcompile.exits.statistical import free_vectors_fit
from kmcompile.exits.statistical.fit_points import FitPoints, of_samples
from kmcompile.exits.statistical.free_vectors_fit import Size, picked_columns
from kmcompile.exits.statistical.reduced_set import fit_reduced_set
from kmcompile.program.interpreter import classify
from kmcompile.program.stages import ReducedSet
from kmcompile.program.storage import save

SIZES = [Size(5, 20, None, 30), Size(4, 12, 16, 30)]
CASES = [("rbf", 2), ("poly", 2), ("rbf", 10)]


def points_of(case: Case) -> FitPoints:
    return of_samples(case.exact, case.x, case.samples.decisions, case.relevant)


@cache
def stage_of(kernel: str, n_classes: int, size: Size) -> ReducedSet:
    case = digits(kernel, n_classes)
    return fit_reduced_set(points_of(case), size, 1.0, case.exact.lanes, case.skip_zeros)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_same_points_give_the_same_bytes(kernel: str, n_classes: int, size: Size) -> None:
    case = digits(kernel, n_classes)
    stages = [
        fit_reduced_set(points_of(case), size, 1.0, case.exact.lanes, case.skip_zeros)
        for _ in range(2)
    ]
    first, second = (save(case.with_stages(stage)) for stage in stages)
    assert first == second


def loss_of(monkeypatch: pytest.MonkeyPatch, case: Case, size: Size) -> tuple[Any, np.ndarray]:
    """Return the function that is minimised and where it begins."""
    asked: list[tuple[Any, np.ndarray]] = []

    def minimize(loss: Any, begin: np.ndarray, **_: Any) -> SimpleNamespace:
        asked.append((loss, begin))
        return SimpleNamespace(x=begin)

    monkeypatch.setattr(free_vectors_fit, "minimize", minimize)
    fit_reduced_set(points_of(case), size, 1.0, case.exact.lanes, case.skip_zeros)
    return asked[0]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_gradient_is_that_of_finite_differences(
    kernel: str, n_classes: int, size: Size, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss, begin = loss_of(monkeypatch, digits(kernel, n_classes), size)
    value, gradient = loss(begin)
    rng = np.random.default_rng(17)
    for _ in range(5):
        direction = rng.normal(size=len(begin)) * np.maximum(np.abs(begin), 0.1)
        direction /= np.linalg.norm(direction)

        def slope(h: float, direction: np.ndarray = direction) -> float:
            return float(loss(begin + h * direction)[0] - loss(begin - h * direction)[0]) / (2 * h)

        h = 2.0**-6
        near, far = slope(h), slope(2 * h)
        # Truncation: the difference of two steps is three times the smaller one's. Rounding: sums
        # of some hundred float32 terms in an error, each squared error relatively as far off.
        rounding = 2.0**-24 * 256 * value / h
        assert abs(direction @ gradient - near) <= abs(far - near) + rounding


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_loss_falls(size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    case = digits("rbf", 2)
    with monkeypatch.context() as patch:
        loss_of(patch, case, size)  # the fit ends where it begins
        started = fit_reduced_set(points_of(case), size, 1.0, case.exact.lanes, case.skip_zeros)
    f = np.clip(case.samples.decisions, -1, 1)

    def error(stage: ReducedSet) -> float:
        estimate = stage.rows(stage.products.of(case.x))[:, :-1].astype(np.float64)
        clear = (np.abs(f) == 1) & (estimate * f > 1)
        return float((np.where(clear, 0, estimate - f) ** 2).mean())

    fitted = error(stage_of("rbf", 2, size))
    assert fitted < 0.7 * error(started)
    assert fitted < 0.5 * float((f**2).mean())


@pytest.mark.parametrize("n", [1, 8, 20])
def test_picked_columns_are_those_that_greedily_leave_the_least_unexplained(n: int) -> None:
    x = digits("rbf", 2).x.astype(np.float64)
    moments = x.T @ x
    moments += 1e-6 * np.trace(moments) / len(moments) * np.eye(len(moments))
    chosen: list[int] = []
    rest = moments.copy()
    for _ in range(n):  # the feature with the largest part that the chosen ones do not explain
        chosen.append(int(np.diag(rest).argmax()))
        pivot = rest[:, chosen[-1]].copy()
        rest -= np.outer(pivot, pivot) / pivot[chosen[-1]]
    assert picked_columns(x, n).tolist() == sorted(chosen)


def test_copy_of_a_feature_is_not_picked_beside_it() -> None:
    x = load_breast_cancer(return_X_y=True)[0]
    x = x / x.std(axis=0)
    twice = np.hstack([x, x])
    picked = picked_columns(twice, 8)
    assert len(set(picked % x.shape[1])) == 8


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_triangle_gives_the_length_inside_the_projection(kernel: str) -> None:
    case = digits(kernel, 2)
    stage = stage_of(kernel, 2, SIZES[0])
    rows = stage.products.matrix(case.x.shape[1])
    basis = np.linalg.qr(rows.T)[0]
    x = case.x.astype(np.float64)
    inside = ((x @ basis) ** 2).sum(axis=1)
    found = ((x @ rows.T @ stage.triangle.T.astype(np.float64)) ** 2).sum(axis=1)
    # The triangle is rounded to float32; the largest part that its rows can move by that.
    parts = np.abs(x @ rows.T) @ np.abs(stage.triangle.T).astype(np.float64)
    assert (np.abs(found - inside) <= 4 * 2.0**-24 * (parts**2).sum(axis=1)).all()


def test_some_features_have_no_triangle_and_no_zeros_to_skip() -> None:
    case = mnist_pair()
    stage = fit_reduced_set(points_of(case), Size(3, 12, 39, 5), 1.0, case.exact.lanes, True)
    assert stage.products.n_used == 39
    assert not stage.products.skip_zeros
    assert stage.triangle.size == 0


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_spread_follows_the_size_of_the_terms(kernel: str, n_classes: int) -> None:
    case = digits(kernel, n_classes)
    stage = stage_of(kernel, n_classes, SIZES[0])
    said = stage.rows(stage.products.of(case.x))[:, -1]
    assert np.corrcoef(said, points_of(case).magnitudes[: len(said)])[0, 1] > 0.5


def test_it_decides_nothing_as_it_is_fitted() -> None:
    case = digits("rbf", 2)
    with np.errstate(over="ignore"):  # the widest band times the spread
        results, _ = classify(case.with_stages(stage_of("rbf", 2, SIZES[0])), case.X)
    assert (results["stage"] == 1).all()


def test_padding_of_the_last_block_weighs_nothing() -> None:
    case = digits("rbf", 2)
    lanes = case.exact.lanes
    stage = fit_reduced_set(points_of(case), Size(3, lanes + 1, None, 2), 1.0, lanes, False)
    assert stage.n_blocks == 2
    assert (stage.weights[1, :, 1:] == 0).all()
    assert (stage.vectors[1] == stage.vectors[1, :, :1]).all()
