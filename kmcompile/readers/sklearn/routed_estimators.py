"""The package's own estimators of routed machines (`kmcompile.training`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.kernels import Kernel, Poly, Rbf
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.model.routing import Routing
from kmcompile.readers.fields import Fields

_KERNELS = ("rbf", "poly", "linear")


def _read_local_svms(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a fitted classifier: a sign for two classes, otherwise a vote of each pair."""
    return _read_classifier(fields, notes, Task.ONE_VS_ONE)


def _read_landmarks(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a fitted classifier: a sign for two classes, otherwise a decision for each class."""
    return _read_classifier(fields, notes, Task.ONE_VS_REST)


def _read_classifier(fields: Fields, notes: tuple[str, ...], of_more: Task) -> KernelMachine:
    fields.require_fitted("route_weights_")
    classes = fields.labels("classes_")
    return _machine(fields, notes, Task.BINARY if len(classes) == 2 else of_more, classes)


def _read_regressor(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    fields.require_fitted("route_weights_")
    return _machine(fields, notes, Task.REGRESSION, ())


READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {
        "FaLKSVC": _read_local_svms,
        "DCPredClassifier": _read_landmarks,
        "DCPredRegressor": _read_regressor,
    }
)


def _machine(
    fields: Fields, notes: tuple[str, ...], task: Task, classes: tuple[Label, ...]
) -> KernelMachine:
    n_decisions = _n_decisions(task, len(classes))
    weights = fields.array("route_weights_", (None, None))
    width = weights.shape[1]
    fields.require_width(width)
    intercepts = fields.array("intercept_", (None, n_decisions))
    vectors = fields.array("support_vectors_", (None, width))
    return KernelMachine(
        kind=fields.record.name,
        task=task,
        kernel=_kernel(fields),
        support_vectors=vectors,
        dual_coef=fields.array("dual_coef_", (n_decisions, len(vectors))),
        intercept=np.zeros(n_decisions),
        classes=classes,
        n_features=width,
        zero_is_positive=task is Task.BINARY,
        notes=notes,
        routing=Routing(
            weights=weights,
            offsets=fields.array("route_offsets_", (len(weights),)),
            node_ends=fields.whole_numbers("node_ends_"),
            targets=fields.whole_numbers("choice_targets_"),
            leaf_ends=fields.whole_numbers("leaf_ends_"),
            intercepts=intercepts,
            relative_gamma=fields.array("relative_gamma_", (len(vectors),)),
            pair_coef=fields.array("pair_coef_", (n_decisions, None)),
            leaf_weights=fields.array("leaf_weights_", (None, n_decisions, width)),
        ),
    )


def _n_decisions(task: Task, n_classes: int) -> int:
    if task is Task.ONE_VS_ONE:
        return n_classes * (n_classes - 1) // 2
    return n_classes if task is Task.ONE_VS_REST else 1


def _kernel(fields: Fields) -> Kernel:
    if not fields.has("kernel"):  # landmarks always have rbf kernels
        return Rbf(fields.number("gamma_"))
    name = fields.choice("kernel", _KERNELS)
    if name == "linear":
        return Poly(1.0, 0.0, 1)  # <s, x>: a sum over vectors, as that of any leaf
    gamma = fields.number("gamma_")
    if name == "rbf":
        return Rbf(gamma)
    return Poly(gamma, fields.number("coef0"), fields.integer("degree", 1, 100))
