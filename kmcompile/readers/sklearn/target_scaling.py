"""scikit-learn's TransformedTargetRegressor: a regression of a scaled target."""

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
from kmcompile.readers.sklearn.transformers import read_transformer
from kmcompile.steps import Affine

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")


def read_target_scaling(fields: Fields, read: Callable[[Any], KernelMachine]) -> KernelMachine:
    """Read a TransformedTargetRegressor: y = f / factor + offset undoes (y - offset) factor.

    Both are worked into coefficients and intercept, each rounded in float64. Clipping is part
    of the scaler's transform, not of its inverse.
    """
    fields.require_fitted("regressor_")
    machine = read(fields.get("regressor_"))
    if machine.task is not Task.REGRESSION:
        raise InputError(
            f"{fields.record.name} has a {machine.kind}, must have a regressor; retrain it"
        )
    factor, offset = _scaling(fields)
    with np.errstate(over="ignore", invalid="ignore"):
        # The factor, the quotient and the sum are rounded.
        scaled = machine.intercept / factor
        error = machine.intercept_error / abs(factor)
        error += UNIT_ROUNDOFF_64 * float((2 * np.abs(scaled) + np.abs(scaled + offset)).max())
        return replace(
            machine,
            kind=fields.record.name,
            dual_coef=machine.dual_coef / factor,
            intercept=scaled + offset,
            intercept_error=error * (1 + 1e-9),
        )


def _scaling(fields: Fields) -> tuple[float, float]:
    """Return factor and offset of the target's scaling."""
    record = record_of(fields.get("transformer_"))
    in_scalers = record.module.startswith("sklearn.preprocessing.") and record.name in _SCALERS
    if not in_scalers:
        raise fields.error(
            "transformer_",
            f"is {describe(record)}",
            ", ".join(_SCALERS),
            "retrain with a target that is scaled by one of them, or not",
        )
    factor, offset = 1.0, 0.0
    for step in read_transformer(record, 1):
        if isinstance(step, Affine):
            factor, offset = float(step.factor[0]), float(step.offset[0])
    return factor, offset
