"""The samples of a reduction: disjoint parts that fit, choose, and count disagreements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.candidates.samples import LEAST_SAMPLES, accepted_rows, that_count
from kmcompile.exits.statistical.near_copies import groups_of
from kmcompile.exits.statistical.risk import least_risk, samples_needed
from kmcompile.exits.statistical.training import training_points
from kmcompile.lower.formats import Lowered
from kmcompile.numeric.arrays import Float32Array
from kmcompile.request.plan import Plan

_SEED = 20041129
_SHARES = {True: (0.2, 0.1, 0.25), False: (0.3, 0.15, 0.55)}
"""Shares of the samples that fit, pick and hold, by whether early exits are calibrated on the rest.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Disjoint parts of the samples.

    Parameters
    ----------
    fit, pick, hold, rest : ndarray of shape (n, n_features), float32
        Samples to imitate, to choose a method by, to count disagreements on, and for early exits.
    """

    fit: Float32Array
    pick: Float32Array
    hold: Float32Array
    rest: Float32Array


def parts_of(lowered: Lowered, plan: Plan) -> Parts:
    """Return disjoint parts of the samples that the C accepts, near copies left out.

    Raises
    ------
    InputError
        If there are too few samples, or if the machine was trained on them.
    """
    X = plan.samples
    none = X[:0]
    if not len(X):
        return Parts(none, none, none, none)
    X = np.ascontiguousarray(X[accepted_rows(lowered.program.prepare, X)])
    _require_samples(len(X), None)
    groups = groups_of(X, lowered.machine)
    X = np.ascontiguousarray(X[groups.firsts])
    _require_samples(len(X), len(groups.first))
    if training_points(lowered.machine, X, groups.repeated_share).training:
        raise InputError(
            "--data holds the samples that the model was trained on: they do not show what a "
            "reduced machine says of others\ngive samples that the model never saw, or leave out "
            "--data"
        )
    order = np.random.default_rng(_SEED).permutation(len(X))
    ends = np.round(np.cumsum(_SHARES[plan.mode == "statistical"]) * len(X)).astype(int)
    fit, pick, hold, rest = np.split(order, ends)
    return Parts(*(np.ascontiguousarray(X[np.sort(rows)]) for rows in (fit, pick, hold, rest)))


def _require_samples(n: int, n_given: int | None) -> None:
    """Raise InputError if there are too few samples for their parts."""
    if n < LEAST_SAMPLES:
        raise InputError(
            f"--data has {n:,} usable samples{that_count(n, n_given)}, --reduce needs at least "
            f"{LEAST_SAMPLES}\ngive more samples, or use --reduce N without --data"
        )


def require_support(n: int, risk: float) -> None:
    """Raise InputError if n held-out samples support no risk as small as this one."""
    least = least_risk(n)
    if least > risk:
        share = n / samples_needed(risk)
        raise InputError(
            f"--reduce auto: {n:,} held-out samples support a disagreement in {100 * least:.2g} % "
            f"of the inputs, not in {100 * risk:.2g} %, even if they show none\n"
            f"ask for a --risk {least / risk:.2g} times as large, or give {1 / share:.2g} times as "
            "many samples"
        )
