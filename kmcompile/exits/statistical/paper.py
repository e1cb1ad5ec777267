"""The thresholds of the NSV paper: extremes of the calibration samples, with no promised risk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array

WINDOW = 10
"""The paper's example of MaxSmoothed's window (NSV, section 4.1)."""

_DEVIATIONS = 3.0


def simple_thresholds(
    values: Float32Array, decisions: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the thresholds L and H of every test (NSV, section 4.1, Simple).

    L_k is the least g_k < 0 of a sample with f > 0, H_k the largest g_k > 0 of a sample with f < 0;
    0 if there is no such sample.

    Parameters
    ----------
    values : ndarray of shape (n_tests, n_samples), float32
        The partial sums g_k.
    decisions : ndarray of shape (n_samples,), float64
        The decisions f; NaN for samples that do not count.

    Returns
    -------
    low, high : ndarray of shape (n_tests,), float64
    """
    low = values[:, decisions > 0].min(axis=1, initial=0.0).astype(np.float64)
    high = values[:, decisions <= 0].max(axis=1, initial=0.0).astype(np.float64)
    return low, high


def filter_thresholds(values: Float32Array, decisions: Float64Array) -> tuple[float, float]:
    """Return the thresholds L and H of the linear filter (NSV, section 5.1).

    L and H are the Simple thresholds, or the mean of the wrong-leaning values plus or minus 3
    standard deviations where this is tighter.
    """
    low, high = (float(limit[0]) for limit in simple_thresholds(values[None], decisions))
    wrong_low = values[(decisions > 0) & (values < 0)].astype(np.float64)
    wrong_high = values[(decisions <= 0) & (values > 0)].astype(np.float64)
    if len(wrong_low):
        low = max(low, wrong_low.mean() - _DEVIATIONS * wrong_low.std())
    if len(wrong_high):
        high = min(high, wrong_high.mean() + _DEVIATIONS * wrong_high.std())
    return low, high


def max_smoothed(
    low: Float64Array, high: Float64Array, window: int
) -> tuple[Float64Array, Float64Array]:
    """Return thresholds moved outwards to the extremes of the steps k - window .. k + window.

    Parameters
    ----------
    low, high : ndarray of shape (n_steps, ...), float64
    window : int
    """
    reach = [(window, window), *[(0, 0)] * (low.ndim - 1)]
    padded_low = np.pad(low, reach, constant_values=np.inf)
    padded_high = np.pad(high, reach, constant_values=-np.inf)
    span = 2 * window + 1
    low_windows = np.lib.stride_tricks.sliding_window_view(padded_low, span, axis=0)
    high_windows = np.lib.stride_tricks.sliding_window_view(padded_high, span, axis=0)
    assert len(low_windows) == len(low)
    return low_windows.min(axis=-1), high_windows.max(axis=-1)


def first_answers(
    values: Float32Array, low: Float64Array, high: Float64Array
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where samples leave the steps: the first g_k outside its thresholds (NSV, Figure 2).

    Parameters
    ----------
    values : ndarray of shape (n_tests, n_samples), float32
        The partial sums g_k.
    low, high : ndarray of shape (n_tests,) or (n_tests, n_samples), float64

    Returns
    -------
    test : ndarray of shape (n_samples,), int
    is_positive, leaves : ndarray of shape (n_samples,), bool
        The sign that the test gives, and whether any test decides.
    """
    shape = (len(values), -1)
    above = values > high.reshape(shape)
    outside = above | (values < low.reshape(shape))
    test: NDArray[np.intp] = outside.argmax(axis=0)
    columns = np.arange(values.shape[1])
    return test, above[test, columns], outside[test, columns]


def band_of(low: Float64Array, high: Float64Array) -> tuple[Float32Array, Float32Array]:
    """Return the middle and the half-width of the band [low, high], rounded outwards."""
    middle = ((low + high) / 2).astype(np.float32)
    reach = np.maximum(high - middle, middle - low)
    half_width: NDArray[np.float32] = np.nextafter(reach.astype(np.float32), np.float32(np.inf))
    return middle, half_width
