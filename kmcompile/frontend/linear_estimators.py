"""scikit-learn's LinearSVC as a kernel machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.frontend.fields import Fields
from kmcompile.ir.arrays import Float64Array
from kmcompile.ir.kernel_machine import KernelMachine, Task
from kmcompile.kernels import Linear


def _read_linear_svc(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a LinearSVC: sklearn/linear_model/_base.py; its weights become the vectors.

    Two classes have one row, f > 0 is `classes_[1]`; more have a row each and the largest
    wins, trained one-vs-rest or by Crammer and Singer.
    """
    fields.require_fitted("classes_")
    fields.require_fitted("coef_")
    classes = fields.labels("classes_")
    rows = 1 if len(classes) == 2 else len(classes)
    weights = fields.array("coef_", (rows, None))
    fields.require_width(weights.shape[1])
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
    {"LinearSVC": _read_linear_svc}
)


def _linear_intercept(fields: Fields, rows: int) -> Float64Array:
    value = fields.get("intercept_")
    if isinstance(value, np.ndarray) and value.ndim:
        return fields.array("intercept_", (rows,))
    # fit_intercept=False leaves a plain 0.0.
    return np.full(rows, fields.number("intercept_"))
