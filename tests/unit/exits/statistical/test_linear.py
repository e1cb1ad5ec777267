"""The linear filter says what a linear machine trained on the model's labels says."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_cases import digits

from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.program.interpreter import classify

CASES = [("rbf", 2), ("poly", 2), ("rbf", 10)]


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_filter_has_the_models_side_mostly_and_its_units(kernel: str, n_classes: int) -> None:
    case = digits(kernel, n_classes)
    f = case.samples.decisions
    stage = linear_filter(case.x, f, case.relevant, case.skip_zeros)
    value = stage.estimate(case.x).astype(np.float64)
    for p in range(f.shape[1]):
        rows = case.relevant[:, p]
        agree = np.sign(value[rows, p]) == np.sign(f[rows, p])
        larger_class = max((f[rows, p] > 0).mean(), (f[rows, p] <= 0).mean())
        assert agree.mean() > (1 + larger_class) / 2
        # Weights and intercept are rounded to float32, and a sum of 64 products.
        unit = np.abs(value[rows, p]).mean() / np.abs(f[rows, p]).mean()
        assert abs(unit - 1) < 70 * 2.0**-24 * (1 + np.abs(stage.products.blocks).sum())


def test_filter_decides_nothing_as_it_is_fitted() -> None:
    case = digits("rbf", 2)
    stage = linear_filter(case.x, case.samples.decisions, case.relevant, case.skip_zeros)
    assert (classify(case.with_stages(stage), case.X)[0]["stage"] == 1).all()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_one_sided_decision_is_a_constant(side: float) -> None:
    case = digits("rbf", 2)
    f = side * (1 + np.abs(case.samples.decisions))
    stage = linear_filter(case.x, f, case.relevant, case.skip_zeros)
    assert (stage.estimate(case.x) == side).all()


def test_decision_without_samples_is_a_constant() -> None:
    case = digits("rbf", 10)
    relevant = case.relevant.copy()
    relevant[:, 7] = False
    stage = linear_filter(case.x, case.samples.decisions, relevant, case.skip_zeros)
    assert (stage.products.matrix(case.x.shape[1])[7] == 0).all()
    assert np.isfinite(stage.intercept).all()


def test_samples_that_a_decision_is_not_about_do_not_count() -> None:
    case = digits("rbf", 10)
    f = case.samples.decisions
    other = np.where(case.relevant, f, -7.0 * f)
    first, second = (linear_filter(case.x, d, case.relevant, case.skip_zeros) for d in (f, other))
    assert np.array_equal(first.products.blocks, second.products.blocks)
    assert np.array_equal(first.intercept, second.intercept)
