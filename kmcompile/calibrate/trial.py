"""Trials: what early exits would do with some samples, at every scale of their thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.calibrate.bands import Bands
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.batch import Batch
from kmcompile.stages import Always


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What the tests of one stage see of some samples.

    Parameters
    ----------
    values : ndarray of shape (n_tests, n_samples, n_decisions), float32
    operations : ndarray of shape (n_tests, n_samples), int64
        Multiply-adds of the stage up to and with each test.
    kernel_evals : ndarray of shape (n_tests,), int64
        Full kernel evaluations up to each test.
    """

    values: Float32Array
    operations: NDArray[np.int64]
    kernel_evals: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The tests of a stage, or of several in a row, on some samples.

    Parameters
    ----------
    scales : ndarray of shape (n_tests, n_samples), float64
        The largest scale at which the test decides the sample; 0 if none does.
    labels : ndarray of shape (n_tests, n_samples), int32
        What it says then.
    operations : ndarray of shape (n_tests, n_samples), int64
        Multiply-adds up to and with each test.
    kernel_evals : ndarray of shape (n_tests,), int64
        Full kernel evaluations up to each test; the exact sum need not make the last test's.
    """

    scales: NDArray[np.float64]
    labels: NDArray[np.int32]
    operations: NDArray[np.int64]
    kernel_evals: NDArray[np.int64]

    def first(self, scale: float) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the first test that decides each sample at a scale, and whether there is one."""
        decides: NDArray[np.bool_] = self.scales >= scale
        test: NDArray[np.intp] = decides.argmax(axis=0)
        return test, decides[test, np.arange(len(test))]

    def disagreements(self, scale: float, labels: NDArray[np.int32]) -> int:
        """Return how many samples get another label than the model's."""
        test, decided = self.first(scale)
        said = self.labels[test, np.arange(len(labels))]
        return int((decided & (said != labels)).sum())

    def mean_operations(self, scale: float, exact_operations: float, per_kernel: float) -> float:
        """Return the mean multiply-adds, those of the exact sum for what is left included."""
        test, decided = self.first(scale)
        here = self.operations[test, np.arange(len(test))]
        left = self.operations[-1] + exact_operations - per_kernel * self.kernel_evals[-1]
        return float(np.where(decided, here, left).mean())


def try_stage(
    estimates: Estimates, bands: Sequence[Bands], label: Always, scales: NDArray[np.float64]
) -> Trial:
    """Return the trial of one stage.

    Parameters
    ----------
    bands : sequence of Bands
        One a test.
    label : Always
        The label stage of the program.
    scales : ndarray of shape (n_scales,), float64
        Decreasing.
    """
    found = [
        _largest_scale(values, band, label, scales)
        for values, band in zip(estimates.values, bands, strict=True)
    ]
    return Trial(
        np.stack([scale for scale, _ in found]),
        np.stack([labels for _, labels in found]),
        estimates.operations,
        estimates.kernel_evals,
    )


def in_a_row(trials: Sequence[Trial]) -> Trial:
    """Return the trial of several stages, one after the other."""
    before = np.zeros(trials[0].operations.shape[1], dtype=np.int64)
    operations = []
    for trial in trials:
        operations.append(before + trial.operations)
        before = before + trial.operations[-1]
    return Trial(
        np.concatenate([trial.scales for trial in trials]),
        np.concatenate([trial.labels for trial in trials]),
        np.concatenate(operations),
        np.concatenate([trial.kernel_evals for trial in trials]),
    )


def _largest_scale(
    values: Float32Array, band: Bands, label: Always, scales: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return, for every sample, the largest scale that decides it and the label that it gets.

    A narrower band decides whatever a wider one does, and gives it the same label: bisection.
    """
    low = np.zeros(len(values), dtype=np.intp)  # scales[:low] decide nothing
    high = np.full(len(values), len(scales), dtype=np.intp)  # scales[high:] decide
    labels = np.zeros(len(values), dtype=np.int32)
    while (low < high).any():
        middle = (low + high) // 2
        open_rows = low < high
        for index in np.unique(middle[open_rows]):
            rows = np.flatnonzero(open_rows & (middle == index))
            decided, said = _decided(values[rows], band, label, float(scales[index]))
            high[rows[decided]] = index
            low[rows[~decided]] = index + 1
            labels[rows[decided]] = said[decided]
    found = np.append(scales, 0.0)[high]
    return found, labels


def _decided(
    values: Float32Array, band: Bands, label: Always, scale: float
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    offset, half_width = (limit.astype(np.float32) for limit in band.limits(scale))
    batch = Batch.of(values[:, :0], values.shape[1])
    decision = values - offset
    bound = np.broadcast_to(half_width, decision.shape)
    answered = label.run(replace(batch, decision=decision, bound=bound))
    return answered.certified, answered.label
