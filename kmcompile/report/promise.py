"""The promised risk, what supports it and what test samples show, as the report tells them."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.risk import (
    CONFIDENCE,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from kmcompile.report import checked, chosen
from kmcompile.report.choice import candidates
from kmcompile.verify.checks import ModelCheck
from kmcompile.verify.queries import Queries


def risk(
    calibration: Calibration,
    queries: Queries,
    check: ModelCheck | None,
    reasons: dict[str, str],
) -> checked.Risk:
    """Return the risk; `reasons` takes why a field is null."""
    promise = calibration.promise
    missing = {
        "requested": promise.requested is None,
        "upper_bound": promise.upper_bound is None,
        "confidence": promise.confidence is None,
    }
    why = _why_no_promise(calibration)
    reasons.update({f"risk.{name}": why for name, is_missing in missing.items() if is_missing})
    return checked.Risk(
        requested=promise.requested,
        upper_bound=promise.upper_bound,
        confidence=promise.confidence,
        calibration_queries=promise.n_samples,
        disagreements=promise.disagreements,
        guarantee=promise.control,
        measured=_measured(promise, queries, check, reasons),
    )


def calibration_section(calibration: Calibration, reasons: dict[str, str]) -> chosen.Calibration:
    """Return how the early exits were made; `reasons` takes why a field is null."""
    scale: float | None = calibration.promise.scale
    if not math.isfinite(calibration.promise.scale):
        scale = None
        reasons["calibration.scale"] = "no early exit is taken"
    return chosen.Calibration(
        thresholds=calibration.thresholds,
        scale=scale,
        shape_queries=calibration.n_shape,
        choice_queries=calibration.n_choice,
        control_queries=calibration.n_control,
        support_vectors_found=calibration.n_support_vectors_found,
        candidates=candidates(calibration.candidates),
        notes=calibration.notes,
    )


def measured_again(
    promise: Promise, queries: Queries, check: ModelCheck | None, reasons: dict[str, str]
) -> dict[str, Any] | None:
    """Return what a repeated verification measures, in the shape of report.json."""
    found = _measured(promise, queries, check, reasons)
    return None if found is None else asdict(found)


def _why_no_promise(calibration: Calibration) -> str:
    if calibration.thresholds != "risk":
        return f"--thresholds {calibration.thresholds} promises nothing"
    if calibration.promise.control == "expected":
        return "the bound holds in expectation"
    return "the calibration samples support no promise"


def _measured(
    promise: Promise, queries: Queries, check: ModelCheck | None, reasons: dict[str, str]
) -> checked.Measured | None:
    if queries.source == "calibration":
        reasons["risk.measured"] = "the samples in --test-data were calibrated with"
        return None
    if queries.source != "test-data" or queries.n_given == 0:
        reasons["risk.measured"] = "there are no test samples: give --test-data"
        return None
    if check is None:
        reasons["risk.measured"] = "the answers were not compared with the model's"
        return None
    if check.refused == queries.n_given:
        reasons["risk.measured"] = "every test sample is refused"
        return None
    n_samples, disagreements = queries.n_given - check.refused, check.label_disagreements
    confidence = promise.confidence or CONFIDENCE
    return checked.Measured(
        queries=n_samples,
        disagreements=disagreements,
        confidence=confidence,
        lower_limit=clopper_pearson_lower(disagreements, n_samples, confidence),
        upper_limit=clopper_pearson_upper(disagreements, n_samples, confidence),
    )
