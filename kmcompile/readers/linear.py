"""A linear model as a kernel machine: its weights are the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcompile.kernels import Linear
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.numeric.arrays import Float64Array


def linear_machine(
    kind: str,
    task: Task,
    weights: Float64Array,
    intercept: Float64Array,
    classes: tuple[Label, ...] = (),
    zero_is_positive: bool = False,
    **others: Any,
) -> KernelMachine:
    """Return the machine of weights (n_decisions, n_features), with `others` as further fields."""
    return KernelMachine(
        kind=kind,
        task=task,
        kernel=Linear(),
        support_vectors=weights,
        dual_coef=np.eye(len(weights)),
        intercept=intercept,
        classes=classes,
        n_features=weights.shape[1],
        zero_is_positive=zero_is_positive,
        **others,
    )
