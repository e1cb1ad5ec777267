"""Choice of the codes of a linear machine: for each feature a step that is a power of two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.codes import Coded
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import before_steps, ordinary_inputs
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.numeric.width import IN_INTEGERS, WIDTHS, byte_for
from kmcompile.steps import Affine
from kmcompile.steps.digitize import LARGEST_LOG2, MOST_EXPONENT
from kmcompile.target import Target

REACH = 64.0
"""How far codes reach behind the scaler of a machine whose inputs nothing else tells of."""

_ORDINARY = 256

_DEAR_FLOATS = 30
"""From how many instructions on a product of floats is dear: it is a routine then."""


def why_floats(machine: KernelMachine, target: Target, replays: bool) -> dict[str, str]:
    """Return the integer formats that `--format auto` does not try for a linear machine, and why.

    Where a float operation is an instruction, codes save little and certify less.
    """
    reason = ""
    if not machine.kernel.is_linear or machine.routing is not None:
        return {}
    if replays:
        reason = "sums of a linear machine in integers have no replay"
    elif target.cost.float32.product < _DEAR_FLOATS:
        reason = f"floats cost little on {target.name}, and certify more"
    return dict.fromkeys(IN_INTEGERS, reason) if reason else {}


def linear_codes(machine: KernelMachine, number_format: str, samples: Float32Array | None) -> Coded:
    """Return a linear machine in units of the codes of its inputs, the scaler in its weights.

    A code X of feature j stands for (X + origin) / 2^k. The machine's only step is the Affine with
    the offset origin / 2^k and the factor 2^k, both exact. The codes reach as far from the middle
    of the samples, or of the support vectors, as `Width.margin` says. Weights tell nothing of
    inputs: then the codes reach `REACH` units behind the scaler.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes.
    number_format : str
        "int16" or "int8".
    samples : ndarray of shape (n, n_features), float32, or None
        Samples of --data.

    Raises
    ------
    InputError
        If nothing tells how large the inputs are, or if they are too large.
    """
    others = [step for step in machine.preprocessing if not isinstance(step, Affine)]
    if others or len(machine.preprocessing) > 1:
        raise InputError(
            "integer formats are for machines whose preprocessing is a scaler at most\n"
            "use --format float32"
        )
    seen = _seen(machine, samples)
    whole = None if seen is None else _whole(seen, number_format)
    if whole is not None:
        exponent, width, low, high = whole
        n = machine.n_features
        return _coded(machine, np.full(n, exponent), np.zeros(n), (width, low, high), True)
    largest = WIDTHS[number_format].high
    least, most = _range(machine, seen, WIDTHS[number_format].margin)
    reach, middle = (most - least) / 2, (most + least) / 2
    far = np.maximum(np.abs(least), np.abs(most))
    with np.errstate(divide="ignore"):
        room = np.minimum(np.log2((largest - 1) / reach), np.log2((2.0**LARGEST_LOG2 - 2) / far))
    exponents = np.floor(room - 1e-9)
    if exponents.min() < -MOST_EXPONENT:
        raise InputError(
            f"inputs are as large as {far.max():g}, too large for integers\nuse --format float32"
        )
    exponents = np.minimum(exponents, MOST_EXPONENT)
    origins = np.rint(np.ldexp(middle, exponents.astype(np.int64)))
    origins[np.abs(origins) + np.ldexp(reach, exponents.astype(np.int64)) < largest - 1] = 0.0
    return _coded(machine, exponents, origins, (number_format, -largest, largest), False)


def inputs_with_codes(machine: KernelMachine, samples: Float32Array | None, n: int) -> Float32Array:
    """Return at most n inputs that the codes reach: samples, support vectors, or made ones."""
    seen = _seen(machine, samples)
    return ordinary_inputs(machine, n) if seen is None else seen[:n].astype(np.float32)


def _seen(machine: KernelMachine, samples: Float32Array | None) -> Float64Array | None:
    """Return raw inputs that tell how large inputs are: samples or support vectors, or None."""
    if samples is not None and len(samples):
        return samples.astype(np.float64)
    rows = len(machine.intercept)
    if np.array_equal(machine.dual_coef, np.eye(rows, machine.n_support_vectors)):
        return None  # the vectors are weights
    return before_steps(machine, machine.support_vectors)


def _whole(seen: Float64Array, number_format: str) -> tuple[int, str, int, int] | None:
    """Return exponent, type and range of codes that equal all inputs seen, or None.

    The steps are those of the inputs themselves, as a sensor delivers them.
    """
    nearest = np.rint(seen)
    if np.abs(seen - nearest).max() > 2.0**-30 or np.ptp(seen) == 0:
        return None
    least, most = float(nearest.min()), float(nearest.max())
    byte, largest = byte_for(least, most), WIDTHS[number_format].high
    if byte is not None:
        return 0, byte.name, byte.low, byte.high
    if 2 * max(-least, most) <= largest:
        return 0, number_format, -largest, largest
    return None


def _range(
    machine: KernelMachine, seen: Float64Array | None, margin: float
) -> tuple[Float64Array, Float64Array]:
    """Return the least and the largest number of each feature that has a code."""
    if seen is not None:
        least, most = seen.min(axis=0), seen.max(axis=0)
        middle, reach = (least + most) / 2, margin * (most - least) / 2
    elif machine.preprocessing:
        (step,) = machine.preprocessing
        assert isinstance(step, Affine)
        middle, reach = step.offset, REACH / np.abs(step.factor)
    else:
        raise InputError(
            "nothing tells how large the inputs of this linear machine are, which has no scaler\n"
            "give samples in --data, or use --format float32"
        )
    least, most = middle - reach, middle + reach
    if seen is None:
        X = ordinary_inputs(machine, _ORDINARY)
        least, most = np.minimum(least, X.min(axis=0)), np.maximum(most, X.max(axis=0))
    alike = most <= least  # a feature that never changes
    room = np.where(alike, np.maximum(np.abs(most), 1.0), 0.0)
    return least - room, most + room


def _coded(
    machine: KernelMachine,
    exponents: Float64Array,
    origins: Float64Array,
    form: tuple[str, int, int],
    lossless: bool,
) -> Coded:
    """Return the machine of codes X with x = (X + origin) / 2^k.

    (x - o) s = (X + origin - 2^k o) (s / 2^k): the vectors are multiplied by s / 2^k, what is left
    goes to the intercepts, with the error of its sum in float64.
    """
    width, low, high = form
    n = machine.n_features
    power = np.ldexp(1.0, exponents.astype(np.int64))
    offset, factor, of_offset, of_factor = np.zeros(n), np.ones(n), np.zeros(n), 0.0
    for step in machine.preprocessing:
        assert isinstance(step, Affine)
        offset, factor = step.offset, step.factor
        of_offset, of_factor = step.offset_error, step.factor_error
    vectors = machine.support_vectors * (factor / power)
    rounded = np.abs(vectors) * (2 * UNIT_ROUNDOFF_64 + of_factor)
    moved_by = origins - offset * power
    sums = vectors @ moved_by
    u = 2 * UNIT_ROUNDOFF_64
    off = np.abs(vectors) @ ((n + 4) * u * (np.abs(origins) + np.abs(offset) * power))
    off += rounded @ np.abs(moved_by) + np.abs(vectors) @ (of_offset * power)
    moved, error = _with_intercepts(machine, vectors, sums, off)
    own = Affine(origins / power, power, np.zeros(n), 0.0)
    return Coded(
        machine=replace(
            moved,
            preprocessing=(own,),
            intercept_error=machine.intercept_error + error,
        ),
        fitted=moved,
        unit=1.0,
        width=width,
        low=low,
        high=high,
        lossless=lossless,
        moved_error=float(np.sqrt((rounded**2).sum(axis=1)).max()) * (1 + 1e-9),
    )


def _with_intercepts(
    machine: KernelMachine, vectors: Float64Array, sums: Float64Array, off: Float64Array
) -> tuple[KernelMachine, float]:
    """Return the machine with other vectors, sum_i beta_i sums_i in its intercepts, and the error.

    Parameters
    ----------
    sums, off : ndarray of shape (n_sv,), float64
        What each vector adds with a coefficient of 1, and its error.
    """
    beta = decision_coefficients(machine)
    moved = machine.intercept + beta @ sums
    u = 2 * UNIT_ROUNDOFF_64
    error = np.abs(beta) @ off + (len(sums) + 2) * u * (np.abs(beta) @ np.abs(sums))
    error += u * np.abs(moved)
    return (
        replace(machine, support_vectors=vectors, intercept=moved),
        float(error.max()) * (1 + 1e-9),
    )
