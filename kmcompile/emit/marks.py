"""Marks in C that stand for a number of the model, with its bits: the image has the number."""

from __future__ import annotations

import re
import struct
from typing import Final

import numpy as np

from kmcompile.emit.literals import bits_literal, float32_literal, float64_literal
from kmcompile.numeric.arrays import Real

MARK: Final = re.compile(r"@([fdu])([0-9A-F]+)@")
"""A number: its type (float, double, unsigned 32-bit integer) and its bits."""

C_TYPES: Final = {"u": "uint32_t", "f": "float", "d": "double"}


def float32_mark(value: float | np.float32) -> str:
    """Return the mark of a float32.

    Examples
    --------
    >>> float32_mark(0.5)
    '@f3F000000@'
    """
    float32_literal(value)  # refuses what is none
    return f"@f{struct.unpack('>I', struct.pack('>f', float(value)))[0]:08X}@"


def float64_mark(value: float) -> str:
    """Return the mark of a float64."""
    float64_literal(value)
    return f"@d{struct.unpack('>Q', struct.pack('>d', float(value)))[0]:016X}@"


def real_mark(value: Real) -> str:
    """Return the mark of a number of its own format, float32 or float64."""
    return float32_mark(value) if isinstance(value, np.float32) else float64_mark(float(value))


def bits_mark(value: int) -> str:
    """Return the mark of a 32-bit pattern."""
    bits_literal(value)
    return f"@u{value:08X}@"


def number_of(kind: str, digits: str) -> int | float:
    """Return the number of a mark.

    Examples
    --------
    >>> number_of("f", "3F000000"), number_of("u", "0000000A")
    (0.5, 10)
    """
    content = bytes.fromhex(digits)
    formats = {"u": ">I", "f": ">f", "d": ">d"}
    number: int | float = struct.unpack(formats[kind], content)[0]
    return number
