"""Integer powers by squaring, in float32 or float64: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.numeric.arrays import RealArray


@dataclass(frozen=True, slots=True)
class PowerStep:
    """One multiplication of the intermediate result: by itself if `square`, otherwise by v."""

    square: bool


@dataclass(frozen=True, slots=True)
class PowerView:
    """What templates/scalar/power.c.j2 needs."""

    function: str
    """The function's name without the prefix."""
    degree: int
    is_one: bool
    steps: tuple[PowerStep, ...]


def power_view(degree: int) -> PowerView:
    """Return the view of v^degree, emitted as `<name>_power_<degree>`."""
    return PowerView(f"power_{degree}", degree, degree == 0, power_steps(degree))


def power_steps(degree: int) -> tuple[PowerStep, ...]:
    """Return the multiplications that make v^degree out of v: left to right in binary.

    Parameters
    ----------
    degree : int
        At least 0. The degrees 0 and 1 need no step.

    References
    ----------
    D. E. Knuth, The Art of Computer Programming, volume 2, 4.6.3.

    Examples
    --------
    >>> [step.square for step in power_steps(5)]
    [True, True, False]
    """
    if degree < 0:
        raise ValueError(f"degree is {degree}, must be >= 0")
    steps = []
    for bit in f"{degree:b}"[1:]:
        steps.append(PowerStep(square=True))
        if bit == "1":
            steps.append(PowerStep(square=False))
    return tuple(steps)


def power(v: RealArray, degree: int) -> RealArray:
    """Return v^degree by the multiplications of `power_steps`; 1 for degree 0.

    Parameters
    ----------
    v : ndarray of any shape, float32 or float64
        So small that |v|^degree stays finite.
    degree : int
        At least 0.

    Returns
    -------
    ndarray of the same shape and dtype
        Within relative_error(degree, u) |v|^degree + absolute_error(degree, smallest_normal).

    Examples
    --------
    >>> power(np.array([3.0, -2.0], dtype=np.float32), 3).tolist()
    [27.0, -8.0]
    """
    if degree == 0:
        return np.ones_like(v)
    result = v.copy()
    for step in power_steps(degree):
        result *= result if step.square else v
    return result


def relative_error(degree: int, u: float = 2.0**-24) -> float:
    """Return gamma_(degree - 1) = (degree - 1) u / (1 - (degree - 1) u), which bounds the error.

    The steps of `power` form a tree of products with `degree` leaves v, if every square is drawn
    with its argument twice. Each of the degree - 1 inner nodes rounds once, by a factor 1 + delta
    with |delta| <= u. So the result is v^degree times degree - 1 such factors, which Higham's
    gamma_(degree - 1) bounds (Accuracy and Stability of Numerical Algorithms, lemma 3.1). Where a
    product underflows, `absolute_error` is added.
    """
    roundings = max(0, degree - 1)
    return roundings * u / (1.0 - roundings * u)


def absolute_error(degree: int, smallest_normal: float = 2.0**-126) -> float:
    """Return a bound on the error that underflow adds, gradual or flushed to zero.

    A product of the tree (see `relative_error`) underflows only if |v| < 1, and then its error is
    below the smallest normal number. The factors by which this error is multiplied later are at
    most 1 in magnitude, because rounding is monotone and 1 is a float. So each of the degree - 1
    products adds less than the smallest normal number.
    """
    return max(0, degree - 1) * smallest_normal
