"""Data of the plots of early exits: each query's deciding stage, cost and difficulty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.interpreter import Answers
from kmcompile.program.program import Program
from kmcompile.program.stages.early_exits.early_exit import Thresholds
from kmcompile.report.costs import of_sample, sample_of
from kmcompile.verify.queries import Queries


@dataclass(frozen=True, slots=True, eq=False)
class Cascade:
    """The queries of the report's statistics, one entry each.

    Parameters
    ----------
    n_early : int
        Number of early exits.
    stage : ndarray of shape (n,), int64
        Index of the stage that decided.
    kernel_evals, operations : ndarray of shape (n,), int64
    instructions : ndarray of shape (n,), int64, or None
        Instructions; None if they were not counted.
    decision : ndarray of shape (n,), float64
        The exact decision value; for many classes the label's margin.
    decision_name : str
        The name of `decision` in the plots.
    thresholds : Thresholds or None
    no_thresholds : str
        The reason why `thresholds` is None; empty otherwise.
    """

    n_early: int
    stage: NDArray[np.int64]
    kernel_evals: NDArray[np.int64]
    operations: NDArray[np.int64]
    instructions: NDArray[np.int64] | None
    decision: Float64Array
    decision_name: str
    thresholds: Thresholds | None
    no_thresholds: str

    def __len__(self) -> int:
        return len(self.stage)

    @property
    def by_exact_sum(self) -> NDArray[np.bool_]:
        """Which queries reached the exact sum."""
        late: NDArray[np.bool_] = self.stage >= self.n_early
        return late


def cascade_of(
    program: Program,
    answers: Answers,
    queries: Queries,
    instructions: NDArray[np.int64] | None = None,
) -> Cascade | None:
    """Return the data of the plots; None for a program without early exits.

    Parameters
    ----------
    program : Program
    answers : Answers
    queries : Queries
    instructions : ndarray of shape (n_accepted,), optional
        Instructions of each accepted query, if they were counted.
    """
    if not program.early_exits:
        return None
    sample = sample_of(answers, queries)
    if instructions is not None:
        instructions = of_sample(instructions, answers, sample)
    answers = sample.answers
    thresholds, no_thresholds = _thresholds(program)
    values, labels = answers.decisions.astype(np.float64), answers.results["label"]
    decision, decision_name = program.ends.label.margins(values, labels)
    return Cascade(
        n_early=len(program.early_exits),
        stage=answers.results["stage"].astype(np.int64),
        kernel_evals=answers.results["kernel_evals"].astype(np.int64),
        operations=answers.operations,
        instructions=instructions,
        decision=decision,
        decision_name=decision_name,
        thresholds=thresholds,
        no_thresholds=no_thresholds,
    )


def _thresholds(program: Program) -> tuple[Thresholds | None, str]:
    if all(stage.is_certified for stage in program.early_exits):
        return None, "What decides are proved bounds of each query, not thresholds."
    if program.n_decisions > 1:
        return None, "The thresholds are those of pairs of classes and are not drawn."
    for stage in program.early_exits:
        thresholds = stage.thresholds()
        if thresholds is not None:
            return thresholds, ""
    return None, "No stage takes vectors one by one, so there are no thresholds to draw."
