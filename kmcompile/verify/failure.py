"""A few queries of a failed check, with the answers of interpreter, C and model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.emit.view import RECORD_HEADER_WORDS, answer_words
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import Reference, evaluate
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.interpreter import Answers, Status
from kmcompile.program.program import Program
from kmcompile.verify.avoiding import options_that_avoid
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.queries import Queries
from kmcompile.verify.records import records_of

MOST_KEPT = 16
"""Largest number of kept queries: enough to see a pattern, few enough to read and to send."""

_STATUS_WORDS = (0, 7)
"""Words of an answer in a record that hold the status of `classify` and of `decision`."""

REFUSED = "refused"
"""The text in place of the deciding stage if the interpreter answers with an error status."""


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """A failed check with the queries that show it.

    Parameters
    ----------
    finding : Finding
    n_asked : int
        Number of all queries.
    stages : mapping of stage name to int
        Number of failing queries that each stage decides in the interpreter.
    avoided_by : tuple of str
        Options of the command line that leave out the failed part; empty if no option does.
    rows : ndarray of shape (n_kept,), intp
        Indices of the kept queries among all queries: at least one of each deciding stage, within
        `MOST_KEPT`.
    origins : tuple of str
        Origin of each kept query: "test-data", "held-out", "calibration", "generated", or "edge"
        for inputs at the edges and on the paths.
    X : ndarray of shape (n_kept, n_features), float32
        The float inputs.
    codes : ndarray of shape (n_kept, n_features), int64, or None
        The codes beside the float inputs in an integer format.
    answers, of_codes : Answers or None
        The interpreter's answers to X and to the codes.
    expected, records : ndarray of shape (n_kept, record_words), uint32, or None
        The words of the harness by the interpreter and by the C; None if the C took no part in the
        check.
    model, model_of_codes : Reference or None
        The float64 model's answers at X and at the values of the codes; NaN for refused inputs.
        None without the model.
    """

    finding: Finding
    n_asked: int
    stages: Mapping[str, int]
    avoided_by: tuple[str, ...]
    rows: NDArray[np.intp]
    origins: tuple[str, ...]
    X: Float32Array
    codes: NDArray[np.int64] | None
    answers: Answers
    of_codes: Answers | None
    expected: NDArray[np.uint32]
    records: NDArray[np.uint32] | None
    model: Reference | None
    model_of_codes: Reference | None

    def __len__(self) -> int:
        """Return the number of kept queries."""
        return len(self.rows)


def failure_of(
    finding: Finding,
    machine: KernelMachine | None,
    program: Program,
    queries: Queries,
    answers: Answers,
    codes: NDArray[np.int64] | None = None,
    of_codes: Answers | None = None,
) -> Failure:
    """Return the queries that show a finding, with their answers.

    Parameters
    ----------
    finding : Finding
    machine : KernelMachine or None
        None without the model.
    program : Program
    queries : Queries
        All queries.
    answers, of_codes : Answers
        The interpreter's answers to all queries, and to the codes beside them in an integer format.
    codes : ndarray of shape (n_queries, n_features), int64, optional
    """
    expected = records_of(answers)
    if of_codes is not None:
        expected = np.hstack([expected, records_of(of_codes)])
    stages = _stages(finding, program, answers, of_codes, expected)
    names, counts = np.unique(stages, return_counts=True)
    shares = dict(zip(names.tolist(), counts.tolist(), strict=True))
    rows = finding.rows[_some_of_each(stages)]
    kept, kept_codes = queries.X[rows], None if codes is None else codes[rows]
    some, some_of_codes = answers.chosen(rows), None if of_codes is None else of_codes.chosen(rows)
    coded = None
    if kept_codes is not None and some_of_codes is not None and program.scale is not None:
        coded = _model(machine, program.scale.values(kept_codes), some_of_codes)
    return Failure(
        finding=finding,
        n_asked=len(queries.X),
        stages=shares,
        avoided_by=options_that_avoid(
            finding.broken, program, tuple(shares), _sum_differs(finding, program, expected)
        ),
        rows=rows,
        origins=tuple(_origin(queries, int(row)) for row in rows),
        X=kept,
        codes=kept_codes,
        answers=some,
        of_codes=some_of_codes,
        expected=expected[rows],
        records=None if finding.records is None else finding.records[rows],
        model=_model(machine, kept, some),
        model_of_codes=coded,
    )


def _stages(
    finding: Finding,
    program: Program,
    answers: Answers,
    of_codes: Answers | None,
    expected: NDArray[np.uint32],
) -> NDArray[np.str_]:
    """Return the name of the stage that decides each failing query, by the interpreter.

    In an integer format a query has two answers. If the answer to the floats is right, the stage of
    the answer to the codes counts.
    """
    rows = finding.rows
    names = np.array([*(stage.name for stage in program.exit_stages), REFUSED])
    by_codes = np.full(len(rows), finding.of_codes)
    if of_codes is not None and finding.records is not None:
        n = answer_words(program)
        by_codes = (expected[rows, :n] == finding.records[rows, :n]).all(axis=1)
    results = answers.results[rows]
    if of_codes is not None:
        results = np.where(by_codes, of_codes.results[rows], results)
    refused = results["status"] != Status.OK
    found: NDArray[np.str_] = names[np.where(refused, len(names) - 1, results["stage"])]
    return found


def _sum_differs(finding: Finding, program: Program, expected: NDArray[np.uint32]) -> bool:
    """Return whether the C differs from the interpreter in its exact sums or its statuses."""
    if finding.records is None:
        return finding.broken in (Broken.VALUE, Broken.PROBABILITY)
    different = expected != finding.records
    n = answer_words(program)
    sums = np.zeros(n, dtype=bool)
    sums[[*_STATUS_WORDS, *range(RECORD_HEADER_WORDS, n)]] = True
    own = np.tile(sums, different.shape[1] // n)
    return finding.broken is Broken.SELF_TEST or bool(different[:, own].any())


def _some_of_each(stages: NDArray[np.str_]) -> NDArray[np.intp]:
    """Return the indices of failing queries to keep, taken from each stage in turn."""
    turn = np.zeros(len(stages), dtype=np.intp)
    for name in np.unique(stages):
        here = stages == name
        turn[here] = np.arange(here.sum())
    return np.sort(np.argsort(turn, kind="stable")[:MOST_KEPT])


def _origin(queries: Queries, row: int) -> str:
    if row < queries.n_given:
        return queries.source
    return "generated" if row < queries.n_ordinary else "edge"


def _model(
    machine: KernelMachine | None, X: Float32Array | Float64Array, answers: Answers
) -> Reference | None:
    """Return the float64 model's answers to accepted inputs, and NaN and -1 for the others."""
    if machine is None:
        return None
    accepted = answers.results["status"] == Status.OK
    shape = (len(X), machine.n_decisions)
    decisions, magnitudes, error = (np.full(shape, np.nan) for _ in range(3))
    labels = np.full(len(X), -1)
    if accepted.any():
        found = evaluate(machine, X[accepted])
        decisions[accepted], magnitudes[accepted] = found.decisions, found.magnitudes
        error[accepted], labels[accepted] = found.error, found.labels
    return Reference(decisions, magnitudes, error, labels)
