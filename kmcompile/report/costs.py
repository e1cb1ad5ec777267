"""The sections of the report on the stages and on the cost of a query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.cost import exact_operations, stage_worst_operations, worst_operations
from kmcompile.program.interpreter import Answers, Status
from kmcompile.program.program import Program
from kmcompile.program.stages import Stage
from kmcompile.report.missing import Content, Missing, known
from kmcompile.verify.checked import NO_LABELS
from kmcompile.verify.queries import Queries, Source

_NEVER, _NOT_HERE = "the stage never decides", "no query came here"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The accepted queries over which the report takes means, percentiles and shares.

    Parameters
    ----------
    source : {"test-data", "calibration", "held-out", "generated"}
    rows : ndarray of shape (n,), intp
        Their indices among all queries.
    answers : Answers
        The answers to these queries.
    """

    source: Source
    rows: NDArray[np.intp]
    answers: Answers

    def __len__(self) -> int:
        return len(self.rows)


def sample_of(answers: Answers, queries: Queries) -> Sample:
    """Return the user's samples if there are any, otherwise the generated queries."""
    accepted = np.flatnonzero(answers.results["status"] == Status.OK)
    source, rows = queries.source, accepted[accepted < queries.n_given]
    if not len(rows):
        source, rows = "generated", accepted[accepted < queries.n_ordinary]
    return Sample(source, rows, answers.chosen(rows))


def of_sample(found: np.ndarray, answers: Answers, sample: Sample) -> np.ndarray:
    """Return the values `found`, one for each accepted query, for the queries of the sample."""
    accepted = np.flatnonzero(answers.results["status"] == Status.OK)
    chosen: np.ndarray = found[np.searchsorted(accepted, sample.rows)]
    return chosen


def stages_section(program: Program, sample: Sample) -> list[Content]:
    """Return the section on what each stage decides, certifies and costs, the replay last.

    `reached`, `decided` and `certified` are shares of the queries; the certified shares of all
    stages add up to that of the program. `kernel_evals_mean` and `ops_mean` are of this stage over
    the queries that reach it; `ops_mean_decided` is of all stages up to this one over the queries
    that this one decides. The replay's operations are in float64.
    """
    answers = sample.answers
    found = []
    for number, stage in enumerate(program.stages):
        own = answers.stage_operations[:, number]
        here = own >= 0
        kernels = _mean(answers.stage_kernels[here, number])
        worst = stage_worst_operations(program, stage)
        found.append(_stage(program, stage, answers, here, own[here], kernels, worst))
    if program.replay is not None:
        stage = program.replay
        here = _left(program, stage, answers)
        kernels = float(stage.kernel_evaluations()) if here.any() else None
        worst = stage.operations() + program.ends.label.operations()
        own = answers.replay_operations[here]
        found.append(_stage(program, stage, answers, here, own, kernels, worst))
    return found


def cost_section(program: Program, sample: Sample, over_vectors: float | None = None) -> Content:
    """Return the section on operations and kernels of one query, the replay's apart.

    Operations are multiply-adds, all overhead included; in an integer format of integers, one in
    float32 counts as several, in proportion to its instructions. The replay's are in
    `max_ops_with_replay` and `replay_ops_mean` only: they are in float64, which is software on many
    boards. `speedup_kernels` is the papers' m/k: support vectors over the mean of max(k, 1), as the
    papers count at least one kernel for each query. No input exceeds the worst cases.

    Parameters
    ----------
    program : Program
    sample : Sample
    over_vectors : float, optional
        Mean operations of the sum over the support vectors, which the program's sum replaces: they
        are the operations of the exact sum alone.
    """
    answers = sample.answers
    operations, replays = answers.operations, answers.replay_operations
    kernels = answers.stage_kernels.sum(axis=1)
    exact = float(answers.exact_operations.mean()) if over_vectors is None else over_vectors
    exact_worst = float(exact_operations(program)) if over_vectors is None else over_vectors
    n_vectors = program.ends.exact.kernel_evaluations()
    with_replay = operations + replays
    if program.sums_at_once:
        operations = with_replay
    no_replay = Missing("the program has no replay") if program.replay is None else None
    no_pairs = None if program.ends.label.by_votes else Missing("there are no pairs of classes")
    return dict(
        exact_ops=exact,
        mean_ops=float(operations.mean()),
        p99_ops=float(np.percentile(operations, 99)),
        max_ops=float(operations.max()),
        max_ops_with_replay=no_replay or float(with_replay.max()),
        speedup_ops=exact / float(operations.mean()),
        kernel_evals_mean=float(kernels.mean()),
        speedup_kernels=n_vectors / float(np.maximum(kernels, 1).mean()),
        queries=len(sample),
        queries_source=sample.source,
        worst_ops=float(worst_operations(program)),
        exact_worst_ops=exact_worst,
        replay_ops_mean=no_replay or float(replays.mean()),
        kernel_evals_min=float(kernels.min()),
        kernel_evals_median=float(np.median(kernels)),
        kernel_evals_p99=float(np.percentile(kernels, 99)),
        kernel_evals_max=float(kernels.max()),
        pairs_mean=no_pairs or float(answers.pairs.mean()),
        pairs_max=no_pairs or float(answers.pairs.max()),
    )


def _stage(
    program: Program,
    stage: Stage,
    answers: Answers,
    here: NDArray[np.bool_],
    operations: NDArray[np.int64],
    kernels: float | None,
    worst: float,
) -> Content:
    """Return a stage that the queries `here` reach, and their operations in it."""
    never = Missing(_NEVER) if stage.exit is None else None
    left = np.zeros(len(here), dtype=bool) if never else _left(program, stage, answers)
    until = answers.operations[left]
    if stage is program.replay:
        until = until + answers.replay_operations[left]
    return dict(
        name=stage.name,
        exit=never or stage.exit,
        decided=never or float(left.mean()),
        certified=never or _certified(program, left, answers),
        kernel_evals_mean=known(kernels, _NOT_HERE),
        ops_mean=known(_mean(operations), _NOT_HERE),
        table_bytes=sum(table.n_bytes for table in stage.tables()),
        reached=float(here.mean()),
        ops_mean_decided=never or known(_mean(until), "no query left here"),
        ops_worst=float(worst),
    )


def _left(program: Program, stage: Stage, answers: Answers) -> NDArray[np.bool_]:
    """Return which queries the stage decides."""
    left: NDArray[np.bool_] = answers.results["stage"] == program.exit_stages.index(stage)
    return left


def _certified(program: Program, left: NDArray[np.bool_], answers: Answers) -> float | Missing:
    """Return the share of the queries that the stage decides with a certified label."""
    if program.is_regression:
        return Missing(NO_LABELS)
    return float((left & answers.results["certified"]).mean())


def _mean(values: NDArray[np.int64]) -> float | None:
    return float(values.mean()) if len(values) else None
