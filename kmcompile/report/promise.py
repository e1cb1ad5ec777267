"""The sections of the report on what is promised, its evidence, and the calibration."""

from __future__ import annotations

import math

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.risk import Tally
from kmcompile.report import checked, chosen
from kmcompile.report.choice import candidates
from kmcompile.report.section import Section
from kmcompile.verify.checks import ModelCheck
from kmcompile.verify.queries import Queries


def risk_section(
    calibration: Calibration, queries: Queries, check: ModelCheck | None
) -> Section[checked.Risk]:
    """Return the section on the promised risk, with its rate on the test samples."""
    promise = calibration.promise
    missing = {
        "requested": promise.requested is None,
        "upper_bound": promise.upper_bound is None,
        "confidence": promise.confidence is None,
    }
    why = _why_no_promise(calibration)
    reasons = {f"risk.{name}": why for name, is_missing in missing.items() if is_missing}
    measured = measured_risk(promise, queries, check)
    content = checked.Risk(
        of=promise.of,
        requested=promise.requested,
        upper_bound=promise.upper_bound,
        confidence=promise.confidence,
        calibration_queries=promise.n_samples,
        disagreements=promise.disagreements,
        gained=promise.gained or 0,
        guarantee=promise.control,
        measured=measured.content,
    )
    return Section(content, {**reasons, **measured.not_available})


def calibration_section(calibration: Calibration) -> Section[chosen.Calibration]:
    """Return the section on how statistical exits were fitted and chosen."""
    reasons = {}
    scale: float | None = calibration.promise.scale
    if not math.isfinite(calibration.promise.scale):
        scale = None
        reasons["calibration.scale"] = "no early exit takes a risk"
    content = chosen.Calibration(
        thresholds=calibration.thresholds,
        scale=scale,
        shape_queries=calibration.n_shape,
        choice_queries=calibration.n_choice,
        control_queries=calibration.n_control,
        support_vectors_found=calibration.n_support_vectors_found,
        candidates=candidates(calibration.candidates),
        notes=calibration.notes,
    )
    return Section(content, reasons)


def _why_no_promise(calibration: Calibration) -> str:
    if calibration.thresholds != "risk":
        return f"--thresholds {calibration.thresholds} promises nothing"
    if calibration.promise.control == "expected":
        return "the bound holds in expectation"
    return "the calibration samples support no promise"


def measured_risk(
    promise: Promise, queries: Queries, check: ModelCheck | None
) -> Section[checked.Measured | None]:
    """Return the rate at which test samples got another label than the model's, or their loss."""
    reason = _why_not_measured(queries, check, promise)
    if check is None or reason:
        return Section(None, {"risk.measured": reason})
    tally = check.tally
    if promise.of == "risk":
        tally = Tally(queries.n_given - check.refused, check.label_disagreements)
    confidence = promise.confidence or CONFIDENCE
    content = checked.Measured(
        queries=tally.n,
        disagreements=tally.disagreements,
        gained=tally.gained or 0,
        confidence=confidence,
        lower_limit=tally.least(confidence),
        upper_limit=tally.limit(confidence=confidence),
    )
    return Section(content, {})


def _why_not_measured(queries: Queries, check: ModelCheck | None, promise: Promise) -> str:
    if queries.source == "calibration":
        return "the samples in --test-data were calibrated with"
    if queries.source != "test-data" or queries.n_given == 0:
        return "there are no test samples: give --test-data"
    if check is None:
        return "the answers were not compared with the model's"
    if check.refused == queries.n_given:
        return "every test sample is refused"
    if promise.of == "loss" and queries.truth is None:
        return "--test-data has no labels y"
    return ""
