"""The interpreter runs a Program in Python, stage by stage: the reference semantics of the C."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.answering import Answering, of_received
from kmcompile.program.cost import list_operations
from kmcompile.program.pieces import answering_pieces, pieces
from kmcompile.program.program import Program
from kmcompile.program.results import RESULT_DTYPE, Status
from kmcompile.program.schedule import schedule
from kmcompile.program.stages import PairSum
from kmcompile.program.telemetry import transitions

__all__ = [
    "RESULT_DTYPE",
    "Answers",
    "Inputs",
    "Status",
    "check",
    "classify",
    "interpret",
    "operations_alone",
    "prepared",
]

Inputs = NDArray[np.float32] | NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of a program to a batch of queries.

    Parameters
    ----------
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
    decisions : ndarray of shape (n_queries, n_decisions), float32
        The exact sums; 0 where the status is not OK.
    bounds : ndarray of shape (n_queries, n_decisions), float32
        Bounds on the errors of the decisions, which the C does not return.
    stage_operations : ndarray of shape (n_queries, n_stages), int64
        Multiply-adds of `classify` in each stage, all overhead included; -1 if the query did not
        reach the stage. In a program in integers, early exits in float32 count as the number of
        integer operations that take as many instructions.
    stage_kernels : ndarray of shape (n_queries, n_stages), int64
        Full kernel evaluations of `classify` in each stage; 0 if the query did not reach the stage.
    exact_operations : ndarray of shape (n_queries,), int64
        Multiply-adds of the query without early exits; 0 where the status is not OK.
    pairs : ndarray of shape (n_queries,), int64
        One-vs-one: the number of pairs of classes that `classify` sums before a replay. 0 if an
        early exit decides, and all pairs if the sum is not a pair sum.
    replay_operations : ndarray of shape (n_queries,), int64
        Multiply-adds in float64; 0 if the query was not replayed. No other count includes them.
    probabilities : ndarray of shape (n_queries, n_classes), float32, optional
        Probabilities of a calibrated machine; 0 where the status is not OK.
    probability_bounds : ndarray of shape (n_queries,), float32, optional
        Bounds on the errors of the probabilities.
    telemetry : ndarray of shape (n_queries, 2 n_words), uint32, optional
        What the harness counts of each answer (`telemetry.transitions`).
    steps : ndarray of shape (n_queries,), uint32, optional
        Calls of `step` in a query, if the program has it.
    """

    results: NDArray[np.void]
    decisions: Float32Array
    bounds: Float32Array
    stage_operations: NDArray[np.int64]
    stage_kernels: NDArray[np.int64]
    exact_operations: NDArray[np.int64]
    pairs: NDArray[np.int64]
    replay_operations: NDArray[np.int64]
    probabilities: Float32Array | None = None
    probability_bounds: Float32Array | None = None
    telemetry: NDArray[np.uint32] | None = None
    steps: NDArray[np.uint32] | None = None

    def chosen(self, rows: NDArray[np.intp]) -> Answers:
        """Return the answers to the chosen queries only."""
        values: list[Any] = [getattr(self, field.name) for field in fields(self)]
        chosen: list[Any] = [value if value is None else value[rows] for value in values]
        return Answers(*chosen)

    @property
    def operations(self) -> NDArray[np.int64]:
        """Multiply-adds of `classify` before a replay; 0 where the status is not OK."""
        total: NDArray[np.int64] = np.maximum(self.stage_operations, 0).sum(axis=1)
        return total


def interpret(program: Program, X: Inputs) -> Answers:
    """Return the answers of the C, bit for bit.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_queries, n_features), float32 or int64
        Any inputs, NaN included: an input that the C refuses is refused here. Integers are codes of
        a program in an integer format.
    """
    status, batch = prepared(program, X)
    accepted = status == Status.OK
    exact = program.ends.exact.run(of_received(program, batch))
    decisions = np.zeros((len(X), program.n_decisions), dtype=np.float32)
    bounds = np.zeros_like(decisions)
    decisions[accepted], bounds[accepted] = exact.decision, exact.bound
    made = Answering.of(program, status, batch, exact)
    alone = np.zeros(len(X), dtype=np.int64)
    alone[accepted] = _operations_alone(program, batch)
    answers = Answers(
        made.results,
        decisions,
        bounds,
        made.operations,
        made.kernels,
        alone,
        made.pairs,
        _replayed(program, made.results),
        steps=None if program.step is None else _steps(program, made.results, made.turns),
    )
    return _with_telemetry(program, _with_probabilities(program, answers))


