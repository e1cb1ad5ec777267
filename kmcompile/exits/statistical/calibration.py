"""What calibration found: the promise that goes with a program, and how its stages were chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kmcompile.exits.candidates.candidate import Candidate


@dataclass(frozen=True, slots=True)
class Promise:
    """The probability of another label than the model's, and what supports it.

    Parameters
    ----------
    control : {"guaranteed", "expected", "none"}
        Whether `upper_bound` holds with `confidence`, in expectation, or not at all: the paper's
        thresholds promise nothing, and training data support nothing.
    requested : float or None
        The risk that was asked for; None without a promise.
    upper_bound : float or None
        Of the risk, from the control samples.
    confidence : float or None
        Of a guaranteed bound.
    n_samples, disagreements : int
        Control samples, and those of them that an early exit labels unlike the model.
    scale : float
        The one factor (lambda) of all thresholds.
    """

    control: Literal["guaranteed", "expected", "none"]
    requested: float | None
    upper_bound: float | None
    confidence: float | None
    n_samples: int
    disagreements: int
    scale: float


def promise_of(report: Mapping[str, Any]) -> Promise | None:
    """Return the promise in a report.json, None where it has none."""
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
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything that the report says about calibration.

    Parameters
    ----------
    promise : Promise
    thresholds : {"risk", "maxsmoothed", "simple"}
    n_shape, n_choice, n_control : int
        Samples of the disjoint parts; the stages' shapes, their choice and the promise rest on
        one each.
    n_support_vectors_found : int
        Samples that are support vectors.
    candidates : tuple of Candidate
        In the order of their cost; the exact sum alone is among them.
    notes : tuple of str
        What was left out and why, and what else the user should know.
    """

    promise: Promise
    thresholds: Literal["risk", "maxsmoothed", "simple"]
    n_shape: int
    n_choice: int
    n_control: int
    n_support_vectors_found: int
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
