"""Trials: which samples early exits decide, and how, at every scale of their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import Bands, width
from kmcompile.exits.statistical.loss import Losses, losses_of
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import Always

HalfWidth = Callable[[NDArray[np.intp], NDArray[np.float64]], Float64Array]
"""The half-widths of a test's band for some samples, each at a scale of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """The values that the tests of one stage compute on some samples, and their cost.

    Parameters
    ----------
    values : ndarray of shape (n_tests, n_samples, n_decisions), float32
    operations : ndarray of shape (n_tests, n_samples), int64
        Multiply-adds of the stage up to and including each test.
    kernel_evals : ndarray of shape (n_tests,), int64
        Full kernel evaluations up to each test.
    raw_spread : ndarray of shape (n_samples,), float32, or None
        For a reduced set, a value that grows with the error of a sample.
    """

    values: Float32Array
    operations: NDArray[np.int64]
    kernel_evals: NDArray[np.int64]
    raw_spread: Float32Array | None = None

    @property
    def is_finite(self) -> bool:
        """Whether every value is finite."""
        raw = () if self.raw_spread is None else self.raw_spread
        return bool(np.isfinite(self.values).all() and np.isfinite(raw).all())


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The results of the tests of a stage, or of several stages in sequence, on some samples.

    Parameters
    ----------
    scales : ndarray of shape (n_tests, n_samples), float64
        The largest scale at which the test decides the sample; 0 if none does.
    labels : ndarray of shape (n_tests, n_samples), int32
        The label that the test gives.
    operations : ndarray of shape (n_tests, n_samples), int64
        Multiply-adds up to and including each test.
    known : ndarray of shape (n_samples,), int64, or None
        Full kernel evaluations that the exact sum reuses where no test decides; None: those of the
        stages before.
    instructions : ndarray of shape (n_tests, n_samples), float64, or None
        Estimated instructions up to and including each test; None where nothing is compared.
    """

    scales: NDArray[np.float64]
    labels: NDArray[np.int32]
    operations: NDArray[np.int64]
    known: NDArray[np.int64] | None
    instructions: Float64Array | None = None

    def first(self, scale: float) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the first test that decides each sample at a scale, and whether there is one."""
        decides: NDArray[np.bool_] = self.scales >= scale
        test: NDArray[np.intp] = decides.argmax(axis=0)
        return test, decides[test, np.arange(len(test))]

    def wrong(
        self,
        scale: float,
        labels: NDArray[np.int32],
        trained_labels: NDArray[np.int32] | None = None,
        truth: NDArray[np.int64] | None = None,
    ) -> Losses:
        """Return which samples get another label than the model's, or what each loses.

        Parameters
        ----------
        scale : float
        labels : ndarray of shape (n_samples,), int32
            The labels of the sum, which samples get that no test decides.
        trained_labels : ndarray of shape (n_samples,), int32, optional
            The model's labels if the sum is that of a reduced machine; by default `labels`.
        truth : ndarray of shape (n_samples,), int64, optional
            The right labels; without them, each other label counts (`loss.losses_of`).
        """
        test, decided = self.first(scale)
        said = np.where(decided, self.labels[test, np.arange(len(labels))], labels)
        return losses_of(said, labels if trained_labels is None else trained_labels, truth)

    def disagreements(
        self, scale: float, labels: NDArray[np.int32], truth: NDArray[np.int64] | None = None
    ) -> int:
        """Return how many samples get another label than that of the sum, or what they lose."""
        return int(self.wrong(scale, labels, truth=truth).sum())

    def mean_operations(
        self, scale: float, exact_operations: NDArray[np.int64], per_kernel: NDArray[np.int64]
    ) -> float:
        """Return the mean multiply-adds, including the exact sum for undecided samples.

        Parameters
        ----------
        exact_operations, per_kernel : ndarray of shape (n_samples,), int64
            Multiply-adds of the exact sum with the label, and those it saves for each known kernel.
        """
        return self._mean(scale, self.operations, exact_operations, per_kernel)

    def mean_instructions(
        self, scale: float, exact: Float64Array, per_kernel: Float64Array
    ) -> float:
        """Return the mean estimated instructions, as `mean_operations` does multiply-adds."""
        assert self.instructions is not None
        return self._mean(scale, self.instructions, exact, per_kernel)

    def _mean(
        self,
        scale: float,
        spent: NDArray[np.int64] | Float64Array,
        exact: NDArray[np.int64] | Float64Array,
        per_kernel: NDArray[np.int64] | Float64Array,
    ) -> float:
        test, decided = self.first(scale)
        here = spent[test, np.arange(len(test))]
        left = spent[-1] + exact
        if self.known is not None:
            left = left - per_kernel * self.known
        return float(np.where(decided, here, left).mean())


def try_stage(
    estimates: Estimates,
    decisions: Sequence[Float64Array],
    bands: Sequence[Bands],
    spread: Float64Array,
    label: Always,
    scales: NDArray[np.float64],
) -> Trial:
    """Return the trial of one stage on samples.

    Parameters
    ----------
    estimates : Estimates
        The estimates, for their costs.
    decisions : sequence of ndarray of shape (n_samples, n_decisions), float64
        The decisions that each test computes from the estimates.
    bands : sequence of Bands
        One for each test.
    spread : ndarray of shape (n_samples,), float64
    label : Always
        The label stage of the program.
    scales : ndarray of shape (n_scales,), float64
        Decreasing.
    """
    found = [
        largest_scale(decision, partial(_half_width, band, spread), label, scales)
        for decision, band in zip(decisions, bands, strict=True)
    ]
    n_known = int(estimates.kernel_evals[-1])
    return Trial(
        np.stack([scale for scale, _ in found]),
        np.stack([labels for _, labels in found]),
        estimates.operations,
        np.full(len(spread), n_known) if n_known else None,
    )


def in_a_row(trials: Sequence[Trial], prices: Sequence[float] | None = None) -> Trial:
    """Return the trial of several stages in sequence.

    Parameters
    ----------
    trials : sequence of Trial
    prices : sequence of float, optional
        Instructions of an operation of each stage; by default no instructions are estimated.
    """
    n_samples = trials[0].operations.shape[1]
    operations = _added_up([trial.operations for trial in trials], np.zeros(n_samples, np.int64))
    instructions = None
    if prices is not None:
        priced = [price * trial.operations for price, trial in zip(prices, trials, strict=True)]
        instructions = _added_up(priced, np.zeros(n_samples))
    return Trial(
        np.concatenate([trial.scales for trial in trials]),
        np.concatenate([trial.labels for trial in trials]),
        operations,
        next((trial.known for trial in trials[::-1] if trial.known is not None), None),
        instructions,
    )


def _added_up(spent: Sequence[NDArray[Any]], before: NDArray[Any]) -> NDArray[Any]:
    """Return what samples have spent at each test of several stages in sequence."""
    added = []
    for own in spent:
        added.append(before + own)
        before = before + own[-1]
    return np.concatenate(added)


def _half_width(
    band: Bands, spread: Float64Array, rows: NDArray[np.intp], scales: NDArray[np.float64]
) -> Float64Array:
    own = spread[rows, None]
    return width(scales[:, None], own * (band.reach * band.deviation), own * band.floor)


def largest_scale(
    decision: Float64Array, half_width: HalfWidth, label: Always, scales: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return, for every sample, the largest scale that decides it and the label that it gets.

    The scale is found by bisection: a narrower band decides every sample that a wider band decides,
    with the same label.

    Parameters
    ----------
    decision : ndarray of shape (n_samples, n_decisions), float64
    half_width : callable
        (samples, their scales) -> ndarray of shape (n_of_them, n_decisions), float64, growing with
        the scale.
    label : Always
    scales : ndarray of shape (n_scales,), float64
        Decreasing.
    """
    low = np.zeros(len(decision), dtype=np.intp)  # scales[:low] decide nothing
    high = np.full(len(decision), len(scales), dtype=np.intp)  # scales[high:] decide
    labels = np.zeros(len(decision), dtype=np.int32)
    while (low < high).any():
        rows = np.flatnonzero(low < high)
        middle = (low[rows] + high[rows]) // 2
        decided, said = _decided(decision[rows], half_width(rows, scales[middle]), label)
        high[rows[decided]] = middle[decided]
        low[rows[~decided]] = middle[~decided] + 1
        labels[rows[decided]] = said[decided]
    return np.append(scales, 0.0)[high], labels


def said(label: Always, decisions: Float64Array) -> NDArray[np.int32]:
    """Return the labels of decisions of shape (n_samples, n_decisions)."""
    return _decided(decisions, np.zeros_like(decisions), label)[1]


def _decided(
    decision: Float64Array, bound: Float64Array, label: Always
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    batch = Batch.of(np.zeros((len(decision), 0), np.float32), decision.shape[1])
    batch = replace(batch, decision=decision.astype(np.float32), bound=bound.astype(np.float32))
    answered = label.run(batch)
    return answered.settled, answered.label
