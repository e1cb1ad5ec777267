"""Lowering of the preprocessing to the steps of the stage `prepare`, in float32 or float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.model import preprocessing as ir
from kmcompile.model.preprocessing import (
    Affine,
    Clip,
    Extension,
    Normalization,
    Projection,
    Selection,
    Step,
)
from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.rounding import FLOAT32, LARGEST_INTERMEDIATE, Precision
from kmcompile.numeric.scalar.functions import SQUARE_ROOT
from kmcompile.steps import (
    Bound,
    Extend,
    Length,
    Nonnegative,
    Normalize,
    PrepareStep,
    Project,
    Scale,
    Select,
)
from kmcompile.steps.nonnegative import REFUSED
from kmcompile.steps.normalize import SMALLEST_SIZE

_KNOWN_DIRECTION = 0.125
"""Largest useful deviation of a normalised row: the relative error of the row's norm before the
normalization is then at most one eighth."""
_FLOAT64 = 2.0**-50  # whitening and adding up constants in float64


def lower_steps(
    steps: tuple[Step, ...],
    n_features: int,
    lanes: int,
    kernel_uses_length: bool,
    precision: Precision = FLOAT32,
) -> tuple[Length | None, tuple[PrepareStep, ...]]:
    """Return the bound on the raw input's norm, or None if no step needs it, and the lowered steps.

    A scaler needs the norm of its result, a projection the norm of its input, and a kernel of
    inner products the norm of the prepared input.
    """
    lowered: list[PrepareStep] = []
    for number, step in enumerate(steps):
        following = steps[number + 1] if number + 1 < len(steps) else None
        asked = isinstance(following, Projection) or (following is None and kernel_uses_length)
        needed = asked or isinstance(step, Affine)
        length = length_bound(step.n_out, precision) if needed else None
        lowered.append(_lower(step, length, lanes, precision))
    first = isinstance(steps[0], Projection) if steps else kernel_uses_length
    return length_bound(n_features, precision) if first else None, tuple(lowered)


def refuse_unknown(
    steps: tuple[PrepareStep, ...], usable: float, ordinary: RealArray
) -> tuple[PrepareStep, ...]:
    """Return the steps with a limit of the deviation if they normalise, then refuse negatives.

    The input of a Normalizer may consist of little but rounding errors; then the deviation of its
    result is large. Up to the limit the kernel's bound is of use, and the replay, whose limits are
    wider by a quarter, accepts every input that float32 accepts.

    Parameters
    ----------
    steps : tuple of PrepareStep
    usable : float
        The largest deviation for which the kernel's bound is of use.
    ordinary : ndarray of shape (n,), float32
        Deviations of ordinary inputs. If one of them exceeds the limit, no limit is set.
    """
    most: float | None = None
    for step in steps:
        if isinstance(step, Normalize):
            most = _KNOWN_DIRECTION
        elif most is not None:
            most = step.largest_deviation(most, 0.0)
    last = steps[-1] if steps else None
    if most is None or not isinstance(last, Nonnegative):
        return steps
    limit = np.nextafter(np.float32(min(most, usable)), np.float32(0.0))
    accepted = ordinary[ordinary < REFUSED]
    if limit <= accepted.max(initial=np.float32(0.0)):
        return steps
    return (*steps[:-1], replace(last, most=limit))


def length_bound(n: int, precision: Precision = FLOAT32) -> Length:
    """Return the constants of the upper bound on the Euclidean norm of n numbers.

    There are n squares and n - 1 additions: the exact sum of squares is at most the computed one
    times 1 + gamma_(n + 1), plus n underflows. The square root and the roundings of the product and
    the sum in its argument add 8 u. The argument is never below the square root's least argument.
    """
    root = SQUARE_ROOT[precision.dtype]
    factor = (1 + 2 * precision.gamma_factor(n + 1)) * (1 + 8 * precision.unit_roundoff)
    least = max(4 * n * precision.smallest_normal, float(root.limit))
    return Length(precision.bound_constant(factor), precision.bound_constant(least))


def _lower(step: Step, length: Length | None, lanes: int, precision: Precision) -> PrepareStep:
    if isinstance(step, Affine):
        return _lower_affine(step, length, precision)
    if isinstance(step, Projection):
        return _lower_projection(step, length, lanes, precision)
    if isinstance(step, Normalization):
        return _lower_normalization(step, length, precision)
    if isinstance(step, Clip):
        return _lower_clip(step, length, precision)
    if isinstance(step, Selection):
        return _lower_selection(step, length, precision)
    if isinstance(step, ir.Nonnegative):
        most = np.float32(LARGEST_INTERMEDIATE) if precision is FLOAT32 else None
        return Nonnegative(precision.dtype(REFUSED), most, step.n_out, length)
    return _lower_extension(step, length, precision)


def _lower_affine(step: Affine, length: Length | None, precision: Precision) -> Scale:
    high = step.offset.astype(precision.dtype)
    low = (step.offset - high).astype(precision.dtype)
    factor = step.factor.astype(precision.dtype)
    rest = np.abs(step.offset - high - low) + step.offset_error
    u, least = precision.unit_roundoff, precision.smallest_normal
    bound_constant = precision.bound_constant
    scale = np.abs(step.factor)
    each = scale * (1 + 4 * u) * (2 * u * np.abs(low.astype(np.float64)) + rest + 4 * least)
    return Scale(
        high=high,
        low=low,
        factor=factor,
        gain=bound_constant(float(scale.max()) * (1 + 4 * u)),
        relative=bound_constant(_scale_roundings(step, precision) * u + step.factor_error),
        minimum=bound_constant(float(np.sqrt((each**2).sum())) + len(each) * 2 * least),
        length=length,
    )


def _scale_roundings(step: Affine, precision: Precision) -> int:
    """Return the number of roundings in a scaler's result, plus one for the product of errors.

    Without an offset, the factor rounds unless float holds it exactly, and the product unless the
    factor is a power of two.
    """
    if step.offset.any() or step.offset_error.any():
        return 5
    stored = step.factor.astype(precision.dtype)
    if (np.frexp(stored)[0] == 0.5).all() and (stored == step.factor).all():
        return 0
    return 3


def _lower_projection(
    step: Projection, length: Length | None, lanes: int, precision: Precision
) -> Project:
    bound_constant = precision.bound_constant
    blocks = lane_blocks(step.matrix, lanes, precision.dtype)
    stored = step.matrix.astype(precision.dtype).astype(np.float64)
    frobenius = float(np.sqrt((stored**2).sum()))
    error = float(np.sqrt(((step.matrix - stored) ** 2).sum())) + _FLOAT64 * frobenius
    n = step.matrix.shape[1]
    return Project(
        blocks=blocks,
        n_out=step.n_out,
        gain=bound_constant(float(np.linalg.norm(step.matrix, 2)) * (1 + 1e-9) + error),
        relative=bound_constant(precision.gamma_factor(n) * frobenius + error),
        minimum=bound_constant(2 * step.n_out * n * precision.smallest_normal),
        length=length,
    )


def lane_blocks(rows: Float64Array, lanes: int, dtype: type[Real] = np.float32) -> RealArray:
    """Return rows as blocks, shape (n_blocks, n_columns, lanes), filled up with 0."""
    n_blocks = -(-len(rows) // lanes)
    padded = np.zeros((n_blocks * lanes, rows.shape[1]), dtype=dtype)
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(n_blocks, lanes, -1).transpose(0, 2, 1))


def _lower_normalization(
    step: Normalization, length: Length | None, precision: Precision
) -> Normalize:
    n, u = step.n_out, precision.unit_roundoff
    root = SQUARE_ROOT[precision.dtype].relative_error
    bound_constant, gamma_factor = precision.bound_constant, precision.gamma_factor
    # Underflow of the squares in the smallest sum that divides.
    smallest = SMALLEST_SIZE[precision.dtype]
    underflow = n * precision.smallest_normal / smallest**2
    # Relative error of the result, times the largest Euclidean norm of the result.
    rounding = {
        "l2": gamma_factor(n) / 2 + 3 * u + root + underflow,
        "l1": gamma_factor(n) + 3 * u,
        "max": 3 * u * np.sqrt(n),
    }[step.norm]
    gain = 2.0 if step.norm == "l2" else 1 + np.sqrt(n)
    # Twice the largest Euclidean norm of a normalised row: two of them can be opposite.
    unknown = 2 * np.sqrt(n) if step.norm == "max" else 2.0
    return Normalize(
        norm=step.norm,
        n_in=n,
        gain=bound_constant(gain * (1 + 2 * rounding)),
        relative=bound_constant(rounding * (1 + 2 * rounding) + 4 * n * precision.smallest_normal),
        smallest=precision.dtype(smallest),
        unknown=bound_constant(unknown),
        length=length,
    )


def _lower_clip(step: Clip, length: Length | None, precision: Precision) -> Bound:
    low, high = precision.dtype(step.low), precision.dtype(step.high)
    off = max(abs(step.low - float(low)), abs(step.high - float(high)))
    return Bound(low, high, precision.bound_constant(off * np.sqrt(step.n_out)), step.n_out, length)


def _lower_selection(step: Selection, length: Length | None, precision: Precision) -> Select:
    dtype = np.dtype(np.uint16 if step.n_in <= 1 << 16 else np.uint32)
    columns: NDArray[np.unsignedinteger[Any]] = np.array(step.columns, dtype=dtype)
    most = int(np.bincount(columns).max())
    gain = precision.dtype(1.0) if most == 1 else precision.bound_constant(np.sqrt(most))
    return Select(columns, step.n_in, gain, length)


def _lower_extension(step: Extension, length: Length | None, precision: Precision) -> Extend:
    value = precision.dtype(step.value)
    # A subnormal may be read as 0.
    lost = abs(step.value) if abs(value) < precision.smallest_normal else 0.0
    error = precision.bound_constant(abs(step.value - float(value)) + lost)
    return Extend(value, error, step.n_out - 1, length)
