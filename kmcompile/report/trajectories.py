"""Trajectories: estimates and bounds of f(x) at each test of early exits, for some queries."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch, joined
from kmcompile.program.interpreter import Answers, prepared
from kmcompile.program.program import Program
from kmcompile.program.stages import Always, EarlyExit, Label
from kmcompile.report.costs import sample_of
from kmcompile.verify.queries import Queries

N_QUERIES = 32
_MOST_TESTS = 48  # of one query at one stage, the first and the last among them


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """The tests of some queries, one entry for each test, query by query in the order of tests.

    Parameters
    ----------
    stages : tuple of str
        The early exits.
    query, stage, number, kernels : ndarray of shape (n_tests,), int64
        Index of the query, its stage, the number of the test in the stage, and full kernel
        evaluations so far.
    estimate : ndarray of shape (n_tests,), float64
        Estimate of f at the test, divided by the query's spread if a reduced set gave one.
    lower, upper : ndarray of shape (n_tests,), float64
        Interval of f at the test; for many classes of the decision on which the label rests.
    low, high : ndarray of shape (n_tests,), float64
        Thresholds of `estimate`, equal for all queries; NaN in a certified test.
    decision : ndarray of shape (n_queries,), float64
        The exact decision value; for many classes the first one.
    early : ndarray of shape (n_queries,), bool
        Which queries an early exit decides.
    n_decisions : int
    tolerance : float or None
        Largest interval that settles a regression's query; None for a classifier.
    """

    stages: tuple[str, ...]
    query: NDArray[np.int64]
    stage: NDArray[np.int64]
    number: NDArray[np.int64]
    kernels: NDArray[np.int64]
    estimate: Float64Array
    lower: Float64Array
    upper: Float64Array
    low: Float64Array
    high: Float64Array
    decision: Float64Array
    early: NDArray[np.bool_]
    n_decisions: int
    tolerance: float | None

    @property
    def has_thresholds(self) -> bool:
        """Whether any test compares an estimate with thresholds."""
        return bool(np.isfinite(self.low).any())


def trajectories_of(program: Program, answers: Answers, queries: Queries) -> Trajectories | None:
    """Return the tests of some queries of the statistics; None if no early exit tests decisions."""
    if not program.early_exits:
        return None
    sample = sample_of(answers, queries)
    decision = sample.answers.decisions[:, 0].astype(np.float64)
    chosen = _chosen(decision, sample.answers.operations)
    _, firsts = np.unique(queries.X[sample.rows[chosen]], axis=0, return_index=True)
    chosen = chosen[np.sort(firsts)]  # the tests of a query are found by its input
    found = _tests(program, np.ascontiguousarray(queries.X[sample.rows[chosen]]))
    if not found:  # class scores have no decisions
        return None
    table = np.array(found, dtype=np.float64).reshape(len(found), 9)
    table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
    query, stage, number, kernels = table[:, :4].astype(np.int64).T
    estimate, lower, upper, low, high = table[:, 4:].T
    tolerance = program.ends.label.tolerance
    return Trajectories(
        stages=tuple(stage.name for stage in program.early_exits),
        query=query,
        stage=stage,
        number=number,
        kernels=kernels,
        estimate=estimate,
        lower=lower,
        upper=upper,
        low=low,
        high=high,
        decision=decision[chosen],
        early=sample.answers.results["stage"][chosen] < len(program.early_exits),
        n_decisions=program.n_decisions,
        tolerance=None if tolerance is None else float(tolerance),
    )


def _chosen(decision: Float64Array, operations: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the queries to draw: of both signs, from the cheapest to the most expensive."""
    parts = []
    for side in (decision > 0, decision <= 0):
        rows = np.flatnonzero(side)
        order = rows[np.lexsort((-np.abs(decision[rows]), operations[rows]))]
        even = np.linspace(0, len(order) - 1, min(N_QUERIES // 2, len(order)))
        parts.append(order[np.unique(even.astype(np.intp))])
    return np.concatenate(parts)


def _tests(program: Program, X: NDArray[np.float32]) -> list[tuple[float, ...]]:
    """Return (query, stage, number, kernels, estimate, lower, upper, low, high) of each test."""
    number_of = {row.tobytes(): number for number, row in enumerate(X)}
    seen: list[Batch] = []
    ends = replace(program.ends, label=_recording(program.ends.label, seen))
    _, batch = prepared(program, X)
    tests: list[tuple[float, ...]] = []
    for stage in program.exits:
        if isinstance(stage, Always):
            batch = stage.run(batch)
            continue
        assert isinstance(stage, EarlyExit)
        seen.clear()
        looked_at = batch.in_range
        part, decided = stage.decide(batch.chosen(looked_at), ends)
        batch = joined(batch.chosen(~looked_at), part.chosen(~decided))
        place = program.early_exits.index(stage)
        of_query: dict[int, list[tuple[float, ...]]] = {}
        for asked in seen:
            for row, raw in enumerate(asked.raw):
                mine = of_query.setdefault(number_of[raw.tobytes()], [])
                mine.append((len(mine), *_test(stage, asked, row, len(mine))))
        for query, mine in of_query.items():
            tests += [(query, place, *mine[number]) for number in _kept(len(mine))]
    return tests


def _kept(n_tests: int) -> list[int]:
    """Return which tests to keep: all of a few, or of many with growing distances."""
    if n_tests <= _MOST_TESTS:
        return list(range(n_tests))
    return [int(n) for n in np.unique(np.geomspace(1, n_tests, _MOST_TESTS).astype(int) - 1)]


def _test(stage: EarlyExit, asked: Batch, row: int, number: int) -> tuple[float, ...]:
    """Return (kernels, estimate, lower, upper, low, high) of a test of one query."""
    kernels, lower, upper = asked.kernel_evals[row], asked.lower[row], asked.upper[row]
    decision, bound = float(asked.decision[row, 0]), float(asked.bound[row, 0])
    if stage.is_certified or asked.decision.shape[1] > 1:
        return float(kernels), decision, float(lower), float(upper), np.nan, np.nan
    spread = float(asked.spread[row]) if stage.uses_spread else 1.0
    offset = stage.test_offset(number)
    half = bound / spread
    estimate = decision / spread + offset
    return float(kernels), estimate, float(lower), float(upper), offset - half, offset + half


def _recording(label: Label, seen: list[Batch]) -> Label:
    """Return the label stage with a record of all its answers in `seen`."""

    class Recording(type(label)):  # type: ignore[misc]  # it answers all questions as before
        def run(self, batch: Batch) -> Batch:
            answered: Batch = super().run(batch)
            seen.append(answered)
            return answered

    stage: Any = label
    values: dict[str, Any] = {field.name: getattr(label, field.name) for field in fields(stage)}
    recording: Label = Recording(**values)
    return recording
