"""Fields of report.json on the checks and the promised risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kmcompile.verify.checked import (
    Bounded,
    Certified,
    ExactRun,
    Probabilities,
    WithinTolerance,
)
from kmcompile.verify.queries import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """The exact check on the host and on the target."""

    host: ExactRun | None
    target: ExactRun | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The checks, their queries, and the commands that repeat them.

    Attributes
    ----------
    input_tolerance : WithinTolerance or None
        The check at points within the input tolerance; None without one.
    commands : sequence of str
        Commands that repeat the checks, run beside the output folder.
    """

    queries_source: Source | None
    exact: Exact | None
    bounded: Bounded | None
    certified: Certified | None
    probabilities: Probabilities | None
    input_tolerance: WithinTolerance | None
    commands: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The rate at which test samples got another label than the model's, or lost a right one.

    Attributes
    ----------
    queries : int
        Number of accepted test samples; refused samples have no label.
    disagreements, gained : int
        As in `Risk`.
    lower_limit, upper_limit : float
        Limits of the probability of another label (Clopper and Pearson, 1934), or of the loss, each
        with `confidence`.
    """

    queries: int
    disagreements: int
    gained: int
    confidence: float
    lower_limit: float
    upper_limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The promised risk or loss, what supports it, what test samples show.

    Attributes
    ----------
    of : {"risk", "loss"}
        What is promised: the largest probability of another label than the model's, or how much
        lower than the model's the share of right labels is at most.
    upper_bound, confidence : float or None
        The bound that the control samples support, and its confidence.
    calibration_queries, disagreements : int or None
        Number of control samples, and of those to which an early exit gives another label than the
        model's; of a loss, those that lose a right label.
    gained : int
        Control samples that gain a right label; 0 of a risk, which does not count them.
    guarantee : {"guaranteed", "expected", "none"}
        Whether `upper_bound` holds with `confidence`, in expectation, or not at all.
    measured : Measured or None
    """

    requested: float | None
    upper_bound: float | None
    confidence: float | None
    calibration_queries: int | None
    disagreements: int | None
    gained: int
    of: Literal["risk", "loss"]
    guarantee: Literal["guaranteed", "expected", "none"]
    measured: Measured | None
