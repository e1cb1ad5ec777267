"""ONNX's support vector and linear operators as kernel machines.

References
----------
ONNX operators of the domain ai.onnx.ml. What they leave open is as onnxruntime has it
(core/providers/cpu/ml: svmclassifier.cc, svmregressor.cc, linearclassifier.cc):
kernel_params is (gamma, coef0, degree); decision values are sum_i coefficients_i K(s_i, x) + rho,
with the sign of rho opposite to LIBSVM's; a pair's value above 0 votes for its first class, any
other for its second; the most votes win, the first of equals, also where prob_a and prob_b give
probabilities; post_transform changes scores and never labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from kmcompile.kernels import Kernel, Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.linear import linear_machine
from kmcompile.readers.onnx.attributes import OnnxAttributes
from kmcompile.readers.platt import Platt, platt_of

_KERNEL = ("kernel_type", "kernel_params")
_LABELS = ("classlabels_ints", "classlabels_strings")
_TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
_MAX_DEGREE = 2.0**24
"""Largest degree: above it float32 does not hold every integer."""


def _svm_classifier(node: Any) -> KernelMachine:
    """Read an SVMClassifier: one-vs-one in LIBSVM's layout.

    With two classes f is negated here, so that f > 0 gives `classes[1]`.
    """
    own = ("coefficients", "support_vectors", "rho", "vectors_per_class", "post_transform")
    attributes = OnnxAttributes(node, (*own, *_KERNEL, *_LABELS, "prob_a", "prob_b"))
    classes = attributes.labels()
    n_classes = len(classes)
    n_pairs = n_classes * (n_classes - 1) // 2
    attributes.choice("post_transform", "NONE", _TRANSFORMS)
    counts = attributes.counts("vectors_per_class", n_classes)
    support_vectors = _support_vectors(attributes, sum(counts), "vectors_per_class")
    n_sv = len(support_vectors)
    dual_coef = attributes.floats("coefficients", (n_classes - 1) * n_sv)
    intercept = attributes.floats("rho", n_pairs)
    binary = n_classes == 2
    sign = -1.0 if binary else 1.0
    platt, notes = _probabilities(attributes, n_pairs)
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY if binary else Task.ONE_VS_ONE,
        kernel=_kernel(attributes),
        support_vectors=support_vectors,
        dual_coef=sign * dual_coef.reshape(n_classes - 1, n_sv),
        intercept=sign * intercept,
        classes=classes,
        n_features=support_vectors.shape[1],
        class_counts=() if binary else counts,
        zero_is_positive=True,
        platt=platt,
        notes=notes,
    )


def _svm_regressor(node: Any) -> KernelMachine:
    """Read an SVMRegressor: f is the value, or with one_class f > 0 is 1 and any other -1."""
    own = ("coefficients", "support_vectors", "rho", "n_supports", "one_class", "post_transform")
    attributes = OnnxAttributes(node, (*own, *_KERNEL))
    attributes.choice("post_transform", "NONE", ("NONE",))
    support_vectors = _support_vectors(
        attributes, attributes.integer("n_supports", 0), "n_supports"
    )
    machine = KernelMachine(
        kind="SVR",
        task=Task.REGRESSION,
        kernel=_kernel(attributes),
        support_vectors=support_vectors,
        dual_coef=attributes.floats("coefficients", len(support_vectors))[None],
        intercept=attributes.floats("rho", 1),
        classes=(),
        n_features=support_vectors.shape[1],
        zero_is_positive=False,
    )
    return one_class(machine) if attributes.integer("one_class", 0) else machine


def one_class(machine: KernelMachine) -> KernelMachine:
    """Return the one-class machine whose label is the sign of a regression's value."""
    return replace(machine, kind="OneClassSVM", task=Task.ONE_CLASS, classes=(-1, 1))


