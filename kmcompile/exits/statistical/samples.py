"""Calibration samples: their parts, what the machine says to them, and whether it has seen them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.exits.candidates.samples import that_count
from kmcompile.exits.statistical.risk import (
    CONFIDENCE,
    Control,
    least_risk,
    rounded_up,
    samples_needed,
)
from kmcompile.exits.statistical.training import training_points
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import labels_of
from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen

CONTROL_SHARE = 0.55
CONTROL_ROOM = 1.02
"""Control samples beyond what the promise needs."""
LEAST_REST = 100
LEAST_REST_SHARE = 0.25
"""What shape and choice keep together, whatever the promise needs."""
SHAPE_SHARE = 0.7
"""Of the rest; the others are for choosing the stages."""

_SEED = 20031207
_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Disjoint parts of the samples, as indices.

    Parameters
    ----------
    shape, choice, control : ndarray of int
        The stages' shapes, their choice and the promise rest on one each.
    """

    shape: NDArray[np.intp]
    choice: NDArray[np.intp]
    control: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationSamples:
    """Samples with what the machine says to them.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
        Raw, as the C receives them.
    decisions : ndarray of shape (n, n_decisions), float64
        Of training data without the term of the sample's own vector.
    labels : ndarray of shape (n,), int64
        By the label rule of the task, from `decisions`.
    is_vector : ndarray of shape (n,), bool
        The sample is a support vector.
    training : bool
        They were trained on, so that no promise rests on them.
    """

    X: Float32Array
    decisions: Float64Array
    labels: NDArray[np.int64]
    is_vector: NDArray[np.bool_]
    training: bool

    def __post_init__(self) -> None:
        for name in ("X", "decisions", "labels", "is_vector"):
            array = getattr(self, name)
            object.__setattr__(self, name, frozen(array, array.dtype))

    def __len__(self) -> int:
        return len(self.X)


def split(
    n: int, risk: float | None, control: Control, group: NDArray[np.intp] | None = None
) -> Parts:
    """Return the parts of n samples, drawn with a fixed seed.

    No sample has a near copy in another part: a part takes in what is left of the group that
    it ends in.

    Parameters
    ----------
    n : int
        At least `candidates.samples.LEAST_SAMPLES`.
    risk : float or None
        The promise; None gives the control part its share and promises what that supports.
    control : {"guaranteed", "expected"}
    group : ndarray of shape (n,), int, optional
        A number for each group of near copies; without it each sample is one of its own.
    """
    order = np.random.default_rng(_SEED).permutation(n)
    n_control = _control_size(n, risk, control)
    n_shape = round((n - n_control) * SHAPE_SHARE)
    ends = np.cumsum([n_control, n_shape])
    if group is not None:
        order = _together(order, group)
        ends = _whole(ends, group[order])
    parts = np.split(order, ends)
    return Parts(shape=parts[1], choice=parts[2], control=parts[0])


def _together(order: NDArray[np.intp], group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order with each group where the first of its members stands."""
    _, first, inverse = np.unique(group[order], return_index=True, return_inverse=True)
    return order[np.argsort(first[inverse], kind="stable")]


def _whole(ends: NDArray[np.intp], group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the ends, later where one would part neighbours of the same group."""
    last = np.append(np.flatnonzero(group[1:] != group[:-1]) + 1, len(group))
    return last[np.searchsorted(last, ends)]


def _control_size(n: int, risk: float | None, control: Control) -> int:
    wanted = math.ceil(CONTROL_SHARE * n)
    if risk is not None:
        wanted = max(wanted, math.ceil(CONTROL_ROOM * samples_needed(risk, control)))
    return min(wanted, _largest_control(n))


def _largest_control(n: int) -> int:
    return n - max(LEAST_REST, math.ceil(LEAST_REST_SHARE * n))


def supported_risk(n: int, control: Control) -> float:
    """Return the risk that `--risk auto` takes for n samples, of two significant digits."""
    return rounded_up(least_risk(_control_size(n, None, control), control))


def require_support(n: int, risk: float, control: Control, n_given: int | None = None) -> None:
    """Refuse a risk that n samples cannot support, even without a disagreement.

    Parameters
    ----------
    n : int
        Samples that count.
    risk : float
    control : {"guaranteed", "expected"}
    n_given : int, optional
        With those that repeat others, or nearly; n without it.

    Raises
    ------
    InputError
        Names the risk that they do support, and the one to ask for.

    Examples
    --------
    >>> require_support(2000, 0.001, "guaranteed")
    Traceback (most recent call last):
    kmcompile.errors.InputError: 1,500 control samples of the 2,000 in --data support a risk of \
0.0031 at 99 % confidence, not 0.001
    ask for --risk 0.0031 or --risk auto, or give at least 6,138 samples
    """
    most, needed = _largest_control(n), samples_needed(risk, control)
    if needed <= most:
        return
    enough = max(needed + LEAST_REST, math.ceil(needed / (1 - LEAST_REST_SHARE)))
    supported = rounded_up(least_risk(most, control))
    kind = f"at {100 * CONFIDENCE:g} % confidence" if control == "guaranteed" else "in expectation"
    copies = n_given is not None and n_given > n
    raise InputError(
        f"{most:,} control samples of the {n:,} in --data{that_count(n, n_given)} support a risk "
        f"of {supported:g} {kind}, not {risk:g}\n"
        f"ask for --risk {supported:g} or --risk auto, or give at least {enough:,} samples"
        f"{', none nearly a copy of another' if copies else ''}"
    )


def calibration_samples(
    machine: KernelMachine, X: Float32Array, repeated: float | None = None
) -> CalibrationSamples:
    """Return the samples with the machine's decisions and labels.

    A support vector's own term pulls its decision to its side, by alpha K(s, s); what the
    machine was trained on is judged without it (leave one out).

    Parameters
    ----------
    machine : KernelMachine
        After the passes: every vector is there once a class.
    X : ndarray of shape (n, n_features), float32
        Accepted by the C.
    repeated : float, optional
        The share of samples that repeat others, or nearly, before each counted once; by default
        that of X.
    """
    points = training_points(machine, X, repeated)
    decisions = decision_values(machine, X, points.vector if points.training else None)
    labels = labels_of(machine, decisions)
    return CalibrationSamples(X, decisions, labels, points.vector >= 0, points.training)


def decision_values(
    machine: KernelMachine, X: Float32Array, left_out: NDArray[np.int64] | None = None
) -> Float64Array:
    """Return the float64 decisions, those of `model.reference` without their error bounds.

    Parameters
    ----------
    machine : KernelMachine
    X : ndarray of shape (n, n_features), float32
    left_out : ndarray of shape (n,), int64, optional
        The vector whose term a sample does without, or -1.

    Returns
    -------
    ndarray of shape (n, n_decisions), float64
    """
    coefficients = decision_coefficients(machine).T
    decisions = np.empty((len(X), machine.n_decisions))
    rows = max(1, _BLOCK_VALUES // max(machine.n_features, *machine.support_vectors.shape))
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        prepared = machine.prepare(X[part].astype(np.float64))
        values, _ = machine.kernel.fast_values(machine.support_vectors, prepared)
        if left_out is not None:
            own = np.flatnonzero(left_out[part] >= 0)
            values[own, left_out[part][own]] = 0.0
        decisions[part] = values @ coefficients + machine.intercept
    return decisions
