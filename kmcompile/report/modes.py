"""The comparison of a statistical program with a program of mode certified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.cost import replay_operations, worst_operations
from kmcompile.program.interpreter import Answers, Status, classify
from kmcompile.program.program import Program
from kmcompile.report.costs import sample_of
from kmcompile.report.missing import Missing
from kmcompile.text.figures import count_text, share_text
from kmcompile.verify.queries import Queries, Source

_NO_REPLAY = Missing("the program has no replay")
_CHEAPER = Missing("mode statistical takes fewer operations on these queries")
_EQUAL = Missing("mode certified takes as many operations on these queries and proves no more")


@dataclass(frozen=True, slots=True)
class ModeCost:
    """The cost of the program of one mode on the queries that both programs accept.

    Parameters
    ----------
    stages : tuple of str
        The stages that can decide a query.
    mean_ops : float
        Mean multiply-adds of a query, without the replay.
    replay_ops_mean : float or Missing
        Those of its replay in float64.
    worst_ops : float
        Multiply-adds that no input exceeds.
    replay_ops_worst : float or Missing
    certified_share : float
        Share of the queries with a certified label.
    table_bytes : int
    """

    stages: tuple[str, ...]
    mean_ops: float
    replay_ops_mean: float | Missing
    worst_ops: float
    replay_ops_worst: float | Missing
    certified_share: float
    table_bytes: int

    @property
    def mean(self) -> float:
        """Mean operations of a query, its replay included."""
        replay = self.replay_ops_mean
        return self.mean_ops + (0.0 if isinstance(replay, Missing) else replay)


@dataclass(frozen=True, slots=True)
class Modes:
    """The section `modes` of report.json: both programs on the same queries.

    Parameters
    ----------
    queries : int
    queries_source : {"test-data", "calibration", "held-out", "generated"}
        Source of the queries, as in the report's `cost`.
    statistical, certified : ModeCost
        The certified program chooses its exits with all samples of --data. The statistical program
        does not depend on the comparison.
    advice : str or Missing
        The recommendation of mode certified, where it does not take more operations.
    """

    queries: int
    queries_source: Source
    statistical: ModeCost
    certified: ModeCost
    advice: str | Missing


def compared_modes(
    program: Program, answers: Answers, certified: Program, queries: Queries
) -> Modes:
    """Return the comparison of two programs on the queries of the report's means.

    Parameters
    ----------
    program : Program
        The program of mode statistical.
    answers : Answers
        Its answers to all queries.
    certified : Program
        The program of mode certified.
    queries : Queries
    """
    sample = sample_of(answers, queries)
    results, operations = classify(certified, queries.X[sample.rows])
    both = results["status"] == Status.OK
    own = sample.answers.chosen(np.flatnonzero(both))
    statistical = _cost(program, own.results, own.operations)
    other = _cost(certified, results[both], operations[both])
    return Modes(int(both.sum()), sample.source, statistical, other, advice(statistical, other))


def _cost(program: Program, results: NDArray[np.void], operations: NDArray[np.int64]) -> ModeCost:
    replay, replayed = replay_operations(program), np.zeros(len(results), dtype=bool)
    if program.replay is not None:
        replayed = results["stage"] == program.exit_stages.index(program.replay)
    if program.sums_at_once:
        operations = operations + np.where(replayed, np.int64(replay), np.int64(0))
        replay, replayed = 0, replayed & False
    no_replay = _NO_REPLAY if program.replay is None else None
    return ModeCost(
        stages=tuple(stage.name for stage in program.exit_stages),
        mean_ops=float(operations.mean()),
        replay_ops_mean=no_replay or float(replayed.mean()) * replay,
        worst_ops=float(worst_operations(program)),
        replay_ops_worst=no_replay or float(replay),
        certified_share=float(results["certified"].mean()),
        table_bytes=program.table_bytes,
    )


def advice(statistical: ModeCost, certified: ModeCost) -> str | Missing:
    """Return the recommendation of mode certified, or why there is none.

    An operation of a replay counts like any other.
    """
    proves_more = certified.certified_share > statistical.certified_share
    is_equal = certified.mean == statistical.mean
    if certified.mean > statistical.mean:
        return _CHEAPER
    if is_equal and not proves_more:
        return _EQUAL
    fewer = "no more" if is_equal else "fewer"
    share = certified.certified_share
    proved = "every answer" if share == 1 else f"{share_text(share)} of the answers"
    return (
        f"--mode certified takes {fewer} operations here ({count_text(certified.mean)} against "
        f"{count_text(statistical.mean)} in the mean) and proves {proved}"
    )
