"""Calibration samples: their disjoint parts, the machine's decisions, and leave-one-out values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import FewSamplesError
from kmcompile.exits.candidates.samples import that_count
from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.calibration import Of
from kmcompile.exits.statistical.readings import Evidence, set_aside
from kmcompile.exits.statistical.risk import (
    Control,
    least_risk,
    rounded_up,
    samples_needed,
)
from kmcompile.exits.statistical.training import TrainingPoints, training_points
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate, labels_of
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen
from kmcompile.passes import run_passes
from kmcompile.request.counted import Counted

CONTROL_SHARE = 0.55
CONTROL_ROOM = 1.02
"""Control samples that are drawn, as a multiple of those that the promise needs."""
LEAST_REST = 100
LEAST_REST_SHARE = 0.25
"""Least share of the samples for shape and choice together, whatever the promise needs, but for the
disagreement of `ENOUGH_REST`."""
ENOUGH_REST, ENOUGH_SHARE = 1000, 0.125
"""Samples for shape and choice, and their share, beside which the control part of a guaranteed risk
may grow until it allows one disagreement: one unusual control sample then no longer widens every
band. On the MNIST pairs this saves more than a larger shape part."""
SHAPE_SHARE = 0.7
"""Share of the shape part in the samples outside the control part; the rest is the choice part."""

_SEED = 20031207
_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Disjoint parts of the samples, as indices.

    Parameters
    ----------
    shape, choice : ndarray of int
        Samples to fit the shapes of the stages, and to choose among them.
    control : Evidence
        Samples to support the promise.
    """

    shape: NDArray[np.intp]
    choice: NDArray[np.intp]
    control: Evidence

    def within(self, here: NDArray[np.bool_]) -> Parts:
        """Return the parts of the samples that are here, as indices of these."""
        place = np.cumsum(here) - 1
        control, kept = self.control, here[self.control.rows]
        held = Evidence(place[control.rows[kept]], control.every[kept], control.once[kept])
        shape, choice = (place[rows[here[rows]]] for rows in (self.shape, self.choice))
        return Parts(shape, choice, held)


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationSamples:
    """Samples with the machine's decisions and labels.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
        Raw samples, as the C receives them.
    decisions : ndarray of shape (n, n_decisions), float64
        The machine's decisions; for training data, without the term of the sample's own vector.
    labels : ndarray of shape (n,), int64
        Labels from `decisions`, by the label rule of the task.
    trained_labels : ndarray of shape (n,), int64
        The labels that a promise is about. They differ from `labels` only where a reduced machine
        and the trained machine that it stands for do.
    is_vector : ndarray of shape (n,), bool
        Whether the sample is a support vector.
    training : bool
        Whether the machine was trained on the samples; they then support no promise.
    """

    X: Float32Array
    decisions: Float64Array
    labels: NDArray[np.int64]
    trained_labels: NDArray[np.int64]
    is_vector: NDArray[np.bool_]
    training: bool

    def __post_init__(self) -> None:
        for name in ("X", "decisions", "labels", "trained_labels", "is_vector"):
            array = getattr(self, name)
            object.__setattr__(self, name, frozen(array, array.dtype))

    def __len__(self) -> int:
        return len(self.X)


def split(n: int, risk: float | None, control: Control, of: Of = "risk") -> Parts:
    """Return the parts of n samples that do not repeat each other, drawn with a fixed seed.

    Parameters
    ----------
    n : int
        At least `candidates.samples.LEAST_SAMPLES`.
    risk : float or None
        The risk to promise; None: the control part gets its usual share, which determines the risk.
    control : {"guaranteed", "expected"}
    of : {"risk", "loss"}
    """
    order = np.random.default_rng(_SEED).permutation(n)
    n_control = _control_size(n, risk, control, of)
    n_shape = round((n - n_control) * SHAPE_SHARE)
    held, shape, choice = np.split(order, np.cumsum([n_control, n_shape]))
    return Parts(shape, choice, Evidence.of(held))


def split_repeated(group: NDArray[np.intp], counted: Counted) -> Parts:
    """Return the parts of samples of which some repeat others, drawn with a fixed seed.

    Half of the samples and half of the groups are control samples, as in `readings`. The other
    parts have one sample of each group that they may see.

    Parameters
    ----------
    group : ndarray of shape (n,), int
        For each sample the index of the first sample of its group.
    counted : Counted
        What counts of the samples.
    """
    rng = np.random.default_rng(_SEED)
    aside = set_aside(group, 0.5, rng).where(counted)
    seen = np.flatnonzero(aside.seen)
    _, first = np.unique(group[seen], return_index=True)
    taught = rng.permutation(seen[first])
    n_shape = round(len(taught) * SHAPE_SHARE)
    return Parts(taught[:n_shape], taught[n_shape:], aside.evidence)


def _control_size(n: int, risk: float | None, control: Control, of: Of) -> int:
    wanted = math.ceil(CONTROL_SHARE * n)
    if risk is not None:
        wanted = max(wanted, math.ceil(CONTROL_ROOM * samples_needed(risk, control, 0, of)))
        with_one = samples_needed(risk, control, 1, of)
        rest = max(ENOUGH_REST, math.ceil(ENOUGH_SHARE * n))
        if control == "guaranteed" and with_one <= n - rest:
            return max(wanted, with_one)
    return min(wanted, _largest_control(n))


def _largest_control(n: int) -> int:
    return n - max(LEAST_REST, math.ceil(LEAST_REST_SHARE * n))


