"""scikit-learn's KernelRidge and GaussianProcessRegressor as kernel machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Kernel
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array, rounded_sum
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.readers.fields import Fields
from kmcompile.readers.sklearn.gaussian_process_kernel import (
    Covariance,
    is_covariance,
    read_covariance,
)
from kmcompile.readers.sklearn.kernels import read_pairwise_kernel, through
from kmcompile.steps import Step


def _read_kernel_ridge(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a KernelRidge: sum_i dual_coef_i K(s_i, x), over all training inputs.

    K is named, or an object of sklearn.gaussian_process.kernels.
    """
    fields.require_fitted("dual_coef_")
    for name in ("gamma", "coef0", "degree"):
        fields.get(name)
    inputs = _training_inputs(fields, "X_fit_")
    kernel = fields.get("kernel")
    if is_covariance(kernel):
        covariance = _with_kernel(kernel, inputs.shape[1], "kernel")
        coefficients = _one_target(fields, "dual_coef_", len(inputs))
        return _of_covariance(fields, notes, covariance, inputs, coefficients)
    steps, kernel = read_pairwise_kernel(fields, inputs.shape[1])
    coefficients = _one_target(fields, "dual_coef_", len(inputs))
    return _machine(fields, notes, steps, kernel, inputs, coefficients, 0.0)


def _read_gaussian_process(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read the mean of a GaussianProcessRegressor: sum_i alpha_i k(s_i, x), target units."""
    fields.require_fitted("alpha_")
    inputs = _training_inputs(fields, "X_train_")
    covariance = _with_kernel(fields.get("kernel_"), inputs.shape[1], "kernel_")
    alpha = _one_target(fields, "alpha_", len(inputs))
    std, mean = fields.first_number("_y_train_std"), fields.first_number("_y_train_mean")
    return _of_covariance(fields, notes, covariance, inputs, alpha, std, mean)


def _with_kernel(value: Any, n_features: int, name: str) -> Covariance:
    """Return a covariance that depends on the input."""
    covariance = read_covariance(value, n_features, name=name)
    if covariance.kernel is None:
        raise InputError(f"{name} is constant, must have a kernel of the input; retrain with one")
    return covariance


def _of_covariance(
    fields: Fields,
    notes: tuple[str, ...],
    covariance: Covariance,
    inputs: Float64Array,
    alpha: Float64Array,
    std: float = 1.0,
    mean: float = 0.0,
) -> KernelMachine:
    """Return the machine of sum_i alpha_i k(s_i, x) in units of the target.

    With k = c + v K and a target that was normalised to (y - mean) / std, the coefficients are
    std v alpha_i and the intercept is std c sum_i alpha_i + mean.
    """
    assert covariance.kernel is not None
    with np.errstate(over="ignore"):
        coefficients = std * covariance.scale * alpha
    constant = std * covariance.constant * rounded_sum(alpha)
    intercept = constant + mean
    # Of the constant at most five numbers are rounded, then the sum.
    error = UNIT_ROUNDOFF_64 * (5 * abs(constant) + abs(intercept)) * (1 + 1e-9)
    steps, kernel = covariance.steps, covariance.kernel
    machine = _machine(fields, notes, steps, kernel, inputs, coefficients, intercept)
    return replace(machine, intercept_error=error)


READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {"KernelRidge": _read_kernel_ridge, "GaussianProcessRegressor": _read_gaussian_process}
)


def _machine(
    fields: Fields,
    notes: tuple[str, ...],
    steps: tuple[Step, ...],
    kernel: Kernel,
    inputs: Float64Array,
    coefficients: Float64Array,
    intercept: float,
) -> KernelMachine:
    fields.require_width(inputs.shape[1])
    return KernelMachine(
        kind=fields.record.name,
        task=Task.REGRESSION,
        kernel=kernel,
        support_vectors=through(steps, inputs),
        rounded_vectors=bool(steps),
        dual_coef=coefficients[None, :],
        intercept=np.array([intercept]),
        classes=(),
        n_features=inputs.shape[1],
        preprocessing=steps,
        zero_is_positive=False,
        notes=notes,
    )


def _training_inputs(fields: Fields, name: str) -> Float64Array:
    inputs = fields.array(name, (None, None))
    if len(inputs) == 0:
        raise fields.error(name, "is empty", "1 row or more", "retrain the model")
    if inputs.shape[1] == 0:
        raise fields.error(name, "has no features", "1 or more", "retrain the model")
    return inputs


def _one_target(fields: Fields, name: str, n_inputs: int) -> Float64Array:
    """Return the coefficients of the only target; a target in a column gives a column."""
    shape = fields.raw_array(name).shape
    if len(shape) == 2 and shape[1] > 1:
        raise InputError(
            f"{fields.record.name} was trained on {shape[1]} targets, must be 1; "
            "train one model a target"
        )
    wanted = (n_inputs,) if len(shape) == 1 else (n_inputs, 1)
    return fields.array(name, wanted).ravel()
