"""scikit-learn's OneVsRestClassifier: the vectors of all its estimators, each once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.passes.merge_duplicate_vectors import merge_duplicate_vectors
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.platt import OF_MANY, PLATT_NOTE
from kmcompile.readers.record import describe, record_of
from kmcompile.readers.size_limits import count_numbers, require_room
from kmcompile.readers.sklearn.classes import release_of
from kmcompile.readers.sklearn.labels import label_binarizer
from kmcompile.steps import Step

_FIRST_OF_EQUAL_SINCE = (1, 8)
"""Before this release `predict` took the last of equal decisions: sklearn/multiclass.py."""
_UNION_COPIES = 5
"""Number of copies of vectors and coefficients: joined, sorted, and merged if equal."""
_CHANGED = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV")
"""Classes whose decision_function, if they have one, is not the machine's f."""


def read_one_vs_rest(fields: Fields, read: Callable[[Any], KernelMachine]) -> KernelMachine:
    """Read a OneVsRestClassifier of binary classifiers.

    `predict` compares the estimators' decision values; with two classes there is one estimator
    and f > 0 is `classes_[1]`.
    """
    fields.require_fitted("classes_")
    classes = fields.labels("classes_")
    kinds = ("binary",) if len(classes) == 2 else ("multiclass",)
    label_binarizer(fields, "label_binarizer_", kinds)
    estimators = fields.get("estimators_")
    n_rows = 1 if len(classes) == 2 else len(classes)
    if not isinstance(estimators, list) or len(estimators) != n_rows:
        raise fields.error("estimators_", "does not fit classes_", f"a list of {n_rows}")
    machines = _rows(read, classes, estimators)
    first = machines[0]
    if n_rows == 1:
        united = replace(first, classes=classes, zero_is_positive=False)
    else:
        united = _united(machines, classes, release_of(fields.record) < _FIRST_OF_EQUAL_SINCE)
    if fields.has("n_features_in_"):
        fields.require_width(first.n_features)
    return replace(united, kind=fields.record.name, decision_function_shape="ovr")


def _rows(
    read: Callable[[Any], KernelMachine], classes: tuple[Label, ...], estimators: list[Any]
) -> list[KernelMachine]:
    """Return the machine of each estimator, after a check of their joint size."""
    machines: list[KernelMachine] = []
    n_sv = 0
    for label, estimator in zip(classes[-len(estimators) :], estimators, strict=True):
        machine = _read_row(read, label, estimator)
        machines.append(machine)
        n_sv += machine.n_support_vectors
        n_numbers = n_sv * (machine.support_vectors.shape[1] + len(estimators))
        steps = len(machines) * count_numbers(machine.preprocessing)
        require_room(n_numbers + steps, "a OneVsRestClassifier")
    return machines


def _read_row(read: Callable[[Any], KernelMachine], label: Label, value: Any) -> KernelMachine:
    """Return the machine of one class against the others."""
    if record_of(value).name == "_ConstantPredictor":
        raise InputError(
            f"all or no training samples were of class {describe(label)}: its estimator is a "
            "constant; retrain without the class or with samples of it"
        )
    machine = read(value)
    if machine.task is not Task.BINARY or machine.kind in _CHANGED or machine.classes != (0, 1):
        raise InputError(
            f"the estimator of class {describe(label)} is no plain classifier of two classes, as a "
            f"{machine.kind} of {machine.task.value}; retrain with one that has a decision_function"
        )
    return machine


def _united(
    machines: list[KernelMachine], classes: tuple[Label, ...], last_of_equal: bool
) -> KernelMachine:
    first = machines[0]
    for machine in machines:
        same = machine.kernel == first.kernel and machine.n_features == first.n_features
        if not same or not _same_steps(machine.preprocessing, first.preprocessing):
            raise InputError(
                "estimators_ have different kernels or preprocessing, must have the same;\n"
                "retrain with a fixed gamma and with all scaling before the OneVsRestClassifier"
            )
    n_sv = sum(machine.n_support_vectors for machine in machines)
    n_numbers = n_sv * (first.support_vectors.shape[1] + len(machines))
    current_budget().spend(_UNION_COPIES * FLOAT_BYTES * n_numbers, f"{len(machines)} estimators")
    notes = dict.fromkeys(note for machine in machines for note in machine.notes)
    stacked = replace(
        first,
        task=Task.ONE_VS_REST,
        support_vectors=np.concatenate([machine.support_vectors for machine in machines]),
        dual_coef=block_diag(*(machine.dual_coef for machine in machines)),
        intercept=np.concatenate([machine.intercept for machine in machines]),
        classes=classes,
        zero_is_positive=False,
        last_of_equal=last_of_equal,
        log_odds=all(machine.log_odds for machine in machines),
        platt=None,
        notes=tuple(OF_MANY if note == PLATT_NOTE else note for note in notes),
    )
    return replace(merge_duplicate_vectors(stacked), notes=stacked.notes)


def _same_steps(steps: tuple[Step, ...], others: tuple[Step, ...]) -> bool:
    return len(steps) == len(others) and all(
        type(step) is type(other)
        and all(
            np.array_equal(getattr(step, field.name), getattr(other, field.name))
            for field in step.fields()
        )
        for step, other in zip(steps, others, strict=True)
    )
