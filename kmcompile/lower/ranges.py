"""Range analysis: the limits within which no accepted input overflows later."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels.float32 import Magnitudes
from kmcompile.lower.prepare import matched
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import LARGEST_INTERMEDIATE
from kmcompile.program.stages import DescribedSum, ExactSum, PairSum
from kmcompile.steps import PrepareStep

_LARGEST_EXPONENT = 60


def input_limits(
    machine: KernelMachine,
    steps: tuple[PrepareStep, ...],
    stage: ExactSum | PairSum | DescribedSum,
    ordinary: Float32Array,
    prepared: Batch | None,
) -> tuple[np.float32, np.float32 | None]:
    """Return the limit of a raw feature, and a limit of the prepared input's norm if there is one.

    Both are the largest powers of two for which no intermediate result of the program exceeds
    `LARGEST_INTERMEDIATE`. If columns have different scales, the raw limit of the most sensitive
    feature would refuse too much. Then a kernel of inner products is guarded by the norm of the
    prepared input, which it computes anyway.

    Parameters
    ----------
    machine : KernelMachine
    steps : tuple of PrepareStep
        The lowered steps of the machine's preprocessing.
    stage : ExactSum, PairSum or DescribedSum
    ordinary : ndarray of shape (n, n_features), float32
        Inputs that resemble the training data and must be accepted.
    prepared : Batch or None
        The ordinary inputs after the steps, if the steps bound their norms.

    Returns
    -------
    limit : float32
        Limit of the magnitude of a raw feature.
    prepared_limit : float32 or None
        Limit of the norm and of the deviation of the prepared input; None if `limit` suffices.

    Raises
    ------
    InputError
        If the machine overflows at inputs as large as the training data.
    """
    needed = float(np.abs(ordinary).max(initial=0.0))

    def whole(limit: float) -> float:
        magnitude, deviation, largest = _prepared_magnitudes(machine, steps, limit)
        return _most(largest, _of_sum(machine, stage, magnitude, deviation))

    def preparation(limit: float) -> float:
        return _prepared_magnitudes(machine, steps, limit)[2]

    limit = _largest(whole, needed)
    if limit is not None:
        refuses = any(step.refuses for step in steps)
        return limit, np.float32(LARGEST_INTERMEDIATE) if refuses else None
    limit = _largest(preparation, needed)
    prepared_limit = None
    if limit is not None and prepared is not None:
        largest = np.maximum(prepared.length, prepared.deviation).max(initial=0.0)
        prepared_limit = _largest(lambda norm: _of_norm(machine, stage, norm), 1.1 * float(largest))
    if limit is None or prepared_limit is None:
        raise InputError(
            f"the {_kernel_text(machine)} overflows float32 for inputs of magnitude {needed:g}, "
            "which the model was trained with; scale the data and retrain"
        )
    return limit, prepared_limit


def preparation_limit(
    machine: KernelMachine, steps: tuple[PrepareStep, ...], ordinary: Float32Array
) -> np.float32:
    """Return the limit of a raw feature within which no step of the preprocessing overflows.

    Parameters
    ----------
    machine, steps, ordinary
        As in `input_limits`; there may be one step more than in the machine.

    Raises
    ------
    InputError
        If the preprocessing overflows at inputs as large as the training data.
    """
    needed = float(np.abs(ordinary).max(initial=0.0))
    limit = _largest(lambda largest: _prepared_magnitudes(machine, steps, largest)[2], needed)
    if limit is None:
        raise InputError(
            f"the preprocessing overflows float32 for inputs of magnitude {needed:g}, which the "
            f"model was trained with; scale the data and retrain"
        )
    return limit


def check_codes(
    machine: KernelMachine,
    steps: tuple[PrepareStep, ...],
    stage: ExactSum | PairSum | DescribedSum,
    largest: float,
) -> None:
    """Refuse a machine whose sum overflows float32 for codes within their limits.

    Parameters
    ----------
    machine : KernelMachine
        The machine in units of the codes.
    steps : tuple of PrepareStep
        The steps of the program, with the rounding to codes.
    stage : ExactSum, PairSum or DescribedSum
    largest : float
        The magnitude of a prepared feature at the largest code.

    Raises
    ------
    InputError
    """
    magnitude, deviation = np.full(machine.n_features, largest), 0.0
    for step in steps:
        # Half a code and the rounding errors of a step are smaller than the codes themselves.
        norm = 2 * _norm(magnitude)
        deviation = step.largest_deviation(deviation, norm, norm)
    if not _of_sum(machine, stage, magnitude, deviation) <= LARGEST_INTERMEDIATE:
        raise InputError(
            f"the {_kernel_text(machine)} overflows float32 for codes that the format allows\n"
            "use --format float32"
        )


def _kernel_text(machine: KernelMachine) -> str:
    parameters = "".join(f" {k} {v:g}" for k, v in machine.kernel.parameters().items())
    return f"{machine.kernel.name} kernel{parameters}"


def _largest(intermediate: Callable[[float], float], needed: float) -> np.float32 | None:
    """Return the largest power of two without overflow, or None if it is below `needed`."""
    for exponent in range(_LARGEST_EXPONENT, -_LARGEST_EXPONENT, -1):
        limit = 2.0**exponent
        if limit < needed:
            return None
        if _fits(intermediate, limit):
            return np.float32(limit)
    return None


def _fits(intermediate: Callable[[float], float], limit: float) -> bool:
    """Return whether nothing is too large, also where float64 itself overflows."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return intermediate(limit) <= LARGEST_INTERMEDIATE
    except OverflowError:
        return False


