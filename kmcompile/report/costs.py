"""The stages and the cost of one query, as the report tells them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kmcompile.analysis.cost import exact_operations, stage_worst_operations, worst_operations
from kmcompile.interpret import Answers, Status
from kmcompile.ir.program import Program
from kmcompile.report import contents
from kmcompile.stages import NearestVectors
from kmcompile.verify.queries import Queries

_NEVER = "the stage never decides"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The queries that means, percentiles and shares are of: accepted ones only.

    Parameters
    ----------
    source : {"test-data", "calibration", "held-out", "generated"}
    rows : ndarray of shape (n,), intp
        Their places among all queries.
    answers : Answers
        Of these queries.
    """

    source: contents.QueriesSource
    rows: NDArray[np.intp]
    answers: Answers

    def __len__(self) -> int:
        return len(self.rows)


def sample_of(answers: Answers, queries: Queries) -> Sample:
    """Return the user's samples where there are any, otherwise the generated ones."""
    accepted = np.flatnonzero(answers.results["status"] == Status.OK)
    source, rows = queries.source, accepted[accepted < queries.n_given]
    if not len(rows):
        source, rows = "generated", accepted[accepted < queries.n_ordinary]
    chosen = Answers(*(getattr(answers, field.name)[rows] for field in fields(Answers)))
    return Sample(source, rows, chosen)


def stages(program: Program, sample: Sample, reasons: dict[str, str]) -> list[contents.Stage]:
    """Return what each stage decides and costs; `reasons` takes why a field is null."""
    return [_stage(program, number, sample, reasons) for number in range(len(program.stages))]


def cost(program: Program, sample: Sample, reasons: dict[str, str]) -> contents.Cost:
    """Return the counted operations and kernels of one query."""
    reasons["cost.max_ops_with_replay"] = f"there is no replay in mode {program.mode}"
    operations = sample.answers.operations
    kernels = sample.answers.results["kernel_evals"].astype(np.int64)
    exact = float(sample.answers.exact_operations.mean())
    n_vectors = program.ends.exact.kernel_evaluations()
    return contents.Cost(
        exact_ops=exact,
        mean_ops=float(operations.mean()),
        p99_ops=float(np.percentile(operations, 99)),
        max_ops=float(operations.max()),
        max_ops_with_replay=None,
        speedup_ops=exact / float(operations.mean()),
        kernel_evals_mean=float(kernels.mean()),
        speedup_kernels=n_vectors / float(np.maximum(kernels, 1).mean()),
        queries=len(sample),
        queries_source=sample.source,
        worst_ops=float(worst_operations(program)),
        exact_worst_ops=float(exact_operations(program)),
        kernel_evals_min=float(kernels.min()),
        kernel_evals_median=float(np.median(kernels)),
        kernel_evals_p99=float(np.percentile(kernels, 99)),
        kernel_evals_max=float(kernels.max()),
    )


def _stage(
    program: Program, number: int, sample: Sample, reasons: dict[str, str]
) -> contents.Stage:
    stage, answers = program.stages[number], sample.answers
    own = answers.stage_operations[:, number]
    reached = own >= 0
    exits = stage.exit is not None
    left = np.zeros(len(sample), dtype=bool)
    if exits:
        left = answers.results["stage"] == program.exit_stages.index(stage)
    means = {
        "kernel_evals_mean": _mean(_own_kernels(program, number, answers)[reached]),
        "ops_mean": _mean(own[reached]),
        "ops_mean_decided": _mean(answers.operations[left]),
    }
    absent = {name: "no query came here" for name, mean in means.items() if mean is None}
    if "ops_mean_decided" in absent:
        absent["ops_mean_decided"] = "no query left here"
    if not exits:
        absent.update(dict.fromkeys(("exit", "decided", "ops_mean_decided"), _NEVER))
    reasons.update({f"stages.{stage.name}.{name}": why for name, why in absent.items()})
    return contents.Stage(
        name=stage.name,
        exit=cast("contents.Exit | None", stage.exit),
        decided=float(left.mean()) if exits else None,
        table_bytes=sum(table.n_bytes for table in stage.tables()),
        reached=float(reached.mean()),
        ops_worst=float(stage_worst_operations(program, stage)),
        **means,
    )


def _mean(values: NDArray[np.int64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _own_kernels(program: Program, number: int, answers: Answers) -> NDArray[np.int64]:
    """Return the full kernel evaluations of one stage, of every query that came there."""
    kernels = answers.results["kernel_evals"].astype(np.int64)
    stage = program.stages[number]
    if isinstance(stage, NearestVectors):
        return _touched(program, answers)
    if stage is program.ends.exact:
        return kernels - _touched(program, answers)
    return np.zeros_like(kernels)


def _touched(program: Program, answers: Answers) -> NDArray[np.int64]:
    """Return the kernels that early exits computed, of every query.

    The result of a query that comes to the exact sum counts all vectors: if it is in range and
    came through `nearest_vectors`, that has touched all it may, and otherwise none.
    """
    in_the_end = answers.results["stage"] == len(program.exit_stages) - 1
    touched = np.where(in_the_end, 0, answers.results["kernel_evals"].astype(np.int64))
    for number, stage in enumerate(program.stages):
        if isinstance(stage, NearestVectors):
            through = (answers.stage_operations[:, number] >= 0) & answers.results["in_range"]
            touched += np.where(in_the_end & through, stage.max_touched, 0)
    return touched
