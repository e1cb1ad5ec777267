"""scikit-learn's SVC, NuSVC and LinearSVC as kernel machines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.frontend.fields import Fields
from kmcompile.frontend.record import Record, describe, record_of
from kmcompile.frontend.sklearn_classes import version_notes
from kmcompile.ir.arrays import Float64Array
from kmcompile.ir.kernel_machine import KernelMachine, Task
from kmcompile.kernels import Kernel, Linear, Poly, Rbf, Sigmoid

_MAX_DEGREE = 2**31 - 1
"""LIBSVM's int."""
_MAX_FEATURES = 2**31 - 1


def read_classifier(record: Record) -> KernelMachine:
    """Return the machine of a fitted classifier, without preprocessing.

    Raises
    ------
    InputError
        It is not fitted, damaged, or has a kernel that cannot be compiled.
    """
    fields = Fields(record)
    fields.require_fitted("classes_")
    notes = version_notes(record)
    return READERS[record.name](fields, notes)


def _read_libsvm(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read an SVC or NuSVC: sklearn/svm/_base.py.

    `predict` uses LIBSVM's signs, kept in the private `_dual_coef_` and `_intercept_`; with
    two classes the public ones are their negatives, with which f > 0 is `classes_[1]`.
    """
    kernel = _kernel(fields)
    fields.require_fitted("support_vectors_")
    classes = fields.labels("classes_")
    n_classes = len(classes)
    support_vectors = fields.array("support_vectors_", (None, None))
    n_sv, width = support_vectors.shape
    if n_sv == 0:
        raise fields.error("support_vectors_", "is empty", "1 or more", "retrain the model")
    _check_bookkeeping(fields, n_classes, n_sv, width)
    n_pairs = n_classes * (n_classes - 1) // 2
    binary = n_classes == 2
    dual_coef = _public(fields, "dual_coef_", (n_classes - 1, n_sv), negated=binary)
    intercept = _public(fields, "intercept_", (n_pairs,), negated=binary)
    shape, break_ties = _voting(fields, n_classes)
    return KernelMachine(
        kind=fields.record.name,
        task=Task.BINARY if binary else Task.ONE_VS_ONE,
        kernel=kernel,
        support_vectors=support_vectors,
        dual_coef=dual_coef,
        intercept=intercept,
        classes=classes,
        n_features=width,
        class_counts=() if binary else fields.counts("_n_support", n_classes),
        zero_is_positive=True,
        break_ties=break_ties,
        decision_function_shape=shape,
        notes=notes + _training_notes(fields),
    )


def _read_linear_svc(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a LinearSVC: sklearn/linear_model/_base.py; its weights become the vectors.

    Two classes have one row, f > 0 is `classes_[1]`; more have a row each and the largest
    wins, trained one-vs-rest or by Crammer and Singer.
    """
    fields.require_fitted("coef_")
    classes = fields.labels("classes_")
    rows = 1 if len(classes) == 2 else len(classes)
    weights = fields.array("coef_", (rows, None))
    _check_width(fields, weights.shape[1])
    return KernelMachine(
        kind=fields.record.name,
        task=Task.BINARY if rows == 1 else Task.ONE_VS_REST,
        kernel=Linear(),
        support_vectors=weights,
        dual_coef=np.eye(rows),
        intercept=_linear_intercept(fields, rows),
        classes=classes,
        n_features=weights.shape[1],
        zero_is_positive=False,
        notes=notes,
    )


READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {"SVC": _read_libsvm, "NuSVC": _read_libsvm, "LinearSVC": _read_linear_svc}
)


def _linear_intercept(fields: Fields, rows: int) -> Float64Array:
    value = fields.get("intercept_")
    if isinstance(value, np.ndarray) and value.ndim:
        return fields.array("intercept_", (rows,))
    # fit_intercept=False leaves a plain 0.0.
    return np.full(rows, fields.number("intercept_"))


def _kernel(fields: Fields) -> Kernel:
    """Return the kernel with its fitted parameters: `_gamma` is what 'scale' came to."""
    name = fields.get("kernel")
    make = _KERNELS.get(name) if isinstance(name, str) else None
    if make is not None:
        fields.number("coef0")  # of every kernel, though only two use it
        return make(fields)
    if callable(name):
        raise InputError(
            f"kernel is a function ({describe(name)}), must be linear, poly, rbf or sigmoid: "
            "a function cannot be compiled;\nretrain with one of these"
        )
    allowed = "linear, poly, rbf or sigmoid"
    raise fields.error("kernel", f"is {describe(name)}", allowed, "retrain with one of these")


