"""scikit-learn's FixedThresholdClassifier and TunedThresholdClassifierCV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.log_odds import decision_at
from kmcompile.passes.move_threshold import move_threshold
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.readers.sklearn.pipeline_steps import flattened

Read = Callable[[Any], KernelMachine]

_MAX_DEPTH = 20


def read_fixed_threshold(fields: Fields, read: Read) -> KernelMachine:
    """Read a FixedThresholdClassifier, whose estimator may have been fitted before."""
    inner = fields.get("estimator_" if fields.has("estimator_") else "estimator")
    threshold = fields.get("threshold")
    number = None if _is_text(threshold, "auto") else fields.number("threshold")
    return _moved(fields, read(inner), inner, number, fields.get("pos_label"))


def read_tuned_threshold(fields: Fields, read: Read) -> KernelMachine:
    """Read a TunedThresholdClassifierCV; its positive class is that of its score.

    A score that was made without `pos_label` has the default of its function: 1, as f1_score,
    or none, which is `classes_[1]`. They differ only where 1 is the first class.
    """
    fields.require_fitted("estimator_")
    inner = fields.get("estimator_")
    machine = read(inner)
    scorer = Fields(record_of(fields.get("_curve_scorer")), "_curve_scorer.")
    keywords = scorer.get("_kwargs")
    if not isinstance(keywords, dict):
        raise scorer.error("_kwargs", f"is {describe(keywords)}", "a dict")
    if "pos_label" not in keywords and machine.classes and machine.classes[0] == 1:
        raise InputError(
            f"{fields.record.name} does not tell whether 1 or the other class is the positive "
            "one;\nretrain with a score made by make_scorer(..., pos_label=...)"
        )
    threshold = fields.number("best_threshold_")
    return _moved(fields, machine, inner, threshold, keywords.get("pos_label"))


def _moved(
    fields: Fields, machine: KernelMachine, inner: Any, threshold: float | None, positive: Any
) -> KernelMachine:
    """Return the machine that answers the positive class where its score is >= threshold.

    With f the decision and p = 1 / (1 + exp(-f)) where the score is a probability:
    p >= t is f >= ln(t / (1 - t)). If `classes_[0]` is the positive class its score is -f or
    1 - p, so `classes_[1]` is the answer where f is more than the negative threshold.
    """
    if machine.task is not Task.BINARY or machine.threshold:
        raise InputError(
            f"{fields.record.name} has a {machine.kind} of {machine.task.value} with threshold "
            f"{machine.threshold:g}, must have a plain classifier of two classes; retrain it"
        )
    if fields.has("n_features_in_"):
        fields.require_width(machine.n_features)
    first_is_positive = _first_is_positive(fields, machine, positive)
    if _score_is_probability(fields, machine, inner):
        decision, error = _log_odds(fields, 0.5 if threshold is None else threshold)
    else:
        decision, error = 0.0 if threshold is None else threshold, 0.0
    moved = move_threshold(
        machine, -decision if first_is_positive else decision, not first_is_positive, error
    )
    return replace(moved, kind=fields.record.name)


def _first_is_positive(fields: Fields, machine: KernelMachine, positive: Any) -> bool:
    if positive is None:
        return False
    is_label = isinstance(positive, str | int | float | np.generic)
    if not is_label or positive not in machine.classes:
        allowed = f"one of {', '.join(map(describe, machine.classes))}"
        raise fields.error("pos_label", f"is {describe(positive)}", allowed)
    return machine.classes.index(positive) == 0


def _log_odds(fields: Fields, probability: float) -> tuple[float, float]:
    if not 0 < probability < 1:
        found = f"is {probability}"
        allowed = "a probability between 0 and 1"
        raise fields.error("threshold", found, allowed, "with it every answer is the same")
    return decision_at(probability)


def _score_is_probability(fields: Fields, machine: KernelMachine, inner: Any) -> bool:
    """Return whether scores are probabilities, which "auto" uses if the estimator has them."""
    method = fields.choice("response_method", ("auto", "predict_proba", "decision_function"))
    if method == "decision_function":
        return False
    if machine.log_odds:
        return True
    if method == "predict_proba" or _has_other_probabilities(_answering(inner)):
        raise InputError(
            f"{fields.record.name} compares probabilities that are not 1 / (1 + exp(-decision));\n"
            "retrain with response_method='decision_function' or with a CalibratedClassifierCV "
            "(ensemble=False, method='sigmoid')"
        )
    return False


def _has_other_probabilities(record: Record) -> bool:
    """Whether the estimator has a predict_proba: Platt's of LIBSVM, modified_huber's of SGD."""
    attributes = record.attributes
    platt = attributes.get("probability")
    has_platt = isinstance(platt, bool | np.bool_) and bool(platt)
    return has_platt or _is_text(attributes.get("loss"), "modified_huber")


def _answering(value: Any) -> Record:
    """Return the innermost estimator of a meta-estimator that was read before."""
    record = flattened(record_of(value))[-1]
    for _ in range(_MAX_DEPTH):
        attributes = record.attributes
        if "best_estimator_" in attributes:
            inner = attributes["best_estimator_"]
        elif "estimators_" in attributes:
            inner = attributes["estimators_"][0]
        elif record.name == "FrozenEstimator":
            inner = attributes["estimator"]
        else:
            break
        record = flattened(record_of(inner))[-1]
    return record


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text
