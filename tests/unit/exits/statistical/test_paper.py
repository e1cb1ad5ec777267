"""The paper's thresholds against their definitions, sample by sample (NSV, sections 4.1, 5.1)."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_cases import digits

from kmcompile.exits.statistical.fits import estimates_of
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.paper import (
    WINDOW,
    band_of,
    filter_thresholds,
    max_smoothed,
    simple_thresholds,
)

KERNELS = ["rbf", "poly", "sigmoid"]


def partial_sums(kernel: str) -> tuple[np.ndarray, np.ndarray]:
    """Return g_k of shape (n_steps, n_samples) for k = 1 .. 60, and f."""
    case = digits(kernel, 2)
    steps = np.arange(1, 61)
    stage = nearest_vectors(case.exact, (12,), steps, case.skip_zeros, np.inf, paper=True)
    values = estimates_of(stage, case.program.ends, case.x).values[:, :, 0]
    return values, case.samples.decisions[:, 0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_simple_thresholds_are_the_worst_wrong_leaning_values(kernel: str) -> None:
    g, f = partial_sums(kernel)
    low, high = simple_thresholds(g, f)
    for k in range(len(g)):
        leaning_low = [v for v, exact in zip(g[k], f, strict=True) if v < 0 and exact > 0]
        leaning_high = [v for v, exact in zip(g[k], f, strict=True) if v > 0 and exact < 0]
        assert low[k] == min(leaning_low, default=0.0)
        assert high[k] == max(leaning_high, default=0.0)
    assert (low < 0).any()
    assert (high > 0).any()


def test_no_wrong_leaning_value_gives_a_threshold_of_0() -> None:
    _, f = partial_sums("rbf")
    low, high = simple_thresholds(f.astype(np.float32)[None], f)
    assert low.tolist() == high.tolist() == [0.0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_filter_takes_the_tighter_of_extremes_and_mean_with_3_deviations(kernel: str) -> None:
    case = digits(kernel, 2)
    f = case.samples.decisions
    stage = linear_filter(case.x, f, case.relevant, case.skip_zeros)
    value, f = stage.estimate(case.x)[:, 0], f[:, 0]
    low, high = filter_thresholds(value, f)
    wrong_low = value[(f > 0) & (value < 0)].astype(np.float64)
    wrong_high = value[(f < 0) & (value > 0)].astype(np.float64)
    assert min(len(wrong_low), len(wrong_high)) > 5
    assert low == max(wrong_low.min(), wrong_low.mean() - 3 * wrong_low.std())
    assert high == min(wrong_high.max(), wrong_high.mean() + 3 * wrong_high.std())
    assert low < 0 < high


@pytest.mark.parametrize("window", [1, 2, WINDOW, 100])
def test_max_smoothed_takes_the_extremes_of_the_adjacent_steps(window: int) -> None:
    low, high = simple_thresholds(*partial_sums("rbf"))
    smooth_low, smooth_high = max_smoothed(low, high, window)
    for k in range(len(low)):
        adjacent = slice(max(0, k - window), k + window + 1)
        assert smooth_low[k] == low[adjacent].min()
        assert smooth_high[k] == high[adjacent].max()
    assert (smooth_low < low).any()


@pytest.mark.parametrize("kernel", KERNELS)
def test_band_holds_its_thresholds_and_hardly_more(kernel: str) -> None:
    low, high = simple_thresholds(*partial_sums(kernel))
    middle, half_width = (part.astype(np.float64) for part in band_of(low, high))
    assert (middle - half_width <= low).all()
    assert (middle + half_width >= high).all()
    # Middle and half-width are each rounded to a float32 once or twice.
    excess = 2.0**-22 * np.maximum(np.abs(middle), half_width) + 2.0**-148
    assert (middle - half_width >= low - excess).all()
    assert (middle + half_width <= high + excess).all()