def _linear(fields: Fields) -> Kernel:
    if fields.has("_gamma"):
        fields.number("_gamma")
    return Linear()


def _poly(fields: Fields) -> Kernel:
    degree = fields.integer("degree", 0, _MAX_DEGREE, "retrain the model with a whole degree")
    return Poly(_gamma(fields), fields.number("coef0"), degree)


def _rbf(fields: Fields) -> Kernel:
    return Rbf(_gamma(fields))


def _sigmoid(fields: Fields) -> Kernel:
    return Sigmoid(_gamma(fields), fields.number("coef0"))


def _precomputed(fields: Fields) -> Kernel:
    raise InputError(
        "kernel is 'precomputed', must be linear, poly, rbf or sigmoid: the kernel values of "
        "new inputs are not in the model;\nretrain with one of these"
    )


_KERNELS: Mapping[str, Callable[[Fields], Kernel]] = MappingProxyType(
    {
        "linear": _linear,
        "poly": _poly,
        "rbf": _rbf,
        "sigmoid": _sigmoid,
        "precomputed": _precomputed,
    }
)


def _gamma(fields: Fields) -> float:
    fields.require_fitted("_gamma")
    gamma = fields.finite_number("gamma", fields.get("_gamma"))
    if gamma <= 0:
        # scikit-learn accepts 0, with which every kernel value is the same.
        raise fields.error("gamma", f"is {gamma}", "> 0", "retrain the model")
    return gamma


def _public(fields: Fields, name: str, shape: tuple[int, ...], negated: bool) -> Float64Array:
    """Return the public coefficients after comparing them with those `predict` uses."""
    public, private = fields.array(name, shape), fields.array(f"_{name}", shape)
    expected = -private if negated else private
    if not np.array_equal(public, expected):
        sign = "the negative of " if negated else ""
        raise fields.error(name, f"differs from _{name}", f"{sign}the same")
    return public


def _check_bookkeeping(fields: Fields, n_classes: int, n_sv: int, width: int) -> None:
    """Check the attributes that describe the arrays; `predict` rests on some of them."""
    counts = fields.counts("_n_support", n_classes)
    if sum(counts) != n_sv:
        raise fields.error("_n_support", f"adds up to {sum(counts)}", f"{n_sv} in all")
    fields.counts("support_", n_sv)
    if fields.flag("_sparse"):
        _check_full(fields, "dual_coef_")
        _check_full(fields, "_dual_coef_")
    _check_width(fields, width)
    shape_fit: Any = fields.get("shape_fit_")
    match shape_fit:
        case (_, int() as columns) if columns == width:
            return
    raise fields.error("shape_fit_", "does not fit", f"(samples, {width})")


def _check_full(fields: Fields, name: str) -> None:
    """Check that a sparse array stores every element: LIBSVM reads its `data` as dense."""
    values, shape = record_of(fields.get(name)).attributes.get("data"), fields.raw_array(name).shape
    if isinstance(values, np.ndarray) and values.size != math.prod(shape):
        raise fields.error(name, f"stores {values.size} values", f"full, {shape}")


def _check_width(fields: Fields, width: int) -> None:
    if fields.integer("n_features_in_", 1, _MAX_FEATURES) != width:
        found = f"is {describe(fields.get('n_features_in_'))}"
        raise fields.error("n_features_in_", found, f"{width}, as the vectors have")


def _voting(fields: Fields, n_classes: int) -> tuple[str, bool]:
    """Return the shape of `decision_function` and whether ties are broken."""
    shape = fields.choice("decision_function_shape", ("ovr", "ovo"))
    break_ties = fields.flag("break_ties")
    if break_ties and shape == "ovo":
        raise fields.error(
            "break_ties",
            "is True with decision_function_shape='ovo'",
            "False",
            "predict refuses it too: call set_params(break_ties=False)",
        )
    return shape, break_ties and n_classes > 2


def _training_notes(fields: Fields) -> tuple[str, ...]:
    notes = []
    if fields.get("probability", False) is True:
        notes.append(
            "probability=True: the label is that of predict, which can differ from the "
            "largest predict_proba"
        )
    status = fields.get("fit_status_", 0)
    if isinstance(status, int | np.integer) and status == 1:
        notes.append("training stopped at max_iter before it had converged")
    return tuple(notes)
