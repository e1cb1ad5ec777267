"""The kernel of scikit-learn's LIBSVM estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kmcompile.errors import InputError
from kmcompile.kernels import Kernel, Linear, Poly, Rbf, Sigmoid
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import describe

_MAX_DEGREE = 2**31 - 1
"""Largest degree: LIBSVM's C type int."""


def libsvm_kernel(fields: Fields) -> Kernel:
    """Return the kernel with its fitted parameters; `_gamma` is the value of gamma='scale'."""
    name = fields.get("kernel")
    make = _KERNELS.get(name) if isinstance(name, str) else None
    if make is not None:
        fields.number("coef0")  # every kernel has it, though only two use it
        return make(fields)
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
        "new inputs are not in the model;\ngive the vectors and the kernel by hand: "
        "kmcompile.precomputed_machine"
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