def supported_risk(
    n: int, control: Control, n_control: int | None = None, of: Of = "risk"
) -> float:
    """Return the risk or loss of `auto` for n samples, rounded up to two significant digits.

    By default the control part has its usual share of them.
    """
    size = _control_size(n, None, control, of) if n_control is None else n_control
    return rounded_up(least_risk(size, control, of) if size else 1.0)


def require_support(
    n: int,
    risk: float,
    control: Control,
    n_given: int | None = None,
    n_control: int | None = None,
    of: Of = "risk",
    only_numbers: bool = False,
) -> None:
    """Raise an error if n samples cannot support a risk or loss, even without a disagreement.

    Parameters
    ----------
    n : int
        Number of usable samples.
    risk : float
    control : {"guaranteed", "expected"}
    n_given : int, optional
        Number of samples before repeated and nearly repeated ones were left out; default n.
    n_control : int, optional
        Number of control samples; by default as many as n samples may have.
    of : {"risk", "loss"}
    only_numbers : bool
        Whether it must be a guaranteed number.

    Raises
    ------
    FewSamplesError
        The message names the risk that the samples support, and the option to use.

    Examples
    --------
    >>> require_support(2000, 0.001, "guaranteed")
    Traceback (most recent call last):
    kmcompile.errors.FewSamplesError: 1,500 control samples of the 2,000 in --data support a risk \
of 0.0031 at 99 % confidence, not 0.001
    ask for --risk 0.0031 or --risk auto or --risk-control expected for 0.001 on average, or give \
at least 6,138 samples
    """
    most = _largest_control(n) if n_control is None else n_control
    needed = samples_needed(risk, control, 0, of)
    if needed <= most:
        return
    enough = max(needed + LEAST_REST, math.ceil(needed / (1 - LEAST_REST_SHARE)))
    alone = "" if n_given is None or n_given <= n else ", none nearly a copy of another"
    if n_control is not None:  # half of the samples, give or take four deviations
        enough, alone = 2 * needed + math.ceil(4 * math.sqrt(needed)), " that count"
    supported = rounded_up(least_risk(most, control, of)) if most else 1.0
    kind = f"at {100 * CONFIDENCE:g} % confidence" if control == "guaranteed" else "in expectation"
    average = "" if only_numbers else f" or --{of} auto"
    expected = samples_needed(risk, "expected", 0, of)
    if not only_numbers and control == "guaranteed" and expected <= most:
        average += f" or --risk-control expected for {risk:g} on average"
    raise FewSamplesError(
        f"{most:,} control samples of the {n:,} in --data{that_count(n, n_given)} support a {of} "
        f"of {supported:g} {kind}, not {risk:.15g}\n"
        f"ask for --{of} {supported:g}{average}, or give at least {enough:,} "
        f"samples{alone}"
    )


def calibration_samples(
    machine: KernelMachine, X: Float32Array, points: TrainingPoints | None = None
) -> CalibrationSamples:
    """Return the samples with the machine's decisions and labels.

    The own term of a support vector, alpha K(s, s), pulls its decision to its side. Samples on
    which the machine was trained are therefore judged without this term (leave one out).

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes: every vector occurs at most once in a class.
    X : ndarray of shape (n, n_features), float32
        Samples that the C accepts.
    points : TrainingPoints, optional
        Which of the samples are vectors of the trained machine; by default it is looked for.
    """
    trained = trained_of(machine)
    points = points or training_points(trained, X)
    decisions = decision_values(trained, X, points.vector if points.training else None)
    trained_labels = labels_of(trained, decisions)
    if trained is not machine:
        decisions = decision_values(machine, X)
    labels = labels_of(machine, decisions)
    is_vector = points.vector >= 0
    return CalibrationSamples(X, decisions, labels, trained_labels, is_vector, points.training)


def trained_of(machine: KernelMachine) -> KernelMachine:
    """Return the trained machine after the passes that a reduced machine stands for, or itself."""
    stands_for = machine.reduced_from
    return machine if stands_for is None else run_passes(stands_for.machine)


def decision_values(
    machine: KernelMachine, X: Float32Array, left_out: NDArray[np.int64] | None = None
) -> Float64Array:
    """Return the float64 decisions, as `model.reference` does but without error bounds.

    Parameters
    ----------
    machine : KernelMachine
    X : ndarray of shape (n, n_features), float32
    left_out : ndarray of shape (n,), int64, optional
        For each sample, the index of the vector whose term is left out, or -1.

    Returns
    -------
    ndarray of shape (n, n_decisions), float64
    """
    if machine.routing is not None:
        return _routed_decisions(machine, machine.routing, X, left_out)
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


def _routed_decisions(
    machine: KernelMachine, routing: Routing, X: Float32Array, left_out: NDArray[np.int64] | None
) -> Float64Array:
    """Return the decisions of the queries' leaves, as `decision_values`.

    Of a sample whose vector is left out, its terms in its own leaf are.
    """
    decisions = evaluate(machine, X).decisions.copy()
    if left_out is None:
        return decisions
    rows = np.flatnonzero(left_out >= 0)
    prepared = machine.prepare(X[rows].astype(np.float64))
    leaves = routing.walk(prepared).leaf
    for row, x, leaf in zip(rows, prepared, leaves, strict=True):
        own, vector = routing.members(leaf), machine.support_vectors[left_out[row]]
        equal = (machine.support_vectors[own] == vector).all(axis=1)
        value = machine.kernel.fast_values(vector[None], x[None])[0][0, 0]
        decisions[row] -= machine.dual_coef[:, own][:, equal].sum(axis=1) * value
    return decisions
