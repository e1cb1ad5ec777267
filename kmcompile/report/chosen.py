"""What a report says of choices: stages, thresholds, number formats; fields of report.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kmcompile.verify.queries import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sequence of stages that was compared; `mean_ops` is of the choice samples."""

    stages: Sequence[str]
    mean_ops: float
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How the early exits were made.

    Attributes
    ----------
    scale : float or None
        The one factor (lambda) of all thresholds.
    shape_queries, choice_queries, control_queries : int
        Samples of the disjoint parts: the stages' shapes, their choice and the promise rest on
        one each.
    support_vectors_found : int
        Samples that are support vectors.
    candidates : sequence of Candidate
        By their cost, the exact sum alone among them.
    notes : sequence of str
        What was left out and why.
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
    """How the certified exits were chosen: by counted operations. No claim rests on the samples.

    Attributes
    ----------
    queries_source : {"data", "generated"}
        Whether the samples are those of --data or made from the support vectors.
    queries : int
    candidates : sequence of Candidate
        The cheapest ones by their cost, and the exact sum alone.
    notes : sequence of str
        What was left out and why.
    """

    queries_source: Literal["data", "generated"]
    queries: int
    candidates: Sequence[Candidate]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCost:
    """What the program of one mode takes for a query.

    Attributes
    ----------
    stages : sequence of str
        Those that can decide a query, in order.
    mean_ops, worst_ops : float
        As in `Cost`: before a replay.
    replay_ops_mean, replay_ops_worst : float or None
        Of the replay in float64; None where the program has none.
    certified_share : float
        Of the queries.
    table_bytes : int
        Of all tables.
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
    """What mode certified would have given in the place of mode statistical.

    Its exits are chosen with all samples in --data, as that mode does; nothing of the statistical
    program depends on it.

    Attributes
    ----------
    queries : int
        Of `Cost`, as far as both programs accept them.
    queries_source : {"test-data", "calibration", "held-out", "generated"}
        Where these come from.
    statistical, certified : ModeCost
    advice : str or None
        To use mode certified; None where it does not take fewer operations.
    """

    queries: int
    queries_source: Source
    statistical: ModeCost
    certified: ModeCost
    advice: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A number format that `--format auto` compared.

    Attributes
    ----------
    lossless : bool or None
        Whether the support vectors are exactly their codes; None of float32, which has none.
    width : str or None
        The C type of a stored feature: float, int16_t, int8_t or uint8_t.
    flash_tables_bytes : int or None
        Of the exact sum alone.
    operations : float or None
        Multiply-adds of one query by the exact sum alone, of integers in an integer format.
    speedup_ops : float or None
        By early exits, on the samples that they were chosen with.
    instructions_estimated : float or None
        Of one query with the early exits, from the operations and the target's cost of each;
        `target.instructions` are counted.
    certified_share : float or None
        By the exact sum, of the queries that the formats were compared by: see `queries`.
    queries : str or None
        What these are.
    chosen : bool
    reason : str
        Why it was taken or not.
    """

    format: Literal["float32", "int16", "int8"]
    lossless: bool | None
    width: str | None
    flash_tables_bytes: int | None
    operations: float | None
    speedup_ops: float | None
    instructions_estimated: float | None
    certified_share: float | None
    queries: str | None
    chosen: bool
    reason: str