def _most(*values: float) -> float:
    """Return the largest; NaN, which is within no limit, if one of them is NaN."""
    return float(np.max(values))


def _of_sum(
    machine: KernelMachine,
    stage: ExactSum | PairSum | DescribedSum,
    magnitude: Float64Array,
    deviation: float,
) -> float:
    """Return the largest intermediate of the sum for prepared features up to `magnitude`."""
    intercept = float(np.abs(machine.intercept).max())
    length = _norm(magnitude)
    if isinstance(stage, DescribedSum):
        return stage.largest_intermediate(magnitude, length, deviation) + intercept
    vectors = np.abs(machine.support_vectors)
    of_kernel = Magnitudes(
        inner=float((vectors @ magnitude).max()),
        distance_squared=float(((vectors.max(axis=0) + magnitude) ** 2).sum()),
        length=length,
        deviation=deviation,
        feature_sum=float((vectors.max(axis=0) + magnitude).sum()),
    )
    return _of_kernel(machine, stage, of_kernel) + intercept


def _of_norm(
    machine: KernelMachine, stage: ExactSum | PairSum | DescribedSum, norm: float
) -> float:
    """Return the largest intermediate of the sum for prepared inputs with a bounded norm."""
    intercept = float(np.abs(machine.intercept).max())
    if isinstance(stage, DescribedSum):
        return stage.largest_intermediate(None, norm, norm) + intercept
    longest = float(np.sqrt((machine.support_vectors**2).sum(axis=1)).max())
    reach = longest + norm
    root = float(np.sqrt(machine.support_vectors.shape[1]))
    of_kernel = Magnitudes(longest * norm, reach**2, norm, norm, root * reach)
    return _of_kernel(machine, stage, of_kernel) + intercept


def _of_kernel(machine: KernelMachine, stage: ExactSum | PairSum, of_kernel: Magnitudes) -> float:
    weight = float(np.abs(decision_coefficients(machine)).sum(axis=1).max())
    value = _most(1.0, stage.kernel.largest_value(of_kernel))
    inner = stage.kernel.largest_intermediate(of_kernel)
    return _most(4 * value * max(1.0, weight), 4 * inner, 4 * of_kernel.length**2)


def _prepared_magnitudes(
    machine: KernelMachine, steps: tuple[PrepareStep, ...], limit: float
) -> tuple[Float64Array, float, float]:
    """Return the largest magnitudes: of each prepared feature, the deviation, any result.

    Raises
    ------
    OverflowError
        If the result of a step is too large: the magnitudes of later steps would mean nothing.
    """
    magnitude = np.full(machine.n_features, limit)
    deviation, largest = 0.0, 4 * _norm(magnitude) ** 2
    for step, lowered in matched(machine.preprocessing, steps):
        after, intermediate = step.magnitudes(magnitude, deviation)
        if lowered is not None:
            deviation = lowered.largest_deviation(deviation, _norm(magnitude), _norm(after))
        magnitude = after
        largest = _most(largest, 4 * intermediate, 4 * _norm(magnitude) ** 2, deviation)
        if not largest <= LARGEST_INTERMEDIATE:
            raise OverflowError(f"{step} makes numbers up to {largest:g}")
    return magnitude, deviation, largest


def _norm(magnitude: Float64Array) -> float:
    return float(np.sqrt((magnitude**2).sum()))
