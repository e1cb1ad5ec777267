"""The calibration samples in parts, which are the same whatever program is made with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import FewSamplesError
from kmcompile.exits.candidates.samples import accepted_rows, require_samples
from kmcompile.exits.statistical.near_copies import Groups, groups_of
from kmcompile.exits.statistical.samples import (
    Parts,
    require_support,
    split,
    split_repeated,
    supported_risk,
)
from kmcompile.exits.statistical.training import TrainingPoints, training_points
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages import Prepare
from kmcompile.request.counted import Counted
from kmcompile.request.plan import Plan

_MOST_RISK = 0.01
"""Largest risk that is promised where the samples are too few for the default risk."""


@dataclass(frozen=True, slots=True, eq=False)
class Parted:
    """The calibration samples that the C accepts.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
    truth : ndarray of shape (n,), int64, or None
        Their right labels, where a loss is promised.
    first : ndarray of shape (n,), int
        The index of the first sample of each sample's group of near copies.
    points : TrainingPoints
        Which samples are vectors of the trained machine.
    n_refused : int
        Samples that the C refuses.
    parts : Parts
        Indices of X.
    risk : float
        The risk or loss to promise.
    notes : tuple of str
        On the parts and the risk.
    """

    X: Float32Array
    truth: NDArray[np.int64] | None
    first: NDArray[np.intp]
    points: TrainingPoints
    n_refused: int
    parts: Parts
    risk: float
    notes: tuple[str, ...]


def parted(
    trained: KernelMachine,
    prepare: Prepare,
    plan: Plan,
    tell: Callable[[str], None],
    usual_shares: bool = False,
) -> Parted:
    """Return the calibration samples in parts.

    Which part a sample is in does not depend on the program: what one program refuses is missing
    from its parts and in the same part of another. A machine of fewer vectors and its early exits
    have the same control samples therefore.

    Parameters
    ----------
    trained : KernelMachine
        The trained machine after the passes.
    prepare : Prepare
        The first stage of the program.
    plan : Plan
        Must have samples.
    tell : callable
        Called with a few words as each step begins.
    usual_shares : bool
        Whether the parts do not depend on the risk: then the control part does not grow for it.

    Raises
    ------
    FewSamplesError
        If there are too few samples, or too few for the risk.
    """
    readable = np.isfinite(plan.samples).all(axis=1)
    accepted = accepted_rows(prepare, plan.samples)
    require_samples(int(accepted.sum()))
    tell("looking for near copies among the calibration samples")
    every = np.ascontiguousarray(plan.samples[readable])
    groups, here = groups_of(every, trained), accepted[readable]
    X, first = np.ascontiguousarray(every[here]), _first_of(groups, here)
    n_groups = len(np.unique(first))
    require_samples(n_groups, n_given=len(X))
    points = training_points(trained, X, groups.repeated_share)
    counted = None if plan.counted is None else plan.counted.of(np.flatnonzero(readable))
    parts, risk, notes = _parts(
        plan, groups, here, n_groups, counted, points.training, usual_shares
    )
    truth = None if plan.truth is None else plan.truth[accepted]
    refused = int((~accepted).sum())
    return Parted(X, truth, first, points, refused, parts, risk, notes)


def _first_of(groups: Groups, rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first sample of each sample's group among some of the samples."""
    _, first, group = np.unique(groups.first[rows], return_index=True, return_inverse=True)
    return np.asarray(first[group], dtype=np.intp)


def _parts(
    plan: Plan,
    groups: Groups,
    here: NDArray[np.bool_],
    n_groups: int,
    counted: Counted | None,
    training: bool,
    usual_shares: bool,
) -> tuple[Parts, float, tuple[str, ...]]:
    """Return the parts of the samples that are here, the risk to promise, and notes on both."""
    n_every, n, control = len(here), int(here.sum()), plan.promise.control
    if len(groups.firsts) == n_every and counted is None:
        size, notes = (None, ()) if usual_shares else _risk(plan, n_every, training)
        parts = split(n_every, size, control, plan.promise.what).within(here)
        if size is not None and n == n_every:
            return parts, size, notes
        risk, notes = _risk(plan, n, training, n, parts.control.n)
        return parts, risk, notes
    parts = split_repeated(groups.first, counted or Counted.whole(n_every)).within(here)
    n_control = parts.control.n
    risk, notes = _risk(plan, n_groups, training, n, n_control)
    told = (
        f"{n - n_groups:,} of the {n:,} calibration samples repeat others, or nearly: each of them "
        f"counts, and each group of them counts once, whichever is worse; in the control part at "
        f"least {n_control:,} count"
    )
    return parts, risk, (*notes, told)


def _risk(
    plan: Plan,
    n: int,
    training: bool,
    n_given: int | None = None,
    n_control: int | None = None,
) -> tuple[float, tuple[str, ...]]:
    """Return the risk to promise, and a note if it is not the default one for want of samples."""
    asked = plan.promise
    supported = supported_risk(n, asked.control, n_control, asked.what)
    is_open = asked.risk_is == "auto" or asked.thresholds != "risk"
    if is_open or (training and asked.risk_is == "default"):
        return supported, ()
    if training:  # the program then has no promise
        return asked.risk, ()
    try:
        only_numbers = plan.options.reduce == "auto"
        require_support(n, asked.risk, asked.control, n_given, n_control, asked.what, only_numbers)
    except FewSamplesError as error:
        if not plan.mode_is_default or supported > _MOST_RISK:
            raise
        few = str(error).split("\nask for")[0]
        return supported, (f"the promised risk is {supported:g}: {few}",)
    return asked.risk, ()