def _steps(
    program: Program, results: NDArray[np.void], turns: NDArray[np.int32]
) -> NDArray[np.uint32]:
    """Return the steps of each query: those up to the piece that answers or refuses."""
    planned = schedule(program)
    by_stage = np.array([planned.steps_through(piece) for piece in answering_pieces(program)])
    refused = planned.steps_through(pieces(program)[0])
    answered = results["status"] == Status.OK
    steps = np.where(answered, by_stage[results["stage"]], refused)
    place = planned.pair_place
    if place is not None and isinstance(program.sum, PairSum):
        summed = answered & (results["stage"] >= len(program.early_exits))
        own = program.sum.steps_of(turns, place.most_kernels)
        steps = steps + np.where(summed, own - place.repeats, 0)
    return steps.astype(np.uint32)


def _with_probabilities(program: Program, answers: Answers) -> Answers:
    """Return the answers with the probabilities of a calibrated machine."""
    if program.probability is None:
        return answers
    probabilities, bounds = program.probability.of(answers.decisions, answers.bounds)
    refused = answers.results["status"] != Status.OK
    probabilities[refused], bounds[refused] = 0, 0
    return replace(answers, probabilities=probabilities, probability_bounds=bounds)


def _with_telemetry(program: Program, answers: Answers) -> Answers:
    """Return the answers with what is counted of each, if the program has telemetry."""
    if not program.telemetry:
        return answers
    return replace(answers, telemetry=transitions(program, answers.results))


def classify(
    program: Program, X: Inputs, max_kernel_evals: int = 0xFFFFFFFF
) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Return results and operations of `classify`, without exact sums of queries decided earlier.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_queries, n_features), float32
    max_kernel_evals : int
        The budget of the C's `classify_within`, for a program with certified exits.

    Returns
    -------
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
    operations : ndarray of shape (n_queries,), int64
    """
    status, batch = prepared(program, X)
    batch = replace(batch, allowed=np.full(len(batch), max_kernel_evals, dtype=np.uint32))
    made = Answering.of(program, status, batch)
    return made.results, np.maximum(made.operations, 0).sum(axis=1)


def operations_alone(program: Program, X: Inputs) -> NDArray[np.int64]:
    """Return the multiply-adds of each accepted query without early exits and without a replay."""
    return _operations_alone(program, prepared(program, X)[1])


def prepared(program: Program, X: Inputs) -> tuple[NDArray[np.int32], Batch]:
    """Return the status of each row, and the batch of the accepted rows after preprocessing."""
    prepare = program.prepare
    if X.dtype != np.float32:
        return _prepared_codes(program, X.astype(np.int64))
    X = X.astype(np.float32, copy=False)
    status = check(X, prepare.limit)
    finite = np.flatnonzero(status == Status.OK)
    batch = prepare.run(Batch.of(np.ascontiguousarray(X[finite]), program.n_decisions))
    beyond = prepare.beyond(batch)
    status[finite[beyond]] = Status.ERROR_RANGE
    batch = batch.chosen(~beyond)
    return status, replace(batch, operations=prepare.operations_of(batch))


def _prepared_codes(program: Program, codes: NDArray[np.int64]) -> tuple[NDArray[np.int32], Batch]:
    """Return the status of each row of codes, and the batch of the accepted rows."""
    table = program.codes
    assert table is not None
    inside = ((codes >= table.low) & (codes <= table.high)).all(axis=1)
    status = np.where(inside, np.int32(Status.OK), np.int32(Status.ERROR_RANGE))
    raw = np.ascontiguousarray(codes[inside]).astype(np.float32)
    batch = replace(Batch.of(raw, program.n_decisions), coded=np.ones(len(raw), dtype=bool))
    batch = program.prepare.run_codes(batch)
    spent = np.full(len(raw), program.n_features, dtype=np.int64)
    return status, replace(batch, operations=spent)


def _operations_alone(program: Program, batch: Batch) -> NDArray[np.int64]:
    """Return the multiply-adds of each prepared query without early exits."""
    ends = program.ends
    spent = batch.operations + ends.exact.operations_of(batch) + ends.label.operations()
    return spent + list_operations(program)


def _replayed(program: Program, results: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the operations of the replay of each query."""
    if program.replay is None:
        return np.zeros(len(results), dtype=np.int64)
    answered = (results["status"] == Status.OK) & (results["stage"] > len(program.early_exits))
    spent = program.replay.operations() + program.ends.label.operations()
    return np.where(answered, np.int64(spent), np.int64(0))


def check(X: Float32Array, limit: np.float32) -> NDArray[np.int32]:
    """Return the status of every row: OK, ERROR_NOT_FINITE or ERROR_RANGE."""
    largest = (np.ascontiguousarray(X).view(np.uint32) & np.uint32(0x7FFFFFFF)).max(axis=1)
    status = np.full(len(X), Status.OK, dtype=np.int32)
    status[largest > limit.view(np.uint32)] = Status.ERROR_RANGE
    status[largest >= 0x7F800000] = Status.ERROR_NOT_FINITE
    return status
