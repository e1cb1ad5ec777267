"""LIBLINEAR's text files as linear machines.

The grammar is that of save_model, the meaning that of predict_values, linear.cpp of LIBLINEAR 2.50.
"""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, ITEM_BYTES, current_budget
from kmcompile.readers.fields import MAX_CLASSES
from kmcompile.readers.libsvm.header import Header
from kmcompile.readers.libsvm.text import LARGEST_INT, Digits, Lines, few_digits, real, shown
from kmcompile.readers.linear import linear_machine

_KEYS = ("solver_type", "nr_class", "label", "nr_feature", "bias", "rho")

START = b"solver_type "
"""What save_model writes first."""

_SUPPORT_VECTORS = (
    *("L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "MCSVM_CS"),
    "L1R_L2LOSS_SVC",
)
_LOGISTIC = ("L2R_LR", "L1R_LR", "L2R_LR_DUAL")
_REGRESSIONS = ("L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL")
_ONE_CLASS = "ONECLASS_SVM"
_JOINT = "MCSVM_CS"
"""Crammer and Singer's machine has a column a class, also for two classes; predict then looks at
the first column only."""

_KINDS = MappingProxyType(
    {
        **dict.fromkeys(_SUPPORT_VECTORS, "LinearSVC"),
        **dict.fromkeys(_LOGISTIC, "LogisticRegression"),
        **dict.fromkeys(_REGRESSIONS, "LinearSVR"),
        _ONE_CLASS: "OneClassSVM",
    }
)
"""scikit-learn's classes of LIBLINEAR's solvers."""

_EXACT_BYTES = 20 * ITEM_BYTES
"""Cost of an intercept, which is computed as a fraction."""


def read_liblinear(content: bytes) -> KernelMachine:
    """Return the machine of a LIBLINEAR model.

    Raises
    ------
    InputError
        It is damaged or cannot be compiled; the message starts with the number of the line.
    """
    lines = Lines(content)
    header = Header(lines, _KEYS, "w")
    solver = header.choice("solver_type", tuple(_KINDS))
    task, classes = _labels(header, solver)
    n_features = header.integer("nr_feature", 1, LARGEST_INT)
    bias = header.number("bias")
    n_columns = len(classes) if task is Task.ONE_VS_REST or solver == _JOINT else 1
    weights, digits = _weights(lines, n_features + (bias >= 0), n_columns)
    weights = weights[:, : 1 if task is not Task.ONE_VS_REST else None]
    rho = header.number("rho") if task is Task.ONE_CLASS else 0.0
    intercept, error = _intercept(weights, bias, rho, n_features)
    rows = weights[:n_features].T
    binary = task is Task.BINARY
    # f > 0 gives the first of two labels: f is negated, so that f >= 0 gives the second.
    return linear_machine(
        _KINDS[solver],
        task,
        -rows if binary else rows,
        0.0 - intercept if binary else intercept,
        classes,
        zero_is_positive=binary,
        log_odds=solver in _LOGISTIC,
        intercept_error=error,
        notes=tuple(few_digits({"weights": digits, "bias and rho": header.digits})),
    )


def _labels(header: Header, solver: str) -> tuple[Task, tuple[int, ...]]:
    """Return the task, and the labels in the order of the file, which is that of the columns."""
    regression = solver in _REGRESSIONS
    if solver != _ONE_CLASS:
        header.refuse("rho", f"must not be: only {_ONE_CLASS} has it")
    if regression or solver == _ONE_CLASS:
        header.integer("nr_class", 2, 2)
        header.refuse("label", "must not be: only classifiers have it")
        return (Task.REGRESSION, ()) if regression else (Task.ONE_CLASS, (-1, 1))
    n_classes = header.integer("nr_class", 1, MAX_CLASSES)
    if n_classes == 1:
        raise header.error("nr_class", "is 1, must be 2 or more", "retrain with two classes")
    labels = header.integers("label", n_classes, -LARGEST_INT - 1)
    if len(set(labels)) < n_classes:
        raise header.error("label", "has a label twice, must be all different")
    return Task.BINARY if n_classes == 2 else Task.ONE_VS_REST, labels


def _weights(lines: Lines, n_rows: int, n_columns: int) -> tuple[Float64Array, Digits]:
    """Return a row a feature, the bias behind them, and a column a class."""
    values, digits = array("d"), Digits()
    for row in range(n_rows):
        words = lines.words(f"{n_rows - row} more lines of weights")
        if len(words) != n_columns:
            raise lines.error(
                f"has {len(words)} weights, must have {n_columns}; save the model again"
            )
        for word in words:
            value = real(word)
            if isinstance(value, str):
                raise lines.error(f"a weight is {shown(word)}, must be {value}; save it again")
            values.append(value)
            digits.count(word)
    lines.require_end()
    n_numbers = 3 * len(values) + 2 * n_columns**2  # copies, and the coefficients of the classes
    current_budget().spend(FLOAT_BYTES * n_numbers, "its weights")
    return np.frombuffer(values).reshape(n_rows, n_columns), digits


def _intercept(
    weights: Float64Array, bias: float, rho: float, n_features: int
) -> tuple[Float64Array, float]:
    """Return weight * bias - rho of each column, and a bound on what rounding takes of it."""
    current_budget().spend(_EXACT_BYTES * weights.shape[1], "the intercepts")
    last = weights[n_features].tolist() if bias >= 0 else [0.0] * weights.shape[1]
    exact = [Fraction(weight) * Fraction(bias) - Fraction(rho) for weight in last]
    try:
        rounded = [float(value) for value in exact]
    except OverflowError:
        raise InputError(
            f"bias {bias} times its weight is too large for float64; scale the features, and "
            "retrain the model"
        ) from None
    errors = [abs(one - Fraction(value)) for one, value in zip(exact, rounded, strict=True)]
    largest = max(errors)
    return np.array(rounded), math.nextafter(float(largest), math.inf) if largest else 0.0
