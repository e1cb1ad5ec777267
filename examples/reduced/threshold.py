"""Intercepts fitted again to the original's answers on samples (RSS 2004, section 4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import UsageError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float64Array


def with_fitted_intercepts(
    reduced: KernelMachine, original: KernelMachine, X: Float64Array
) -> KernelMachine:
    """Return the reduced machine with the intercepts that suit samples best.

    In a regression the mean difference from the original is 0 then. Otherwise the sign of as few
    values of each decision as possible is unlike the original's: with one decision, as few labels.
    The paper minimises the training error instead; no sample needs a label here.

    Parameters
    ----------
    reduced, original : KernelMachine
        Of the same decisions.
    X : ndarray of shape (n_samples, n_features), float64
        Raw samples, at least one.

    Raises
    ------
    UsageError
        There are no samples.
    """
    if len(X) == 0:
        raise UsageError("intercepts cannot be fitted to 0 samples")
    wanted, found = evaluate(original, X).decisions, evaluate(reduced, X).decisions
    if reduced.task is Task.REGRESSION:
        shift = (wanted - found).mean(axis=0)
    else:
        positive = wanted >= 0 if original.zero_is_positive else wanted > 0
        shift = np.array([best_shift(f, own) for f, own in zip(found.T, positive.T, strict=True)])
    return replace(reduced, intercept=reduced.intercept + shift)


def best_shift(f: Float64Array, positive: NDArray[np.bool_]) -> float:
    """Return what added to f gives the fewest wrong signs, the nearest to 0 of the best.

    Parameters
    ----------
    f : ndarray of shape (n,), float64
    positive : ndarray of shape (n,), bool
        The signs that are wanted.

    Returns
    -------
    float
        0 if nothing is better; otherwise the sign changes halfway between two values of f, or
        beyond all of them.
    """
    order = np.argsort(f)
    values, signs = f[order], positive[order]
    # Wrong signs if the first k values are negative.
    wrong = np.concatenate([[0], np.cumsum(signs)]) + np.concatenate(
        [np.cumsum(~signs[::-1])[::-1], [0]]
    )
    gaps = np.concatenate([[True], values[1:] > values[:-1], [True]])
    margin = (values[-1] - values[0]) / len(values) or 1.0
    edges = np.concatenate([[values[0] - 2 * margin], values, [values[-1] + 2 * margin]])
    cuts = (edges[:-1] + edges[1:]) / 2
    now = int(np.searchsorted(values, 0.0))
    best = wrong[gaps].min()
    if wrong[now] == best:
        return 0.0
    usable = np.flatnonzero(gaps & (wrong == best))
    return float(-cuts[usable[np.abs(cuts[usable]).argmin()]])
