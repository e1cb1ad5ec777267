"""2^-t in integers, for t >= 0: the same numbers here and in the emitted C.

t is a uint32 with 26 bits behind the point, the result a uint32 with 31.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ARGUMENT_BITS: Final = 26
"""Bits of t behind the point."""

RESULT_BITS: Final = 31
"""Bits of the result behind the point."""

ARGUMENT_END: Final = 1 << 31
"""t = 32, from which on callers take 0 for the result, which is below 2^-32."""

_TABLE_BITS: Final = 6
_REST_BITS: Final = ARGUMENT_BITS - _TABLE_BITS

TABLE: Final = np.rint(np.exp2(RESULT_BITS - np.arange(1 << _TABLE_BITS) / 64)).astype(np.uint32)
"""2^(-i / 64) with 31 bits behind the point, i = 0 .. 63: a stage that calls keeps it."""

LINEAR: Final = 46_515_929
"""C1 of 2^(-r / 64) ~ 1 - r (C1 - C2 r), 0 <= r < 1, with 32 bits behind the point."""

QUADRATIC: Final = 250_633
"""C2: both minimax in relative error (Remez), rounded."""

RELATIVE_ERROR: Final = 9.7e-9
"""Bound on |2^-f as computed / 2^-f - 1| for every f from 0 below 1, before the shift.

Evidence: tests/unit/numeric/test_exp2_fixed.py goes through all 2^26 of them.
"""

SHIFT_ERROR: Final = 2.0**-RESULT_BITS
"""What the shift by the whole part of t takes off is less than this."""


@dataclass(frozen=True, slots=True)
class Exp2FixedView:
    """What templates/scalar/exp2_fixed.c.j2 needs."""

    argument_bits: int = ARGUMENT_BITS
    argument_end: int = ARGUMENT_END
    result_bits: int = RESULT_BITS
    relative_error: str = f"{RELATIVE_ERROR:g}"
    rest_bits: int = _REST_BITS
    rest_shift: int = 32 - _REST_BITS
    table_mask: int = (1 << _TABLE_BITS) - 1
    rest_mask: int = (1 << _REST_BITS) - 1
    linear: int = LINEAR
    quadratic: int = QUADRATIC


VIEW: Final = Exp2FixedView()


def exp2_negative(t: NDArray[Any]) -> NDArray[np.uint64]:
    """Return floor(2^(31 - t)) but for the error of 2^-f.

    t = n + i / 64 + r / 64 with n whole, i = 0 .. 63 and 0 <= r < 1: 2^-t is an entry of the
    table times 1 - r (C1 - C2 r), shifted by n. Every product is one of two 32-bit numbers of
    which the upper half is kept.

    Parameters
    ----------
    t : ndarray of any shape, integer
        From 0 below ARGUMENT_END, in units of 2^-26.

    Returns
    -------
    ndarray of the same shape, uint64
        At most 2^31, in units of 2^-31.

    Examples
    --------
    >>> (exp2_negative(np.array([0, 1 << 26, 31 << 26])) / 2**31).tolist()
    [1.0, 0.5, 4.656612873077393e-10]
    """
    t = t.astype(np.uint64)
    half = np.uint64(32)
    r = (t & np.uint64(VIEW.rest_mask)) << np.uint64(VIEW.rest_shift)
    drop = (r * (np.uint64(LINEAR) - ((r * np.uint64(QUADRATIC)) >> half))) >> half
    entry = TABLE[(t >> np.uint64(_REST_BITS)) & np.uint64(VIEW.table_mask)].astype(np.uint64)
    value: NDArray[np.uint64] = entry - ((entry * drop) >> half)
    return value >> (t >> np.uint64(ARGUMENT_BITS))
