"""Fields of report.json on the monitor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFound:
    """Inputs of one kind, and how many of them the program refuses or finds unlike the samples.

    Attributes
    ----------
    kind : str
        What was done to samples; "samples" and "test samples" are as they were.
    queries, found : int
    """

    kind: str
    queries: int
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorQuantile:
    """A quantile of the score, the limit being 1."""

    share: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """The monitor behind `in_range`.

    Attributes
    ----------
    share : float
        The largest share of inputs like the samples for which `in_range` is false.
    confidence : float
    parts : sequence of {"directions", "limits"}
        What the score is made of.
    directions, features_read : int
        Number of directions, and of the features that each reads; 0 without directions.
    fit_samples, limit_samples, shown_samples : int
        Samples that fitted and chose the score, that set its limit, and that the figures are of.
    place : int
        The limit is the place-th largest score of the samples that set it.
    scores_compared : int
    ops, ops_without : float
        Multiply-adds of the monitor, and the mean of the program without it on the fit samples.
    ops_more : float
        ops / ops_without.
    quantiles : sequence of MonitorQuantile
        Of the samples that set the limit.
    usual : sequence of MonitorFound
        Samples that nothing else has seen.
    strange : sequence of MonitorFound
        Inputs made from such samples.
    notes : sequence of str
    """

    share: float
    confidence: float
    parts: Sequence[str]
    directions: int
    features_read: int
    fit_samples: int
    limit_samples: int
    shown_samples: int
    place: int
    scores_compared: int
    ops: float
    ops_without: float
    ops_more: float
    quantiles: Sequence[MonitorQuantile]
    usual: Sequence[MonitorFound]
    strange: Sequence[MonitorFound]
    notes: Sequence[str]
