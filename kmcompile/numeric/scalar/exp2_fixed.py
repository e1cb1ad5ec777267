"""2^-t in integers, for t >= 0: the same numbers here and in the emitted C.

The argument t is a uint32 with 26 fractional bits, the result a uint32 with 31 fractional bits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ARGUMENT_BITS: Final = 26
"""Fractional bits of t."""

RESULT_BITS: Final = 31
"""Fractional bits of the result."""

ARGUMENT_END: Final = 1 << 31
"""t = 32. From here on 2^-t is below 2^-32, and callers take 0 without a call."""

_TABLE_BITS: Final = 6
REST_BITS: Final = ARGUMENT_BITS - _TABLE_BITS
_REST_MASK: Final = (1 << REST_BITS) - 1
REST_SHIFT: Final = 32 - REST_BITS
TABLE_MASK: Final = (1 << _TABLE_BITS) - 1

TABLE: Final = np.rint(np.exp2(RESULT_BITS - np.arange(1 << _TABLE_BITS) / 64)).astype(np.uint32)
"""2^(-i / 64) with 31 fractional bits, i = 0 .. 63. The calling stage holds this table in its C."""

LINEAR: Final = 46_515_929
"""C1 of 2^(-r / 64) ~ 1 - r (C1 - C2 r), 0 <= r < 1, with 32 fractional bits."""

QUADRATIC: Final = 250_633
"""C2 with 32 fractional bits. C1 and C2 are minimax in relative error (Remez), then rounded."""

RELATIVE_ERROR: Final = 9.7e-9
"""Bound on |2^-f as computed / 2^-f - 1| for every f from 0 below 1, before the shift.

Evidence: tests/unit/numeric/test_exp2_fixed.py goes through all 2^26 values of f.
"""

SHIFT_ERROR: Final = 2.0**-RESULT_BITS
"""Bound on the absolute error of the shift by the whole part of t."""


def exp2_negative(t: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 2^(31 - t) as an integer, truncated after every step.

    With t = n + i / 64 + r / 64, n whole, i = 0 .. 63 and 0 <= r < 1, the result is entry i of the
    table times 1 - r (C1 - C2 r), shifted right by n. Of the product of two 32-bit numbers only
    the upper half is kept.

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
    r = (t & np.uint64(_REST_MASK)) << np.uint64(REST_SHIFT)
    drop = (r * (np.uint64(LINEAR) - ((r * np.uint64(QUADRATIC)) >> half))) >> half
    entry = TABLE[(t >> np.uint64(REST_BITS)) & np.uint64(TABLE_MASK)].astype(np.uint64)
    value: NDArray[np.uint64] = entry - ((entry * drop) >> half)
    return value >> (t >> np.uint64(ARGUMENT_BITS))