def _linear_classifier(node: Any) -> KernelMachine:
    """Read a LinearClassifier: the largest <w, x> + b wins, the first of equals.

    Two classes have one row, f > 0 is the second, or that row and its negative before it.
    """
    own = ("coefficients", "intercepts", "multi_class", "post_transform")
    attributes = OnnxAttributes(node, (*own, *_LABELS))
    classes = attributes.labels()
    transform = attributes.choice("post_transform", "NONE", _TRANSFORMS)
    intercept = attributes.floats("intercepts")
    weights = _weights(attributes, len(intercept))
    if len(classes) == 2 and len(weights) == 2:
        if np.any(weights[0] != -weights[1]) or intercept[0] != -intercept[1]:
            found = "has two rows for two classes"
            raise attributes.error("coefficients", found, "each other's negative")
        weights, intercept = weights[1:], intercept[1:]
    rows = 1 if len(classes) == 2 else len(classes)
    if len(weights) != rows:
        raise attributes.error("intercepts", f"has {len(intercept)} values", f"{rows}")
    kind = "LinearSVC" if transform == "NONE" else "LogisticRegression"
    task = Task.BINARY if rows == 1 else Task.ONE_VS_REST
    return linear_machine(kind, task, weights, intercept, classes)


def _linear_regressor(node: Any) -> KernelMachine:
    """Read a LinearRegressor of one target."""
    own = ("coefficients", "intercepts", "targets", "post_transform")
    attributes = OnnxAttributes(node, own)
    attributes.choice("post_transform", "NONE", ("NONE",))
    targets = attributes.integer("targets", 1)
    if targets != 1:
        raise attributes.error("targets", f"is {targets}", "1", "save a model a target")
    weights = _weights(attributes, 1)
    given = len(attributes.floats("intercepts")) > 0
    intercept = attributes.floats("intercepts", 1) if given else np.zeros(1)
    return linear_machine("LinearSVR", Task.REGRESSION, weights, intercept)


MACHINES: Mapping[str, Callable[[Any], KernelMachine]] = MappingProxyType(
    {
        "SVMClassifier": _svm_classifier,
        "SVMRegressor": _svm_regressor,
        "LinearClassifier": _linear_classifier,
        "LinearRegressor": _linear_regressor,
    }
)


def _support_vectors(attributes: OnnxAttributes, n_sv: int, counted: str) -> Float64Array:
    values = attributes.floats("support_vectors")
    if not 1 <= n_sv <= len(values):
        found = f"counts {n_sv} vectors for {len(values)} values"
        raise attributes.error(counted, found, "1 or more, as support_vectors has")
    return _matrix(attributes, "support_vectors", values, n_sv)


def _weights(attributes: OnnxAttributes, n_rows: int) -> Float64Array:
    values = attributes.floats("coefficients")
    if not 1 <= n_rows <= len(values):
        found = f"has {len(values)} values for {n_rows} intercepts"
        raise attributes.error("coefficients", found, "1 or more for each")
    return _matrix(attributes, "coefficients", values, n_rows)


def _matrix(attributes: OnnxAttributes, name: str, values: Float64Array, n: int) -> Float64Array:
    if len(values) % n:
        found = f"has {len(values)} values"
        raise attributes.error(name, found, f"a multiple of its {n} rows")
    return values.reshape(n, -1)


def _kernel(attributes: OnnxAttributes) -> Kernel:
    name = attributes.choice("kernel_type", "LINEAR", ("LINEAR", "POLY", "RBF", "SIGMOID"))
    if name == "LINEAR":
        attributes.floats("kernel_params")
        return Linear()
    gamma, coef0, degree = map(float, attributes.floats("kernel_params", 3))
    if gamma <= 0:
        raise attributes.error(
            "kernel_params[0], gamma,", f"is {gamma}", "> 0", "retrain the model"
        )
    if name == "RBF":
        return Rbf(gamma)
    if name == "SIGMOID":
        return Sigmoid(gamma, coef0)
    if not degree.is_integer() or not 0 <= degree <= _MAX_DEGREE:
        allowed = f"an integer from 0 to {_MAX_DEGREE:.0f}"
        raise attributes.error("kernel_params[2], the degree,", f"is {degree}", allowed)
    return Poly(gamma, coef0, int(degree))


def _probabilities(
    attributes: OnnxAttributes, n_pairs: int
) -> tuple[Platt | None, tuple[str, ...]]:
    if not len(attributes.floats("prob_a")):
        attributes.floats("prob_b", 0)
        return None, ()
    return platt_of(*(attributes.floats(name, n_pairs).tolist() for name in ("prob_a", "prob_b")))
