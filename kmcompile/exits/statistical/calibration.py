"""The results of calibration: the promised risk, and how the stages were chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.certified.offers import Offer
from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.program.program import Program

Of = Literal["risk", "loss"]
"""What is promised: a risk, the largest probability of a label other than the model's; or a loss,
how much lower than the model's the share of right labels is at most."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A promised risk or loss, and the evidence for it.

    Parameters
    ----------
    control : {"guaranteed", "expected", "none"}
        Whether `upper_bound` holds with `confidence`, in expectation, or not at all: the paper's
        thresholds promise nothing, and training data support nothing.
    requested : float or None
        The risk that was asked for; None without a promise.
    upper_bound : float or None
        Upper bound on the risk, from the control samples.
    confidence : float or None
        Confidence of a guaranteed bound.
    n_samples, disagreements : int
        Number of control samples, and of those that an early exit labels unlike the model; of a
        loss, those that lose a right label.
    scale : float
        The common factor (lambda) of all thresholds.
    gained : int or None
        Of a loss, the control samples that gain a right label; None: a risk is promised.
    """

    control: Literal["guaranteed", "expected", "none"]
    requested: float | None
    upper_bound: float | None
    confidence: float | None
    n_samples: int
    disagreements: int
    scale: float
    gained: int | None = None

    @property
    def of(self) -> Of:
        """What is promised."""
        return "risk" if self.gained is None else "loss"


def promise_of(report: Mapping[str, Any]) -> Promise | None:
    """Return the promise in a report.json; None if it contains none."""
    risk, calibration = report["risk"], report["calibration"]
    if risk is None or calibration is None:
        return None
    return Promise(
        risk["guarantee"],
        risk["requested"],
        risk["upper_bound"],
        risk["confidence"],
        risk["calibration_queries"],
        risk["disagreements"],
        calibration["scale"] or math.inf,
        risk["gained"] if risk["of"] == "loss" else None,
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """The results of calibration that the report shows.

    Parameters
    ----------
    promise : Promise
    thresholds : {"risk", "maxsmoothed", "simple"}
    n_shape, n_choice, n_control : int
        Samples in each of the three disjoint parts: to fit the shapes of the stages, to choose
        among them, and to support the promise.
    n_support_vectors_found : int
        Samples that are support vectors.
    candidates : tuple of Candidate
        In order of cost; the exact sum without exits is one of them.
    notes : tuple of str
        What was left out and why, and what else the user should know.
    offered : tuple of Offer
        The certified exits that were compared, for a comparison with mode certified.
    before : Program or None
        The program as it was chosen, before the control samples were asked. Programs are compared
        by it: what chooses among them must not have seen these samples.
    accuracy : Accuracy or None
        Right labels of the control samples, where a loss is promised.
    """

    promise: Promise
    thresholds: Literal["risk", "maxsmoothed", "simple"]
    n_shape: int
    n_choice: int
    n_control: int
    n_support_vectors_found: int
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    offered: tuple[Offer, ...] = ()
    before: Program | None = None
    accuracy: Accuracy | None = None
