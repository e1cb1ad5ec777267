"""Which inputs can be accepted so that nothing overflows afterwards."""

from __future__ import annotations

import numpy as np

from kmcompile.analysis.rounding import LARGEST_INTERMEDIATE
from kmcompile.errors import InputError
from kmcompile.ir.arrays import Float64Array
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.preprocessing import Affine, Clip, Normalization, Projection
from kmcompile.passes.sum_linear import decision_coefficients, sum_linear
from kmcompile.stages import ExactSum, LinearSum

_LARGEST_EXPONENT = 60


def input_limit(machine: KernelMachine, stage: ExactSum | LinearSum) -> np.float32:
    """Return the largest power of two up to which every feature may go.

    For inputs with |x_j| <= limit no intermediate of the program exceeds 2^100, by bounding the
    magnitudes through the preprocessing, the kernel and the sum.

    Raises
    ------
    InputError
        If the machine overflows at inputs of the size that it was trained with.
    """
    needed = _ordinary_magnitude(machine)
    for exponent in range(_LARGEST_EXPONENT, -_LARGEST_EXPONENT, -1):
        limit = 2.0**exponent
        if limit < needed:
            break
        if _largest_intermediate(machine, stage, limit) <= LARGEST_INTERMEDIATE:
            return np.float32(limit)
    parameters = ", ".join(f"{k} {v:g}" for k, v in machine.kernel.parameters().items())
    raise InputError(
        f"the {machine.kernel.name} kernel ({parameters}) overflows float32 for inputs of "
        f"magnitude {needed:g}, which the model was trained with; scale the data and retrain"
    )


def _ordinary_magnitude(machine: KernelMachine) -> float:
    """Return a magnitude that inputs like the training data have."""
    for step in machine.preprocessing:
        if isinstance(step, Affine):
            return float((np.abs(step.offset) + 4 / np.abs(step.factor)).max())
        return 1.0
    return float(np.abs(machine.support_vectors).max())


def _largest_intermediate(
    machine: KernelMachine, stage: ExactSum | LinearSum, limit: float
) -> float:
    magnitude, largest = _prepared_magnitudes(machine, limit)
    intercept = float(np.abs(machine.intercept).max())
    if isinstance(stage, LinearSum):
        weights, _ = sum_linear(machine)
        sums = np.abs(weights) @ magnitude + intercept
        return max(largest, 4 * float(sums.max()), 4 * float((magnitude**2).sum()))
    vectors = np.abs(machine.support_vectors)
    inner = float((vectors @ magnitude).max())
    distance = float(((vectors.max(axis=0) + magnitude) ** 2).sum())
    value = stage.kernel.largest_value(inner, distance)
    weight = float(np.abs(decision_coefficients(machine)).sum(axis=1).max())
    return max(largest, 4 * value * max(1.0, weight) + intercept, 4 * distance)


def _prepared_magnitudes(machine: KernelMachine, limit: float) -> tuple[Float64Array, float]:
    """Return the largest magnitude of each prepared feature, and of all intermediates."""
    magnitude = np.full(machine.n_features, limit)
    largest = limit
    for step in machine.preprocessing:
        if isinstance(step, Affine):
            magnitude = (magnitude + np.abs(step.offset)) * np.maximum(np.abs(step.factor), 1.0)
        elif isinstance(step, Projection):
            magnitude = np.abs(step.matrix) @ magnitude
        elif isinstance(step, Normalization):
            largest = max(largest, float((magnitude**2).sum()))
            magnitude = np.ones(step.n_out)
        elif isinstance(step, Clip):
            magnitude = np.full(step.n_out, max(abs(step.low), abs(step.high)))
        largest = max(largest, 4 * float((magnitude**2).sum()))
    return magnitude, largest
