"""The correctly rounded square root in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

RELATIVE_ERROR: Final = 2.0**-24
"""Bound on |result / sqrt(v) - 1|: one rounding, and no result is subnormal.

Evidence: tests/equivalence/test_scalar.py goes through every significand with both
parities of the exponent, and through every subnormal number.
"""


@dataclass(frozen=True, slots=True)
class SquareRootView:
    """The view of templates/scalar/square_root.c.j2: the instruction of a core that has one.

    Attributes
    ----------
    condition : str
        C of the preprocessor, true where the compiler's core has the instruction. "": no core.
    assembly : str
        The instruction, with %0 for the root and %1 for the radicand.
    register : str
        The letter of its registers in gcc's and clang's constraints.
    """

    condition: str = ""
    assembly: str = ""
    register: str = ""


VIEW: Final = SquareRootView()

INSTRUCTIONS: Final = {
    "": VIEW,
    "vsqrt.f32": SquareRootView("defined(__arm__) && defined(__ARM_FP)", "vsqrt.f32 %0, %1", "t"),
    "fsqrt": SquareRootView("defined(__aarch64__)", "fsqrt %s0, %s1", "w"),
    "fsqrts": SquareRootView("defined(__sparc__) && !defined(_SOFT_FLOAT)", "fsqrts %1, %0", "f"),
    "fsqrt.s": SquareRootView("defined(__riscv_fsqrt)", "fsqrt.s %0, %1", "f"),
}
"""The view of each instruction that a target's description may name.

All round correctly in the mode round to nearest (IEEE 754-2019, 5.4.1), as the integers do.
"""


def square_root(v: Float32Array) -> Float32Array:
    """Return the float32 nearest to sqrt(v).

    Parameters
    ----------
    v : ndarray of any shape, float32
        At least 0, finite; subnormal numbers are allowed.

    Returns
    -------
    ndarray of the same shape, float32
        Correctly rounded (IEEE 754-2019, 5.4.1), which determines every bit.

    Examples
    --------
    >>> square_root(np.array([0.0, 2.0, 9.0], dtype=np.float32)).tolist()
    [0.0, 1.4142135381698608, 3.0]
    """
    result: Float32Array = np.sqrt(v, dtype=np.float32)
    return result
