"""The sections of the report on the stages and on the cost of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.cost import exact_operations, stage_worst_operations, worst_operations
from kmcompile.program.interpreter import Answers, Status
from kmcompile.program.program import Program
from kmcompile.program.stages import Replay, Stage, Vote
from kmcompile.report import contents
from kmcompile.report.section import Section
from kmcompile.verify.checked import NO_LABELS
from kmcompile.verify.queries import Queries, Source

_NEVER = "the stage never decides"


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


def stages_section(program: Program, sample: Sample) -> Section[list[contents.Stage]]:
    """Return the section on what each stage decides, certifies and costs, the replay last."""
    found = [_stage(program, number, sample) for number in range(len(program.stages))]
    if program.replay is not None:
        found.append(_replay(program, program.replay, sample))
    reasons: dict[str, str] = {}
    for stage in found:
        reasons |= stage.not_available
    return Section([stage.content for stage in found], reasons)


def cost_section(
    program: Program, sample: Sample, over_vectors: float | None = None
) -> Section[contents.Cost]:
    """Return the section on operations and kernels of one query, the replay's apart.

    Parameters
    ----------
    program : Program
    sample : Sample
    over_vectors : float, optional
        Mean operations of the sum over the support vectors, which the program's sum replaces: they
        are the operations of the exact sum alone.
    """
    reasons = {}
    answers = sample.answers
    operations = answers.operations
    kernels = answers.stage_kernels.sum(axis=1)
    exact = float(answers.exact_operations.mean()) if over_vectors is None else over_vectors
    exact_worst = float(exact_operations(program)) if over_vectors is None else over_vectors
    n_vectors = program.ends.exact.kernel_evaluations()
    with_replay = operations + answers.replay_operations
    if program.sums_at_once:
        operations = with_replay
    replay_mean, most_with_replay = None, None
    if program.replay is None:
        for name in ("max_ops_with_replay", "replay_ops_mean"):
            reasons[f"cost.{name}"] = "the program has no replay"
    else:
        replay_mean = float(answers.replay_operations.mean())
        most_with_replay = float(with_replay.max())
    votes = isinstance(program.ends.label, Vote)
    if not votes:
        for name in ("pairs_mean", "pairs_max"):
            reasons[f"cost.{name}"] = "there are no pairs of classes"
    content = contents.Cost(
        exact_ops=exact,
        mean_ops=float(operations.mean()),
        p99_ops=float(np.percentile(operations, 99)),
        max_ops=float(operations.max()),
        max_ops_with_replay=most_with_replay,
        speedup_ops=exact / float(operations.mean()),
        kernel_evals_mean=float(kernels.mean()),
        speedup_kernels=n_vectors / float(np.maximum(kernels, 1).mean()),
        queries=len(sample),
        queries_source=sample.source,
        worst_ops=float(worst_operations(program)),
        exact_worst_ops=exact_worst,
        replay_ops_mean=replay_mean,
        kernel_evals_min=float(kernels.min()),
        kernel_evals_median=float(np.median(kernels)),
        kernel_evals_p99=float(np.percentile(kernels, 99)),
        kernel_evals_max=float(kernels.max()),
        pairs_mean=float(answers.pairs.mean()) if votes else None,
        pairs_max=float(answers.pairs.max()) if votes else None,
    )
    return Section(content, reasons)


def _stage(program: Program, number: int, sample: Sample) -> Section[contents.Stage]:
    stage, answers = program.stages[number], sample.answers
    own = answers.stage_operations[:, number]
    reached = own >= 0
    exits = stage.exit is not None
    left = _left(program, stage, answers) if exits else np.zeros(len(sample), dtype=bool)
    means = {
        "kernel_evals_mean": _mean(answers.stage_kernels[reached, number]),
        "ops_mean": _mean(own[reached]),
        "ops_mean_decided": _mean(answers.operations[left]),
    }
    reasons = _unknown(stage, means)
    if not exits:
        fields = ("exit", "decided", "certified", "ops_mean_decided")
        reasons |= {f"stages.{stage.name}.{name}": _NEVER for name in fields}
    elif program.is_regression:
        reasons[f"stages.{stage.name}.certified"] = NO_LABELS
    content = contents.Stage(
        name=stage.name,
        exit=cast("contents.Exit | None", stage.exit),
        decided=float(left.mean()) if exits else None,
        certified=_certified(program, left, answers) if exits else None,
        table_bytes=sum(table.n_bytes for table in stage.tables()),
        reached=float(reached.mean()),
        ops_worst=float(stage_worst_operations(program, stage)),
        **means,
    )
    return Section(content, reasons)


def _replay(program: Program, stage: Replay, sample: Sample) -> Section[contents.Stage]:
    """Return the replay as a stage, which decides every query that reaches it."""
    answers = sample.answers
    here = _left(program, stage, answers)
    label = program.ends.label.operations()
    means = {
        "kernel_evals_mean": float(stage.kernel_evaluations()) if here.any() else None,
        "ops_mean": _mean(answers.replay_operations[here]),
        "ops_mean_decided": _mean((answers.operations + answers.replay_operations)[here]),
    }
    reasons = _unknown(stage, means)
    if program.is_regression:
        reasons[f"stages.{stage.name}.certified"] = NO_LABELS
    content = contents.Stage(
        name=stage.name,
        exit=cast("contents.Exit | None", stage.exit),
        decided=float(here.mean()),
        certified=_certified(program, here, answers),
        table_bytes=sum(table.n_bytes for table in stage.tables()),
        reached=float(here.mean()),
        ops_worst=float(stage.operations() + label),
        **means,
    )
    return Section(content, reasons)


def _left(program: Program, stage: Stage, answers: Answers) -> NDArray[np.bool_]:
    """Return which queries the stage decides."""
    left: NDArray[np.bool_] = answers.results["stage"] == program.exit_stages.index(stage)
    return left


def _certified(program: Program, left: NDArray[np.bool_], answers: Answers) -> float | None:
    """Return the share of the queries that the stage decides with a certified label."""
    if program.is_regression:
        return None
    return float((left & answers.results["certified"]).mean())


def _unknown(stage: Stage, means: dict[str, float | None]) -> dict[str, str]:
    """Return the means of a stage that are null, and why each is null."""
    why = {"ops_mean_decided": "no query left here"}
    return {
        f"stages.{stage.name}.{name}": why.get(name, "no query came here")
        for name, mean in means.items()
        if mean is None
    }


def _mean(values: NDArray[np.int64]) -> float | None:
    return float(values.mean()) if len(values) else None
