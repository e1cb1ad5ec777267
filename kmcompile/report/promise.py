"""The sections of the report on what is promised, its evidence, and the calibration."""

from __future__ import annotations

import math

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.risk import Tally
from kmcompile.report.choice import candidates
from kmcompile.report.missing import Content, Missing, known
from kmcompile.verify.checks import ModelCheck
from kmcompile.verify.queries import Queries


def risk_section(calibration: Calibration, queries: Queries, check: ModelCheck | None) -> Content:
    """Return the section on the promised risk or loss, with its rate on the test samples.

    `disagreements` are control samples to which an early exit gives another label than the model's;
    of a loss, those that lose a right label. Those that gain one are not counted of a risk.
    """
    promise, why = calibration.promise, _why_no_promise(calibration)
    return dict(
        requested=known(promise.requested, why),
        upper_bound=known(promise.upper_bound, why),
        confidence=known(promise.confidence, why),
        calibration_queries=promise.n_samples,
        disagreements=promise.disagreements,
        gained=promise.gained or 0,
        of=promise.of,
        guarantee=promise.control,
        measured=measured_risk(promise, queries, check),
    )


def calibration_section(calibration: Calibration) -> Content:
    """Return the section on how statistical exits were fitted and chosen.

    `scale` is the one factor (lambda) of all thresholds. The samples are in three disjoint parts,
    for fitting the stages, choosing among them, and the promise.
    """
    scale = calibration.promise.scale
    return dict(
        thresholds=calibration.thresholds,
        scale=scale if math.isfinite(scale) else Missing("no early exit takes a risk"),
        shape_queries=calibration.n_shape,
        choice_queries=calibration.n_choice,
        control_queries=calibration.n_control,
        support_vectors_found=calibration.n_support_vectors_found,
        candidates=candidates(calibration.candidates),
        notes=calibration.notes,
    )


def _why_no_promise(calibration: Calibration) -> str:
    if calibration.thresholds != "risk":
        return f"--thresholds {calibration.thresholds} promises nothing"
    if calibration.promise.control == "expected":
        return "the bound holds in expectation"
    return "the calibration samples support no promise"


def measured_risk(
    promise: Promise, queries: Queries, check: ModelCheck | None
) -> Content | Missing:
    """Return the rate at which test samples got another label than the model's, or their loss.

    Refused samples have no label. The limits of the probability (Clopper and Pearson, 1934), or of
    the loss, hold with `confidence` each.
    """
    reason = _why_not_measured(queries, check, promise)
    if check is None or reason:
        return Missing(reason)
    tally = check.tally
    if promise.of == "risk":
        tally = Tally(queries.n_given - check.refused, check.label_disagreements)
    confidence = promise.confidence or CONFIDENCE
    return dict(
        queries=tally.n,
        disagreements=tally.disagreements,
        gained=tally.gained or 0,
        confidence=confidence,
        lower_limit=tally.least(confidence),
        upper_limit=tally.limit(confidence=confidence),
    )


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
