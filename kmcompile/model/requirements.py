"""What a trained machine must be: numbers that are finite, parts that are known and fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcompile import steps
from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.steps.step import Step


def require(condition: bool, problem: str) -> None:
    """Raise InputError with a problem of the model unless a condition holds."""
    if not condition:
        raise InputError(f"{problem}; the model is damaged or not of a supported kind")


def require_finite(name: str, array: Float64Array) -> None:
    """Raise InputError with the first number of an array that is not finite."""
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = ", ".join(str(int(i)) for i in bad[0])
        value = array[tuple(bad[0])]
        raise InputError(f"{name}[{where}] is {value}, must be finite; retrain the model")


def require_nonnegative(kernel: str, support_vectors: Float64Array) -> None:
    """Raise InputError with the first negative number, which the kernel does not take."""
    bad = np.argwhere(support_vectors < 0)
    if len(bad):
        i, j = (int(index) for index in bad[0])
        raise InputError(
            f"support_vectors[{i}, {j}] is {support_vectors[i, j]}, must be 0 or more for the "
            f"{kernel} kernel; retrain with features that are never negative"
        )


def require_registered(part: object, catalogue: Sequence[type], kind: str) -> None:
    """Refuse a kernel or step that is not registered: storage, reports and hashes need its name."""
    if type(part) not in catalogue:
        name = type(part).__name__
        raise InputError(f"{name} is no {kind} that is known; call kmcompile.register_{kind} first")


def n_out_of(preprocessing: Sequence[Step], n_features: int) -> int:
    """Return how many features the steps give; raise InputError unless each fits the one before."""
    for step in preprocessing:
        _validate_step(step, n_features)
        n_features = step.n_out
    return n_features


def _validate_step(step: Step, n_features: int) -> None:
    require_registered(step, steps.CATALOGUE, "step")
    for field in step.fields():
        value = getattr(step, field.name)
        if isinstance(value, np.ndarray):
            require_finite(f"{step.name}.{field.name}", value)
    require(
        step.n_in == n_features,
        f"{step.name} is of {step.n_in} features, its input has {n_features}",
    )
