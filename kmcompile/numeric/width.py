"""The types of integer codes, what each holds, and the number formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Width:
    """A type of codes.

    Parameters
    ----------
    name : str
        As numpy has it: "uint8", "int8" or "int16".
    bits : int
    low, high : int
        The least and the largest code of it.
    """

    name: str
    bits: int
    low: int
    high: int

    @property
    def is_byte(self) -> bool:
        """Whether a code is a byte."""
        return self.bits == 8

    @property
    def unit(self) -> float:
        """What a code is in the arithmetic of kernels: about 1 / the largest one."""
        return 2.0**-8 if self.is_byte else 2.0**-15

    @property
    def value_bits(self) -> int:
        """No code is larger than 2 to this power, whatever its sign.

        Examples
        --------
        >>> [width.value_bits for width in WIDTHS.values()]
        [8, 7, 15]
        """
        return self.bits if self.low == 0 else self.bits - 1

    @property
    def letter(self) -> str:
        """The letter of signed or unsigned, as in the names of vector instructions."""
        return "u" if self.low == 0 else "s"

    @property
    def vector_type(self) -> str:
        """The type of a vector register of 16 bytes in C."""
        return f"{self.name}x{128 // self.bits}_t"


IN_INTEGERS: Final = ("int16", "int8")
"""The number formats with integer codes, by their signed type."""
FORMATS: Final = ("float32", *IN_INTEGERS)
"""All number formats."""

WIDTHS: Final = {
    width.name: width
    for width in (
        Width("uint8", 8, 0, 255),
        Width("int8", 8, -128, 127),
        Width("int16", 16, -32768, 32767),
    )
}
"""Every type of codes; "int8" and "int16" are the integer formats."""


def byte_for(least: float, most: float) -> Width | None:
    """Return the type of bytes that holds both codes, unsigned if it can be, or None.

    Examples
    --------
    >>> byte_for(0, 200).name, byte_for(-1, 100).name, byte_for(-1, 200)
    ('uint8', 'int8', None)
    """
    bytes_ = (width for width in WIDTHS.values() if width.is_byte)
    return next((width for width in bytes_ if width.low <= least and most <= width.high), None)
