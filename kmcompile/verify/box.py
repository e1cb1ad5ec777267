"""Check of certified labels and intervals at points within the input tolerance of queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import Reference, evaluate
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Answers, Status
from kmcompile.program.program import Program
from kmcompile.program.stages.tolerance.input_tolerance import InputTolerance
from kmcompile.steps import Affine, Clip, Columns, Extension, Projection, Step
from kmcompile.text.figures import counted
from kmcompile.verify.checked import WithinTolerance
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.intervals import decision_meant
from kmcompile.verify.outcomes import wrong_labels
from kmcompile.verify.queries import Queries

_SEED = 20260521
_CORNERS = 2
_INSIDE = 2
_STEPS = 3
"""Steps against the slope, each from where the one before has led: the second and third are where
a decision is bent."""
_RIVALS = 2
"""Decisions of a query that are attacked: the nearest to another label."""
_MOST_WORK = 4e10
"""Most multiply-adds of the float64 sums at these points."""
_INWARD = 1 - 2.0**-20
"""Keeps float64's rounding of x + T within the tolerance."""


def check_box(
    machine: KernelMachine, program: Program, queries: Queries, answers: Answers
) -> WithinTolerance:
    """Compare certified labels and intervals with the float64 model within the tolerance.

    For each query these points of its box are tried: corners and points inside, drawn with a fixed
    seed, and steps to the corners to which the slope of the decisions nearest to another label
    points.

    Parameters
    ----------
    machine : KernelMachine
        As it was trained.
    program : Program
        A program with an input tolerance.
    queries : Queries
    answers : Answers
        The interpreter's answers to the queries.

    Raises
    ------
    FailedCheckError
        If a certified label is another one somewhere within the tolerance, or a decision lies
        outside the interval.
    """
    box = program.box
    assert box is not None
    rows = _asked(machine, queries, answers)
    X = queries.X[rows].astype(np.float64)
    results = answers.results[rows]
    has_labels = machine.task is not Task.REGRESSION
    changed, reached = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
    n_points = 0
    for points in _points(machine, X, results["label"], box):
        reference = evaluate(machine, points)
        n_points += len(points)
        if has_labels:
            changed |= reference.labels != results["label"]
            _check_labels(machine, results, reference, rows)
        else:
            reached = np.maximum(reached, np.abs(reference.decisions[:, 0] - results["value"]))
        _check_intervals(machine, results, reference, rows)
    given = rows < (queries.n_given or queries.n_ordinary)
    if not given.any():
        given[:] = True
    half = (results["upper"].astype(np.float64) - results["lower"]) / 2
    at_x = _certified_at_x(program, answers, rows)
    return WithinTolerance(
        smallest=float(box.tolerance.min()),
        largest=float(box.tolerance.max()),
        queries=int(given.sum()),
        certified_share=float(results["certified"][given].mean()) if has_labels else None,
        certified_alone_share=float(at_x[given].mean()) if has_labels else None,
        changed_share=float(changed[given].mean()) if has_labels else None,
        mean_half_width=None if has_labels else float(half[given].mean()),
        mean_reached=None if has_labels else float(reached[given].mean()),
        points=n_points,
        wrong=0,
    )


