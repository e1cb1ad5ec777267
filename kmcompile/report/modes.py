"""The comparison of a statistical program with a program of mode certified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.cost import replay_operations, worst_operations
from kmcompile.program.interpreter import Answers, Status, classify
from kmcompile.program.program import Program
from kmcompile.report import chosen
from kmcompile.report.costs import sample_of
from kmcompile.report.section import Section
from kmcompile.text.figures import count_text, share_text
from kmcompile.verify.queries import Queries, Source

_NO_REPLAY = "the program has no replay"
_CHEAPER = "mode statistical takes fewer operations on these queries"
_EQUAL = "mode certified takes as many operations on these queries and proves no more"


@dataclass(frozen=True, slots=True)
class ModeCost:
    """The cost of the program of one mode on the queries that both programs accept.

    Parameters
    ----------
    stages : tuple of str
        The stages that can decide a query.
    mean_operations, replay_mean : float
        Mean multiply-adds of a query, and of its replay in float64; 0 without a replay.
    worst_operations, replay_worst : int
        Multiply-adds that no input exceeds, and those of the replay.
    has_replay : bool
    certified_share : float
    table_bytes : int
    """

    stages: tuple[str, ...]
    mean_operations: float
    replay_mean: float
    worst_operations: int
    replay_worst: int
    has_replay: bool
    certified_share: float
    table_bytes: int

    @property
    def mean(self) -> float:
        """Mean operations of a query, its replay included."""
        return self.mean_operations + self.replay_mean


@dataclass(frozen=True, slots=True)
class Modes:
    """Both programs on the same queries.

    Parameters
    ----------
    source : {"test-data", "calibration", "held-out", "generated"}
        Source of the queries, as in the report's `cost`.
    n_queries : int
    statistical, certified : ModeCost
    """

    source: Source
    n_queries: int
    statistical: ModeCost
    certified: ModeCost


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
    return Modes(
        source=sample.source,
        n_queries=int(both.sum()),
        statistical=_cost(program, own.results, own.operations),
        certified=_cost(certified, results[both], operations[both]),
    )


def _cost(program: Program, results: NDArray[np.void], operations: NDArray[np.int64]) -> ModeCost:
    replay, replayed = replay_operations(program), np.zeros(len(results), dtype=bool)
    if program.replay is not None:
        replayed = results["stage"] == program.exit_stages.index(program.replay)
    if program.sums_at_once:
        operations = operations + np.where(replayed, np.int64(replay), np.int64(0))
        replay, replayed = 0, replayed & False
    return ModeCost(
        stages=tuple(stage.name for stage in program.exit_stages),
        mean_operations=float(operations.mean()),
        replay_mean=float(replayed.mean()) * replay,
        worst_operations=worst_operations(program),
        replay_worst=replay,
        has_replay=program.replay is not None,
        certified_share=float(results["certified"].mean()),
        table_bytes=program.table_bytes,
    )


def modes_section(found: Modes | str) -> Section[chosen.Modes | None]:
    """Return the comparison as the report tells it.

    Parameters
    ----------
    found : Modes or str
        The comparison, or why there is none.
    """
    if isinstance(found, str):
        return Section(None, {"modes": found})
    reasons = {}
    advice = _advice(found.statistical, found.certified)
    if advice is None:
        is_equal = found.statistical.mean == found.certified.mean
        reasons["modes.advice"] = _EQUAL if is_equal else _CHEAPER
    for name, cost in (("statistical", found.statistical), ("certified", found.certified)):
        if not cost.has_replay:
            for field in ("replay_ops_mean", "replay_ops_worst"):
                reasons[f"modes.{name}.{field}"] = _NO_REPLAY
    content = chosen.Modes(
        queries=found.n_queries,
        queries_source=found.source,
        statistical=_mode(found.statistical),
        certified=_mode(found.certified),
        advice=advice,
    )
    return Section(content, reasons)


def _mode(cost: ModeCost) -> chosen.ModeCost:
    return chosen.ModeCost(
        stages=cost.stages,
        mean_ops=cost.mean_operations,
        replay_ops_mean=cost.replay_mean if cost.has_replay else None,
        worst_ops=float(cost.worst_operations),
        replay_ops_worst=float(cost.replay_worst) if cost.has_replay else None,
        certified_share=cost.certified_share,
        table_bytes=cost.table_bytes,
    )


def _advice(statistical: ModeCost, certified: ModeCost) -> str | None:
    """Return the recommendation of mode certified; None where it does not take less.

    An operation of a replay counts like any other.
    """
    proves_more = certified.certified_share > statistical.certified_share
    is_equal = certified.mean == statistical.mean
    if certified.mean > statistical.mean or (is_equal and not proves_more):
        return None
    fewer = "no more" if is_equal else "fewer"
    share = certified.certified_share
    proved = "every answer" if share == 1 else f"{share_text(share)} of the answers"
    return (
        f"--mode certified takes {fewer} operations here ({count_text(certified.mean)} against "
        f"{count_text(statistical.mean)} in the mean) and proves {proved}"
    )
