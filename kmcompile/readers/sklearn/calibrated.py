"""scikit-learn's CalibratedClassifierCV whose decisions are one machine's, as log odds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import describe, record_of

MODULE = "sklearn.calibration"

_SATURATION = (
    "where several classes have a probability that float64 rounds to 1, or all one of 0, "
    "scikit-learn's predict takes the first of them; the C takes the largest log odds"
)


def read_calibrated(fields: Fields, read: Callable[[Any], KernelMachine]) -> KernelMachine:
    """Read a CalibratedClassifierCV(ensemble=False, method="sigmoid") or of a fitted classifier.

    The probability of a class is 1 / (1 + exp(a f + b)) with its calibrator's a and b, so
    f' = -(a f + b) is its log odds. Two classes have one calibrator, and `predict` gives
    `classes_[1]` where its probability is the larger one, f' > 0. Of many classes the first of
    equal largest ones wins; making them add up to 1 changes no order.

    In float64 the sigmoid is 1 from f' = 37 on and 0 below -745. If several classes have equal
    sigmoids there, scikit-learn's `predict` takes the first, but this machine the one with the
    largest f'. Such inputs lie outside the training data.
    """
    fields.require_fitted("calibrated_classifiers_")
    classes = fields.labels("classes_")
    pair = _only_pair(fields)
    machine = read(pair.get("estimator" if pair.has("estimator") else "base_estimator"))
    _require_plain_rows(fields.record.name, machine)
    if machine.classes != classes or pair.labels("classes") != classes:
        raise fields.error("classes_", "differs from those of the classifier inside", "the same")
    if fields.has("n_features_in_"):
        fields.require_width(machine.n_features)
    slopes, offsets = _sigmoids(pair, machine.n_decisions)
    notes = machine.notes + ((_SATURATION,) if machine.task is Task.ONE_VS_REST else ())
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = slopes * machine.intercept
        error = float(np.abs(slopes).max()) * machine.intercept_error
        error += UNIT_ROUNDOFF_64 * float((np.abs(scaled) + np.abs(scaled + offsets)).max())
        return replace(
            machine,
            kind=fields.record.name,
            dual_coef=-slopes[:, None] * machine.dual_coef,
            intercept=-(scaled + offsets),
            intercept_error=error * (1 + 1e-9),
            zero_is_positive=False,
            last_of_equal=False,
            log_odds=True,
            platt=None,
            decision_function_shape="ovr",
            notes=notes,
        )


def _only_pair(fields: Fields) -> Fields:
    """Return the attributes of the only classifier with its calibrators."""
    pairs = fields.get("calibrated_classifiers_")
    if not isinstance(pairs, list) or not pairs:
        raise fields.error("calibrated_classifiers_", f"is {describe(pairs)}", "a list of 1")
    if len(pairs) > 1:
        raise InputError(
            f"{fields.record.name} is an ensemble of {len(pairs)} classifiers, must be 1: each "
            "would be another machine;\nfit it with ensemble=False"
        )
    record = record_of(pairs[0])
    if (record.module, record.name) != (MODULE, "_CalibratedClassifier"):
        found = f"has {describe(record)}"
        raise fields.error("calibrated_classifiers_", found, "scikit-learn's own")
    pair = Fields(record, "calibrated_classifiers_[0].")
    method = pair.get("method")
    if not isinstance(method, str) or method != "sigmoid":
        raise InputError(
            f"{fields.record.name} has method={describe(method)}, must be 'sigmoid', whose "
            "probabilities follow from the decision's exponential;\nfit it with method='sigmoid'"
        )
    return pair


def _require_plain_rows(name: str, machine: KernelMachine) -> None:
    if machine.task is Task.ONE_VS_ONE:
        raise InputError(
            f"{name} calibrates the votes of a one-vs-one {machine.kind}, which are no sums of "
            "kernels;\ncalibrate a OneVsRestClassifier of it"
        )
    if machine.task not in (Task.BINARY, Task.ONE_VS_REST):
        raise InputError(f"{name} calibrates a {machine.kind}, must be a classifier; retrain it")
    if machine.kind == name or machine.threshold:
        raise InputError(
            f"{name} calibrates a {machine.kind} that is calibrated or has a threshold already; "
            "calibrate the classifier inside"
        )


def _sigmoids(pair: Fields, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b of every row, each ndarray of shape (n_rows,), float64."""
    name = "calibrators" if pair.has("calibrators") else "calibrators_"
    calibrators = pair.get(name)
    if not isinstance(calibrators, list) or len(calibrators) != n_rows:
        raise pair.error(name, f"is {describe(calibrators)}", f"a list of {n_rows}")
    rows = []
    for number, value in enumerate(calibrators):
        record = record_of(value)
        if (record.module, record.name) != (MODULE, "_SigmoidCalibration"):
            raise pair.error(f"{name}[{number}]", f"is {describe(record)}", "a sigmoid")
        sigmoid = Fields(record, f"{pair.prefix}{name}[{number}].")
        rows.append((sigmoid.number("a_"), sigmoid.number("b_")))
    slopes, offsets = np.array(rows).T
    return slopes, offsets
