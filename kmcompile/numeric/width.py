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
    margin : float
        Of a number format: largest distance of an input from the middle, relative to the farthest
        vector's. Support vectors lie near the boundary, inputs also far behind it. 0 stands for a
        type that is no format of its own.
    pairs : tuple of (str, str)
        Of bytes: the C of bytes 0 and 2 of a word s, and of bytes 1 and 3, as pairs of 16 bits.
    """

    name: str
    bits: int
    low: int
    high: int
    margin: float = 0.0
    pairs: tuple[str, str] = ("", "")

    @property
    def is_byte(self) -> bool:
        """Whether a code is a byte."""
        return self.bits == 8

    @property
    def number_format(self) -> str:
        """The number format with these codes: that of the signed type with as many bits."""
        return f"int{self.bits}"

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
        [15, 8, 7]
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


_UNSIGNED_PAIRS: Final = ("(int32_t)(s & 0x00FF00FFUL)", "(int32_t)((s >> 8U) & 0x00FF00FFUL)")
_SIGNED_PAIRS: Final = ("__sxtb16((int32_t)s)", "__sxtb16((int32_t)(s >> 8U))")

WIDTHS: Final = {
    width.name: width
    for width in (
        Width("int16", 16, -32768, 32767, margin=4.0),
        Width("uint8", 8, 0, 255, pairs=_UNSIGNED_PAIRS),
        Width("int8", 8, -128, 127, margin=2.0, pairs=_SIGNED_PAIRS),
    )
}
"""Every type of codes, of bytes the unsigned one first."""
IN_INTEGERS: Final = tuple(name for name, width in WIDTHS.items() if width.margin > 0)
"""The number formats with integer codes, the widest first: "int16" and "int8"."""
IN_BYTES: Final = tuple(name for name in IN_INTEGERS if WIDTHS[name].is_byte)
"""Those with codes of 8 bits."""
FORMATS: Final = ("float32", *IN_INTEGERS)
"""All number formats."""


def byte_for(least: float, most: float) -> Width | None:
    """Return the type of bytes that holds both codes, unsigned if it can be, or None.

    Examples
    --------
    >>> byte_for(0, 200).name, byte_for(-1, 100).name, byte_for(-1, 200)
    ('uint8', 'int8', None)
    """
    bytes_ = (width for width in WIDTHS.values() if width.is_byte)
    return next((width for width in bytes_ if width.low <= least and most <= width.high), None)
