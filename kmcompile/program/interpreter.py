"""The interpreter runs a Program in Python, stage by stage: the reference semantics of the C."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch, joined
from kmcompile.program.pieces import answering_pieces, pieces
from kmcompile.program.program import Program
from kmcompile.program.results import RESULT_DTYPE, Status
from kmcompile.program.schedule import schedule
from kmcompile.program.stages import Always, EarlyExit, Nonzeros, PairSum, Stage
from kmcompile.program.stages.labels.proved import proved
from kmcompile.program.stages.sums.vector_totals import VectorTotals
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
    exact = program.ends.exact.run(_of_received(program, batch))
    results = np.zeros(len(X), dtype=RESULT_DTYPE)
    results["status"] = status
    decisions = np.zeros((len(X), program.n_decisions), dtype=np.float32)
    bounds = np.zeros_like(decisions)
    operations = np.full((len(X), len(program.stages)), -1, dtype=np.int64)
    decisions[accepted], bounds[accepted] = exact.decision, exact.bound
    kernels = np.zeros_like(operations)
    pairs = np.zeros(len(X), dtype=np.int64)
    turns = np.zeros((len(X), program.n_decisions), dtype=np.int32)
    results[accepted], operations[accepted], kernels[accepted], pairs[accepted], turns[accepted] = (
        _classified(program, batch, exact)
    )
    alone = np.zeros(len(X), dtype=np.int64)
    alone[accepted] = _operations_alone(program, batch)
    replayed = _replayed(program, results)
    steps = None if program.step is None else _steps(program, results, turns)
    answers = Answers(
        results, decisions, bounds, operations, kernels, alone, pairs, replayed, steps=steps
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
    accepted = status == Status.OK
    results = np.zeros(len(X), dtype=RESULT_DTYPE)
    operations = np.zeros(len(X), dtype=np.int64)
    results["status"] = status
    results[accepted], by_stage, *_ = _classified(program, batch, None)
    operations[accepted] = np.maximum(by_stage, 0).sum(axis=1)
    return results, operations


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
    if isinstance(ends.exact, VectorTotals) and ends.exact.skip_zeros:
        lists = [stage for stage in program.stages if isinstance(stage, Nonzeros)]
        spent = spent + sum(stage.operations() for stage in lists)
    return spent


def _classified(
    program: Program, batch: Batch, exact: Batch | None
) -> tuple[
    NDArray[np.void], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]
]:
    """Return results, operations, kernels and pairs of a prepared batch, as `Answers` has them.

    The last array has the turns of a pair sum (`PairSum.vote`), 0 of other sums.

    Parameters
    ----------
    exact : Batch or None
        The batch after the exact sum, if it is known already.
    """
    ends = program.ends
    last = len(program.early_exits)
    results = np.zeros(len(batch), dtype=RESULT_DTYPE)
    operations = np.full((len(batch), len(program.stages)), -1, dtype=np.int64)
    operations[:, 0] = batch.operations
    operations[:, 0] += program.float_codes_operations
    kernels = np.zeros_like(operations)
    pairs = np.zeros(len(batch), dtype=np.int64)
    turns = np.zeros((len(batch), program.n_decisions), dtype=np.int32)
    places = np.arange(len(batch))
    usual = None if program.monitor is None else program.monitor.finds_usual(batch)
    for number, stage in enumerate(program.exits, start=1):
        weight = ends.weight(stage)
        if isinstance(stage, EarlyExit):
            # A proof holds for inputs that are out of the calibrated range, too.
            looked_at = batch.in_range if stage.is_calibrated else batch.in_range | True
            before = batch.chosen(looked_at)
            part, decided = stage.decide(before, ends)
            operations[places[looked_at], number] = weight * (part.operations - before.operations)
            kernels[places[looked_at], number] = part.kernel_evals - before.kernel_evals
            done = places[looked_at][decided]
            leaving = part.chosen(decided)
            results[done] = _results(leaving, program.exit_stages.index(stage), stage)
            batch = joined(batch.chosen(~looked_at), part.chosen(~decided))
            places = np.concatenate([places[~looked_at], places[looked_at][~decided]])
        else:
            assert isinstance(stage, Always)
            spent = weight * stage.operations_of(batch)
            operations[places, number] = spent
            batch = stage.run(batch)
            batch = replace(batch, operations=batch.operations + spent)
    needed = ends.exact.kernel_evaluations() - batch.known.astype(np.int64)
    stops = batch.allowed - batch.kernel_evals < needed
    if stops.any():
        rest = proved(batch.chosen(stops), ends.label)
        proofs = [stage for stage in program.early_exits if not stage.is_calibrated]
        number = program.exit_stages.index(proofs[-1])
        results[places[stops]] = _results(rest, number, proofs[-1])
        places, batch, needed = places[~stops], batch.chosen(~stops), needed[~stops]
    if program.replay is not None and program.replay.at_once:
        results[places] = _results(program.replay.run(batch), last + 1, program.replay)
        if usual is not None:
            results["in_range"] = usual
        return results, operations, kernels, pairs, turns
    if exact is None:
        summed = ends.exact.run(_of_received(program, batch))
    else:
        summed = exact.chosen(places)
        evaluated = summed.kernel_evals + batch.kernel_evals - batch.known
        summed = replace(summed, in_range=batch.in_range, kernel_evals=evaluated)
    if isinstance(ends.exact, PairSum):
        labelled, operations[places, -2], own = ends.exact.vote(batch, summed)
        turns[places], pairs[places] = own, np.count_nonzero(own, axis=1)
        operations[places, -1] = ends.exact.label_operations
        kernels[places, -2] = labelled.kernel_evals - batch.kernel_evals
    elif program.box is not None:
        labelled, of_box = program.box.run(batch, _of_received(program, summed), ends)
        operations[places, -2] = ends.exact.operations_of(batch) + of_box
        operations[places, -1] = ends.label.operations()
        kernels[places, -2] = labelled.kernel_evals - batch.kernel_evals
        pairs[places] = program.n_decisions
    else:
        labelled = ends.label.run(summed)
        operations[places, -2] = ends.exact.operations_of(batch)
        operations[places, -1] = ends.label.operations()
        kernels[places, -2] = labelled.kernel_evals - batch.kernel_evals
        pairs[places] = program.n_decisions
    results[places] = _results(labelled, last, ends.exact)
    if program.replay is not None:
        left = labelled.allowed - labelled.kernel_evals
        open_ = ~labelled.settled & (left >= program.replay.kernel_evaluations())
        answer = program.replay.run(labelled.chosen(open_))
        results[places[open_]] = _results(answer, last + 1, program.replay)
    if usual is not None:
        results["in_range"] = usual
    return results, operations, kernels, pairs, turns


def _of_received(program: Program, batch: Batch) -> Batch:
    """Return the batch for a sum: of the inputs as received, without those within a tolerance."""
    return batch if program.box is None else replace(batch, deviation=batch.received)


def _replayed(program: Program, results: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the operations of the replay of each query."""
    if program.replay is None:
        return np.zeros(len(results), dtype=np.int64)
    answered = (results["status"] == Status.OK) & (results["stage"] > len(program.early_exits))
    spent = program.replay.operations() + program.ends.label.operations()
    return np.where(answered, np.int64(spent), np.int64(0))


def _results(batch: Batch, stage_number: int, stage: Stage) -> NDArray[np.void]:
    results = np.zeros(len(batch), dtype=RESULT_DTYPE)
    results["label"], results["value"] = batch.label, batch.value
    results["lower"], results["upper"] = batch.lower, batch.upper
    results["kernel_evals"], results["stage"] = batch.kernel_evals, stage_number
    results["certified"] = batch.settled & (not stage.is_calibrated)
    results["in_range"] = batch.in_range
    return results


def check(X: Float32Array, limit: np.float32) -> NDArray[np.int32]:
    """Return the status of every row: OK, ERROR_NOT_FINITE or ERROR_RANGE."""
    largest = (np.ascontiguousarray(X).view(np.uint32) & np.uint32(0x7FFFFFFF)).max(axis=1)
    status = np.full(len(X), Status.OK, dtype=np.int32)
    status[largest > limit.view(np.uint32)] = Status.ERROR_RANGE
    status[largest >= 0x7F800000] = Status.ERROR_NOT_FINITE
    return status