def _asked(machine: KernelMachine, queries: Queries, answers: Answers) -> NDArray[np.intp]:
    """Return the accepted ordinary queries, as many as the work allows, the user's first."""
    accepted = np.flatnonzero(answers.results["status"][: queries.n_ordinary] == Status.OK)
    each = machine.support_vectors.size * (_CORNERS + _INSIDE + 2 * _RIVALS * _STEPS)
    most = max(32, int(_MOST_WORK // each))
    return accepted[:most]


def _certified_at_x(
    program: Program, answers: Answers, rows: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which labels the sums certify for the received input alone."""
    batch = Batch.of(np.zeros((len(rows), 1), np.float32), program.n_decisions)
    values = {"decision": answers.decisions[rows], "bound": answers.bounds[rows]}
    fields = {name: getattr(batch, name) for name in batch.__slots__}
    certified: NDArray[np.bool_] = program.ends.label.run(Batch(**(fields | values))).settled
    return certified


def _points(
    machine: KernelMachine, X: Float64Array, labels: NDArray[np.int32], box: InputTolerance
) -> Iterator[Float64Array]:
    """Yield points of the boxes, one for each query at a time."""
    T = box.tolerance * _INWARD
    rng = np.random.default_rng(_SEED)
    yield X
    for _ in range(_CORNERS):
        yield X + T * rng.choice((-1.0, 1.0), size=X.shape)
    for _ in range(_INSIDE):
        yield X + T * rng.uniform(-1.0, 1.0, size=X.shape)
    for toward in _directions(machine, evaluate(machine, X).decisions, labels):
        points = X
        for _ in range(_STEPS):
            points = X + T * np.sign(_slope(machine, points, toward))
            yield points


def _directions(
    machine: KernelMachine, decisions: Float64Array, labels: NDArray[np.int32]
) -> list[Float64Array]:
    """Return combinations of decisions that grow towards other labels, (n_queries, n_decisions)."""
    rows = np.arange(len(decisions))
    if machine.task is Task.REGRESSION:
        return [np.full_like(decisions, sign) for sign in (-1.0, 1.0)]
    if machine.task.has_one_sign:
        return [np.where(labels == 1, -1.0, 1.0)[:, None]]
    found = []
    n = machine.n_classes
    if machine.task is Task.ONE_VS_REST:
        order = np.argsort(-decisions, axis=1)
        for rank in range(min(_RIVALS, n - 1)):
            others = np.where(order[:, rank] == labels, order[:, -1], order[:, rank])
            toward = np.zeros_like(decisions)
            toward[rows, labels] = -1.0
            toward[rows, others] += 1.0
            found.append(toward)
        return found
    first, second = np.triu_indices(n, 1)
    own = np.where(first == labels[:, None], 1.0, np.where(second == labels[:, None], -1.0, 0.0))
    margin = np.where(own != 0, own * decisions, np.inf)
    order = np.argsort(margin, axis=1)
    for rank in range(min(_RIVALS, n - 1)):
        p = order[:, rank]
        toward = np.zeros_like(decisions)
        toward[rows, p] = -own[rows, p]
        found.append(toward)
    return found


def _slope(machine: KernelMachine, X: Float64Array, toward: Float64Array) -> Float64Array:
    """Return the slope of combined decisions by the raw features, shape (n_queries, n_features)."""
    coefficients = toward @ decision_coefficients(machine)
    vectors, kernel = machine.support_vectors, machine.kernel
    if kernel.is_gaussian:
        prepared = machine.prepare(X)
        weights = kernel.fast_values(vectors, prepared)[0] * coefficients
        moved = weights @ vectors - weights.sum(axis=1, keepdims=True) * prepared
        slope: Float64Array = 2 * kernel.gaussian_gamma * moved
    else:
        slope = kernel.gradient(machine.prepare(X), vectors, coefficients)
    for step in reversed(machine.preprocessing):
        slope = _pulled_back(step, slope)
    return slope


def _pulled_back(step: Step, slope: Float64Array) -> Float64Array:
    """Return the slope by the features before a step."""
    if isinstance(step, Affine):
        scaled: Float64Array = slope * step.factor
        return scaled
    if isinstance(step, Columns):
        before = np.zeros((len(slope), step.n_in))
        for number, column in enumerate(step.columns):
            before[:, column] += slope[:, number]
        return before
    if isinstance(step, Projection):
        of_all: Float64Array = slope @ step.matrix
        return of_all
    if isinstance(step, Extension):
        return slope[:, : step.n_in]
    assert isinstance(step, Clip), f"there is no slope before {step}"
    return slope


def _check_labels(
    machine: KernelMachine,
    results: NDArray[np.void],
    reference: Reference,
    rows: NDArray[np.intp],
) -> None:
    wrong = wrong_labels(machine, results, reference)
    if len(wrong):
        labels = counted(len(wrong), "certified label differs", "certified labels differ")
        said = machine.classes[results["label"][wrong[0]]]
        model = machine.classes[reference.labels[wrong[0]]]
        raise FailedCheckError(
            f"{labels} from the model's within the input tolerance\nfirst: query "
            f"{rows[wrong[0]]}, {said!r} is certified, near it the model says {model!r}",
            Finding(Broken.BOX, rows[wrong]),
        )


def _check_intervals(
    machine: KernelMachine,
    results: NDArray[np.void],
    reference: Reference,
    rows: NDArray[np.intp],
) -> None:
    f, error = decision_meant(machine, results, reference)
    lower, upper = (results[name].astype(np.float64) for name in ("lower", "upper"))
    holds = (lower - error <= f) & (f <= upper + error)  # a bound that is NaN fails
    missed = np.flatnonzero(~np.isnan(f) & ~holds)
    if len(missed):
        query = int(missed[0])
        raise FailedCheckError(
            f"{counted(len(missed), 'interval misses', 'intervals miss')} a decision within the "
            f"input tolerance\nfirst: query {rows[query]}, the interval is {lower[query]:.9g} to "
            f"{upper[query]:.9g}, near it the model says {f[query]:.17g}",
            Finding(Broken.BOX, rows[missed]),
        )
