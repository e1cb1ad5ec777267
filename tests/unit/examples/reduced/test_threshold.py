"""Intercepts against every other threshold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threshold import best_shift, with_fitted_intercepts

from kit.reductions import TASKS, small_machine
from kmcompile.errors import UsageError
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.pursuit import pursue


def least_wrong(f: np.ndarray, positive: np.ndarray) -> int:
    """Return the fewest wrong signs of f + b of all b, by trying each interval of b."""
    points = np.unique(-f)
    shifts = [points[0] - 1, *(points[1:] + points[:-1]) / 2, points[-1] + 1]
    return min(int(((f + shift >= 0) != positive).sum()) for shift in shifts)


@pytest.mark.parametrize("seed", range(30))
def test_no_other_shift_has_fewer_wrong_signs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    f = rng.integers(-4, 5, n) / 2 if seed % 2 else rng.normal(size=n)
    positive = rng.random(n) < 0.5
    shift = best_shift(f, positive)
    assert ((f + shift >= 0) != positive).sum() == least_wrong(f, positive)
    if ((f >= 0) != positive).sum() == least_wrong(f, positive):
        assert shift == 0


@pytest.mark.parametrize("task", TASKS)
def test_signs_or_means_are_nearer_to_the_original(task: Task) -> None:
    original = small_machine(task)
    reduced = pursue(original, 4).reduced(4)
    X = np.random.default_rng(1).normal(size=(50, 4))
    fitted = with_fitted_intercepts(reduced, original, X)
    wanted, was, now = (evaluate(m, X).decisions for m in (original, reduced, fitted))
    if task is Task.REGRESSION:
        assert_allclose((now - wanted).mean(), 0.0, atol=1e-12)
        return
    for p in range(original.n_decisions):
        positive = wanted[:, p] >= 0
        assert ((now[:, p] >= 0) != positive).sum() == least_wrong(was[:, p], positive)


def test_an_original_is_left_as_it_is_and_no_samples_are_refused() -> None:
    original = small_machine(Task.ONE_VS_ONE)
    X = np.random.default_rng(1).normal(size=(50, 4))
    assert (with_fitted_intercepts(original, original, X).intercept == original.intercept).all()
    with pytest.raises(UsageError, match="0 samples"):
        with_fitted_intercepts(original, original, X[:0])
