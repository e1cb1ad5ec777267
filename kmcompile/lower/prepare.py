"""Lowering of the preprocessing: the norms that the stage `prepare` bounds, and its refusals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from kmcompile.numeric.arrays import RealArray
from kmcompile.numeric.rounding import FLOAT32, Precision
from kmcompile.numeric.scalar.functions import SQUARE_ROOT
from kmcompile.steps import (
    Columns,
    Length,
    Nonnegative,
    Normalize,
    PrepareStep,
    SeenFeatures,
    Select,
    Step,
    StepContext,
)
from kmcompile.steps.nonnegative import REFUSED

_KNOWN_DIRECTION = 0.125
"""Largest useful deviation of a normalised row: the relative error of the row's norm before the
normalization is then at most one eighth."""


def lower_steps(
    steps: tuple[Step, ...],
    n_features: int,
    lanes: int,
    kernel_uses_length: bool,
    precision: Precision = FLOAT32,
) -> tuple[Length | None, tuple[PrepareStep, ...]]:
    """Return the bound on the raw input's norm, or None if no step needs it, and the lowered steps.

    The norm of a step's result is bounded if the step or the next step needs it. The norm of the
    last result is bounded if the kernel is one of inner products. A Normalization and a Selection
    behind it become one step, which computes only the selected columns.
    """
    asked = [step.reads_length for step in steps] + [kernel_uses_length]
    lowered: list[PrepareStep] = []
    for step, following in zip(steps, asked[1:], strict=True):
        needed = following or step.measures_length
        length = length_bound(step.n_out, precision) if needed else None
        image = step.lower(StepContext(length, lanes, precision))
        before = lowered[-1] if lowered else None
        if isinstance(image, Select) and isinstance(before, Normalize) and before.can_take(image):
            image = before.taking(image, isinstance(step, SeenFeatures))
            lowered.pop()
        lowered.append(image)
    return length_bound(n_features, precision) if asked[0] else None, tuple(lowered)


def matched(
    steps: Iterable[Step], lowered: Iterable[PrepareStep]
) -> Iterator[tuple[Step, PrepareStep | None]]:
    """Yield each step with its image, None for a selection that is part of the image before it.

    Images after those of the steps, such as the rounding to codes, are not yielded.
    """
    images = iter(lowered)
    image: PrepareStep | None = None
    for step in steps:
        takes = isinstance(image, Normalize) and image.columns is not None
        image = None if takes and isinstance(step, Columns) else next(images)
        yield step, image


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
            most = step.largest_deviation(most, 0.0, 0.0)
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
