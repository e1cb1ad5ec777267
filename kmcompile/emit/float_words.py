"""Float32 tables as C literals: put together from parts that are formatted once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.emit.literals import float32_literal
from kmcompile.numeric.arrays import Float32Array

_HALF = 1 << 12
"""Values of half of the six hexadecimal digits behind the point."""


def float32_literals(values: Float32Array) -> list[str]:
    """Return `float32_literal` of every value.

    Parameters
    ----------
    values : ndarray of shape (n,), float32

    Raises
    ------
    ValueError
        If a value is not finite.

    Examples
    --------
    >>> float32_literals(np.array([0.5, -3.0, 0.1], np.float32))
    ['0x1p-1f', '-0x1.8p+1f', '0x1.99999ap-4f']
    """
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    # Behind the point are 23 bits and a 0: two halves of three digits.
    digits, exponent = (bits & 0x7FFFFF) << 1, (bits >> 23) & 0xFF
    low = digits % _HALF
    first = ((bits >> 31) * 2 + (low == 0)) * _HALF + digits // _HALF
    heads, tails, exponents = _parts()
    words = heads[first] + tails[low] + exponents[exponent]
    for place in np.flatnonzero((exponent == 0) | (exponent == 0xFF)):  # 0, subnormal, not finite
        words[place] = float32_literal(values[place])
    result: list[str] = words.tolist()
    return result


@cache
def _parts() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the literals' beginnings, by sign and whether digits follow, middles and ends."""
    digits = [f"{half:03x}" for half in range(_HALF)]
    last = [half.rstrip("0") for half in digits]
    heads = [
        f"{sign}0x1.{half}" if follow or half else f"{sign}0x1"
        for sign in ("", "-")
        for follow, halves in ((True, digits), (False, last))
        for half in halves
    ]
    exponents = [f"p{exponent - 127:+d}f" for exponent in range(256)]
    return tuple(np.array(parts, dtype=object) for parts in (heads, last, exponents))  # type: ignore[return-value]
