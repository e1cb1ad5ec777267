"""The registry of statistical exits: the fit of each kind, and the estimates of its tests."""

from __future__ import annotations

from typing import Any

from kmcompile.exits.statistical.class_scores_fit import ClassScoresFit
from kmcompile.exits.statistical.linear import LinearFilterFit
from kmcompile.exits.statistical.nearest import NearestVectorsFit
from kmcompile.exits.statistical.ratio import IntervalRatioFit
from kmcompile.exits.statistical.reduced_set_fit import ReducedSetFit
from kmcompile.exits.statistical.statistical_fit import StatisticalFit
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends

_FITS: list[StatisticalFit[Any]] = [
    ClassScoresFit(),
    LinearFilterFit(),
    ReducedSetFit(),
    NearestVectorsFit(),
    IntervalRatioFit(),
]
"""The fits, in the order in which their stages stand in a program; an interval's test stands behind
the certified exits."""


def statistical_fits() -> tuple[StatisticalFit[Any], ...]:
    """Return the fits of all kinds, in the order in which their stages stand in a program."""
    return tuple(_FITS)


def register_statistical_fit(fit: StatisticalFit[Any]) -> None:
    """Register one more kind of statistical exit; its stages stand before all others.

    Registering a fit twice changes nothing.

    Raises
    ------
    ValueError
        If another fit of this kind is registered.
    """
    known = {own.kind: own for own in _FITS}.get(fit.kind)
    if known is None:
        _FITS.insert(0, fit)
    elif type(known) is not type(fit):
        raise ValueError(f"{fit.kind.__name__} has another fit already: {type(known).__name__}")


def fit_of(stage: EarlyExit) -> StatisticalFit[Any]:
    """Return the fit of a stage's kind.

    Raises
    ------
    TypeError
        If no fit of this kind is registered.
    """
    for fit in _FITS:
        if type(stage) is fit.kind:
            return fit
    raise TypeError(f"{type(stage).__name__} has no fit; give it to register_exit")


def estimates_of(stage: EarlyExit, ends: Ends, x: Float32Array) -> Estimates:
    """Return the estimates of a stage's tests on prepared samples.

    Parameters
    ----------
    stage : EarlyExit
        The stage as it was fitted, without stages before it.
    x : ndarray of shape (n_samples, n_features), float32
    """
    return fit_of(stage).estimates(stage, ends, x)
