"""Fields of report.json on choices: stages, thresholds, number formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kmcompile.verify.queries import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A candidate sequence of stages, with means over the choice samples.

    Attributes
    ----------
    instructions_estimated : float
        What sequences are compared by.
    """

    stages: Sequence[str]
    mean_ops: float
    instructions_estimated: float
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The calibration of the early exits.

    Attributes
    ----------
    scale : float or None
        The one factor (lambda) of all thresholds.
    shape_queries, choice_queries, control_queries : int
        Sizes of three disjoint parts of the samples, for fitting the stages, choosing among them,
        and the promise.
    support_vectors_found : int
        Number of samples that are support vectors.
    candidates : sequence of Candidate
        The candidates in the order of cost; the exact sum alone is one of them.
    notes : sequence of str
        Stages that were left out, with reasons.
    """

    thresholds: Literal["risk", "maxsmoothed", "simple"]
    scale: float | None
    shape_queries: int
    choice_queries: int
    control_queries: int
    support_vectors_found: int
    candidates: Sequence[Candidate]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The choice of the certified exits by counted operations. No claim rests on the samples.

    Attributes
    ----------
    queries_source : {"data", "generated"}
        Whether the samples are those of --data or made from the support vectors.
    queries : int
    candidates : sequence of Candidate
        The cheapest candidates in the order of cost, and the exact sum alone.
    notes : sequence of str
        Stages that were left out, with reasons.
    """

    queries_source: Literal["data", "generated"]
    queries: int
    candidates: Sequence[Candidate]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCost:
    """The cost of a query in the program of one mode.

    Attributes
    ----------
    stages : sequence of str
        The stages that can decide a query, in order.
    mean_ops, worst_ops : float
        Operations before a replay, as in `Cost`.
    replay_ops_mean, replay_ops_worst : float or None
        Operations of the replay in float64; None if the program has no replay.
    certified_share : float
        Share of the queries with a certified label.
    table_bytes : int
        Bytes of all tables.
    """

    stages: Sequence[str]
    mean_ops: float
    replay_ops_mean: float | None
    worst_ops: float
    replay_ops_worst: float | None
    certified_share: float
    table_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes:
    """Mode statistical compared with mode certified.

    The certified program chooses its exits with all samples of --data. The statistical program
    does not depend on the comparison.

    Attributes
    ----------
    queries : int
        Number of queries of `Cost` that both programs accept.
    queries_source : {"test-data", "calibration", "held-out", "generated"}
        Source of these queries.
    statistical, certified : ModeCost
    advice : str or None
        The advice to use mode certified; None if it does not take fewer operations.
    """

    queries: int
    queries_source: Source
    statistical: ModeCost
    certified: ModeCost
    advice: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedProgram:
    """A program that was compared, by estimates that were known before control samples were asked.

    Attributes
    ----------
    program : str
        The program in words.
    options : str
        The options that ask for it, beside those that were given.
    mean_estimated, worst_estimated : float
        Instructions of a query, in the mean and in the worst case.
    flash_estimated : float
        Bytes of the program in flash.
    proved_share : float
        Share of the inputs whose label is proved; 0 if a promise about all labels is made instead.
    chosen : bool
    """

    program: str
    options: str
    mean_estimated: float
    worst_estimated: float
    flash_estimated: float
    proved_share: float
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A number format that `--format auto` compared.

    Attributes
    ----------
    lossless : bool or None
        Whether the support vectors are exactly their codes; None in float32, which has no codes.
    width : str or None
        The C type of a stored feature: float, int16_t, int8_t or uint8_t.
    flash_tables_bytes : int or None
        Bytes of the tables of the exact sum alone.
    operations : float or None
        Multiply-adds of one query by the exact sum alone; integer ones in an integer format.
    speedup_ops : float or None
        Gain of early exits, on the samples by which they were chosen.
    instructions_estimated : float or None
        Estimated instructions of one query with the early exits, from the operations and the
        target's cost of each operation, replays included. `target.instructions` are counted
        instead.
    worst_estimated : float or None
        Estimated instructions of a query that runs through every stage, without a replay.
    flash_estimated : float or None
        Estimated bytes of the program in flash.
    certified_share : float or None
        Share of the queries that the exact sum certifies; `queries` names the queries.
    queries : str or None
        The queries by which the formats were compared, in words.
    chosen : bool
    reason : str
        Why the format was chosen or not.
    """

    format: Literal["float32", "int16", "int8"]
    lossless: bool | None
    width: str | None
    flash_tables_bytes: int | None
    operations: float | None
    speedup_ops: float | None
    instructions_estimated: float | None
    worst_estimated: float | None
    flash_estimated: float | None
    certified_share: float | None
    queries: str | None
    chosen: bool
    reason: str
