"""scikit-learn's estimators made by LIBSVM: SVC, NuSVC, OneClassSVM, SVR and NuSVR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.fields import Fields
from kmcompile.readers.platt import Platt, platt_of
from kmcompile.readers.sklearn.libsvm_vectors import read_expansion


def _read_classifier(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read an SVC or NuSVC: sklearn/svm/_base.py.

    `predict` uses LIBSVM's signs, kept in the private `_dual_coef_` and `_intercept_`; with
    two classes the public ones are their negatives, with which f > 0 is `classes_[1]`.
    """
    fields.require_fitted("classes_")
    expansion = read_expansion(fields)
    classes = fields.labels("classes_")
    n_classes = len(classes)
    n_sv = len(expansion.support_vectors)
    counts = fields.counts("_n_support", n_classes)
    if sum(counts) != n_sv:
        raise fields.error("_n_support", f"adds up to {sum(counts)}", f"{n_sv} in all")
    n_pairs = n_classes * (n_classes - 1) // 2
    binary = n_classes == 2
    dual_coef = _public(fields, "dual_coef_", (n_classes - 1, n_sv), negated=binary)
    intercept = _public(fields, "intercept_", (n_pairs,), negated=binary)
    shape, break_ties = _voting(fields, n_classes)
    platt, of_platt = _platt(fields, n_pairs)
    return KernelMachine(
        kind=fields.record.name,
        task=Task.BINARY if binary else Task.ONE_VS_ONE,
        kernel=expansion.kernel,
        support_vectors=expansion.support_vectors,
        dual_coef=dual_coef,
        intercept=intercept,
        classes=classes,
        n_features=expansion.n_features,
        preprocessing=expansion.steps,
        rounded_vectors=bool(expansion.steps),
        class_counts=() if binary else counts,
        zero_is_positive=True,
        break_ties=break_ties,
        decision_function_shape=shape,
        platt=platt,
        notes=notes + of_platt + _training_notes(fields),
    )


def _read_one_class(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a OneClassSVM: `predict` is LIBSVM's, +1 where f > 0 and -1 elsewhere."""
    machine = _read_one_row(fields, notes, Task.ONE_CLASS)
    if not np.array_equal(fields.array("offset_", (1,)), -machine.intercept):
        raise fields.error("offset_", "differs from intercept_", "its negative")
    return machine


def _read_regressor(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read an SVR or NuSVR: `predict` is f."""
    return _read_one_row(fields, notes, Task.REGRESSION)


def _read_one_row(fields: Fields, notes: tuple[str, ...], task: Task) -> KernelMachine:
    fields.require_fitted("support_vectors_")
    expansion = read_expansion(fields)
    n_sv = len(expansion.support_vectors)
    return KernelMachine(
        kind=fields.record.name,
        task=task,
        kernel=expansion.kernel,
        support_vectors=expansion.support_vectors,
        dual_coef=_public(fields, "dual_coef_", (1, n_sv), negated=False),
        intercept=_public(fields, "intercept_", (1,), negated=False),
        classes=(-1, 1) if task is Task.ONE_CLASS else (),
        n_features=expansion.n_features,
        preprocessing=expansion.steps,
        rounded_vectors=bool(expansion.steps),
        zero_is_positive=False,
        notes=notes + _training_notes(fields),
    )


READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {
        "SVC": _read_classifier,
        "NuSVC": _read_classifier,
        "OneClassSVM": _read_one_class,
        "SVR": _read_regressor,
        "NuSVR": _read_regressor,
    }
)


def _public(fields: Fields, name: str, shape: tuple[int, ...], negated: bool) -> Float64Array:
    """Return the public coefficients after comparing them with those `predict` uses."""
    public, private = fields.array(name, shape), fields.array(f"_{name}", shape)
    expected = -private if negated else private
    if not np.array_equal(public, expected):
        sign = "the negative of " if negated else ""
        raise fields.error(name, f"differs from _{name}", f"{sign}the same")
    return public


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


def _platt(fields: Fields, n_pairs: int) -> tuple[Platt | None, tuple[str, ...]]:
    """Return the sigmoid of probability=True, and the notes on it."""
    if fields.get("probability", False) is not True:
        return None, ()
    a, b = ("_probA", "_probB") if fields.has("_probA") else ("probA_", "probB_")
    return platt_of(fields.array(a, (n_pairs,)).tolist(), fields.array(b, (n_pairs,)).tolist())


def _training_notes(fields: Fields) -> tuple[str, ...]:
    notes = []
    status = fields.get("fit_status_", 0)
    if isinstance(status, int | np.integer) and status == 1:
        notes.append("training stopped at max_iter before it had converged")
    return tuple(notes)
