"""Fields of report.json on a reduced machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionPoint:
    """A machine of the curve; the fields have the meaning of those of `Reduction`.

    Attributes
    ----------
    n_vectors : int
    table_bytes : int
        Bytes of its tables in flash.
    operations : int
        Worst-case multiply-adds of one query.
    chosen : bool
    """

    n_vectors: int
    method: str
    disagreements: int | None
    gained: int
    samples: int
    limit: float | None
    table_bytes: int
    operations: int
    distance: float
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """The reduced machine that takes the place of the trained one, and those it was chosen from.

    Attributes
    ----------
    asked : str
        The value of --reduce; without it, of a routed machine that --max-instructions reduces, all
        vectors.
    of : {"risk", "loss"}
        Whether the risk of another label than the trained machine's counts, or the loss of right
        labels.
    risk : float or None
        The largest risk or loss that `--reduce auto` allows; None if a number of
        vectors was asked for.
    vectors_before, vectors_after : int
        Vectors of the trained and of the reduced machine.
    method : str
        How the vectors were found.
    disagreements : int or None
        Samples that get another label than the trained machine's; in a regression, another value
        by more than the tolerance. Of a loss, those that lose a right label.
    gained : int
        Samples that gain a right label; 0 of a risk.
    samples : int
        Samples on which disagreements were counted. No vector was chosen by them.
    limit : float or None
        Upper limit of the risk or loss, at `confidence`.
    confidence : float
    distance : float
        The largest relative distance of a decision, |W_p - W^_p| / |W_p|; in a routed machine
        that of the largest values of a leaf.
    points : sequence of ReductionPoint
        The machines that were compared, in decreasing size; the first is the trained machine.
    notes : sequence of str
    """

    asked: str
    of: Literal["risk", "loss"]
    risk: float | None
    vectors_before: int
    vectors_after: int
    method: str
    disagreements: int | None
    gained: int
    samples: int
    limit: float | None
    confidence: float
    distance: float
    points: Sequence[ReductionPoint]
    notes: Sequence[str]
