"""The choice of a monitor's score by what it finds, and by its operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.monitor.candidates import FitSamples, candidates
from kmcompile.monitor.score import Score
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.program import Program

_AS_GOOD = 0.005
"""A score is as good as the best if its mean share of found inputs is at most this much less."""


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The chosen score, and how many were compared."""

    score: Score
    n_compared: int


def choose(
    program: Program,
    fit: FitSamples,
    judged: FitSamples,
    share: float,
    beyond: float,
    most: float,
) -> Chosen:
    """Return the cheapest score that finds nearly as much as the best.

    Parameters
    ----------
    program : Program
    fit, judged : FitSamples
        Samples to fit the scores, and others to compare them.
    share : float
        The share that `--monitor` asks for.
    beyond : float
        The share of usual inputs that will lie beyond the limit, in the mean.
    most : float
        Most operations of a score.
    """
    found: list[tuple[float, int, Score]] = []
    for number, score in enumerate(candidates(program, fit, share, most)):
        scaled = _in_units(score, judged.usual, share)
        limit = _limit(scaled.quickly(judged.usual), beyond)
        found.append((_value(scaled, limit, judged.strange), number, scaled))
    best = max(value for value, _, _ in found)
    good = [(score.operations, -value, n) for value, n, score in found if value >= best - _AS_GOOD]
    return Chosen(found[min(good)[2]][2], len(found))


def _in_units(score: Score, usual: Float64Array, share: float) -> Score:
    """Return a score whose two parts are beyond 1 equally often, if it has two."""
    if len(score.parts) < 2:
        return score
    none = np.zeros(0)
    along = replace(score, middle=none, half=none).quickly(usual)
    features = replace(score, weight=score.weight[:0, :0], start=score.start[:0]).quickly(usual)
    tiny = np.finfo(float).tiny
    return replace(
        score,
        unit=max(_limit(along, share / 2), tiny),
        box_unit=max(_limit(features, share / 2), tiny),
    )


def _limit(scores: Float64Array, beyond: float) -> float:
    """Return the score that a share of the given scores exceeds."""
    return float(np.quantile(scores, 1 - beyond, method="higher"))


def _value(score: Score, limit: float, strange: Mapping[str, Float64Array]) -> float:
    """Return the mean over the kinds of the share of strange inputs beyond the limit."""
    shares = [float((score.quickly(rows) > limit).mean()) for rows in strange.values() if len(rows)]
    return float(np.mean(shares)) if shares else 0.0
