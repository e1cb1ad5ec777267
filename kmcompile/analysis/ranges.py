"""Which inputs can be accepted so that nothing overflows afterwards."""

from __future__ import annotations

import numpy as np

from kmcompile.analysis.rounding import LARGEST_INTERMEDIATE
from kmcompile.errors import InputError
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.preprocessing import Affine, Clip, Normalization, Projection
from kmcompile.kernels.float32 import Magnitudes
from kmcompile.passes.sum_linear import decision_coefficients, sum_linear
from kmcompile.stages import ExactSum, LinearSum
from kmcompile.steps import PrepareStep

_LARGEST_EXPONENT = 60


def input_limit(
    machine: KernelMachine,
    steps: tuple[PrepareStep, ...],
    stage: ExactSum | LinearSum,
    ordinary: Float32Array,
) -> np.float32:
    """Return the largest power of two up to which every feature may go.

    For inputs with |x_j| <= limit no intermediate of the program exceeds 2^100, by bounding the
    magnitudes and the deviation through the preprocessing, the kernel and the sum.

    Parameters
    ----------
    machine : KernelMachine
    steps : tuple of PrepareStep
        The machine's preprocessing as it was lowered, one for one.
    stage : ExactSum or LinearSum
    ordinary : ndarray of shape (n, n_features), float32
        Inputs like those of the training, which have to be accepted.

    Raises
    ------
    InputError
        If the machine overflows at inputs of the size that it was trained with.
    """
    needed = float(np.abs(ordinary).max(initial=0.0))
    for exponent in range(_LARGEST_EXPONENT, -_LARGEST_EXPONENT, -1):
        limit = 2.0**exponent
        if limit < needed:
            break
        if _largest_intermediate(machine, steps, stage, limit) <= LARGEST_INTERMEDIATE:
            return np.float32(limit)
    parameters = "".join(f" {k} {v:g}" for k, v in machine.kernel.parameters().items())
    raise InputError(
        f"the {machine.kernel.name} kernel{parameters} overflows float32 for inputs of "
        f"magnitude {needed:g}, which the model was trained with; scale the data and retrain"
    )


def _largest_intermediate(
    machine: KernelMachine,
    steps: tuple[PrepareStep, ...],
    stage: ExactSum | LinearSum,
    limit: float,
) -> float:
    magnitude, deviation, largest = _prepared_magnitudes(machine, steps, limit)
    intercept = float(np.abs(machine.intercept).max())
    length = _norm(magnitude)
    if isinstance(stage, LinearSum):
        weights, _ = sum_linear(machine)
        sums = float((np.abs(weights) @ magnitude).max()) + intercept
        slack = float(stage.per_deviation.max()) * deviation
        return max(largest, 4 * sums, 4 * slack, 4 * length**2)
    vectors = np.abs(machine.support_vectors)
    of_kernel = Magnitudes(
        inner=float((vectors @ magnitude).max()),
        distance_squared=float(((vectors.max(axis=0) + magnitude) ** 2).sum()),
        length=length,
        deviation=deviation,
    )
    weight = float(np.abs(decision_coefficients(machine)).sum(axis=1).max())
    sums = 4 * max(1.0, stage.kernel.largest_value(of_kernel)) * max(1.0, weight) + intercept
    return max(largest, sums, 4 * stage.kernel.largest_intermediate(of_kernel))


def _prepared_magnitudes(
    machine: KernelMachine, steps: tuple[PrepareStep, ...], limit: float
) -> tuple[Float64Array, float, float]:
    """Return the largest magnitude of each prepared feature, of the deviation, and of all."""
    magnitude = np.full(machine.n_features, limit)
    deviation, largest = 0.0, limit
    for step, lowered in zip(machine.preprocessing, steps, strict=True):
        if isinstance(step, Affine):
            difference = magnitude + np.abs(step.offset)
            magnitude = difference * np.abs(step.factor)
            largest = max(largest, 4 * float(difference.max()))
        elif isinstance(step, Projection):
            # The deviation of a projection depends on the norm of its input.
            deviation = lowered.largest_deviation(deviation, _norm(magnitude))
            magnitude = np.abs(step.matrix) @ magnitude
        elif isinstance(step, Normalization):
            largest = max(largest, _norm(magnitude) ** 2)
            magnitude = np.ones(step.n_out)
        elif isinstance(step, Clip):
            magnitude = np.full(step.n_out, max(abs(step.low), abs(step.high)))
        if not isinstance(step, Projection):
            deviation = lowered.largest_deviation(deviation, _norm(magnitude))
        largest = max(largest, 4 * _norm(magnitude) ** 2, deviation)
    return magnitude, deviation, largest


def _norm(magnitude: Float64Array) -> float:
    return float(np.sqrt((magnitude**2).sum()))
