"""Numbers as C literals that read back equal: hexadecimal floats, sized integers."""

from __future__ import annotations

import math

import numpy as np

from kmcompile.numeric.arrays import Real

_STRING_COLUMNS = 80


def float32_literal(value: float | np.float32) -> str:
    """Return a float32 as a hexadecimal C literal with suffix.

    Raises
    ------
    ValueError
        If the value is not finite or not exactly a float32.

    Examples
    --------
    >>> float32_literal(0.5), float32_literal(-0.0), float32_literal(3)
    ('0x1p-1f', '-0x0p+0f', '0x1.8p+1f')
    """
    number = float(value)
    if not math.isfinite(number) or float(np.float32(number)) != number:
        raise ValueError(f"{number!r} is not a finite float32")
    return f"{float64_literal(number)}f"


def float64_literal(value: float) -> str:
    """Return a float64 as a hexadecimal C literal.

    Examples
    --------
    >>> float64_literal(0.1), float64_literal(-0.0)
    ('0x1.999999999999ap-4', '-0x0p+0')
    """
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number!r} is not finite")
    mantissa, exponent = number.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"


def real_literal(value: Real) -> str:
    """Return a number as a C literal of its own format, float32 or float64.

    Examples
    --------
    >>> real_literal(np.float32(0.5)), real_literal(np.float64(0.5))
    ('0x1p-1f', '0x1p-1')
    """
    if not isinstance(value, np.float32 | np.float64):
        raise ValueError(f"{value!r} has no format of its own")
    return float32_literal(value) if isinstance(value, np.float32) else float64_literal(value)


def decimal_literal(value: float) -> str:
    """Return a float32 in decimal, for the header: C++ before 2017 has no hexadecimal floats.

    Examples
    --------
    >>> decimal_literal(2.0**42), decimal_literal(0.125)
    ('4398046511104.0f', '0.125f')
    """
    text = f"{value!r}f"
    if float(np.float32(float(text[:-1]))) != value:
        raise ValueError(f"{value!r} is not a finite float32")
    return text


def unsigned_literal(value: int) -> str:
    """Return an integer of 0 .. 2^32 - 1 as a C literal.

    Examples
    --------
    >>> unsigned_literal(7), unsigned_literal(70000)
    ('7U', '70000UL')
    """
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{value} is not an unsigned 32-bit integer")
    # int has 16 bits on AVR: larger constants get a suffix for long.
    return f"{value}U" if value < 1 << 16 else f"{value}UL"


def plus_literal(value: int) -> str:
    """Return the C that adds an unsigned integer; "" if it is 0.

    Examples
    --------
    >>> "x[j" + plus_literal(3) + "]", "x[j" + plus_literal(0) + "]"
    ('x[j + 3U]', 'x[j]')
    """
    return f" + {unsigned_literal(value)}" if value else ""


def times_literal(factor: int | str) -> str:
    """Return the C that multiplies by an unsigned integer or a constant; "" if it is 1.

    Examples
    --------
    >>> "j" + times_literal(4), "j" + times_literal(1), "j" + times_literal("IRIS_LANES")
    ('j * 4U', 'j', 'j * IRIS_LANES')
    """
    text = factor if isinstance(factor, str) else unsigned_literal(factor)
    return "" if text == unsigned_literal(1) else f" * {text}"


def wide_literal(value: int) -> str:
    """Return an integer of 0 .. 2^64 - 1 as a C literal of 64 bits.

    Examples
    --------
    >>> wide_literal(7)
    '7ULL'
    """
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{value} is not an unsigned 64-bit integer")
    return f"{value}ULL"


def power_of_two(exponent: int) -> int:
    """Return 2^exponent, for a literal of it.

    Examples
    --------
    >>> unsigned_literal(power_of_two(4))
    '16U'
    """
    return 1 << exponent


def bits_literal(value: int) -> str:
    """Return a 32-bit pattern as a C literal.

    Examples
    --------
    >>> bits_literal(0x7F800000)
    '0x7F800000UL'
    """
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{value} is not a 32-bit pattern")
    return f"0x{value:08X}UL"


def long_literal(value: int) -> str:
    """Return a 64-bit pattern as a C literal.

    Examples
    --------
    >>> long_literal(1 << 63)
    '0x8000000000000000ULL'
    """
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{value} is not a 64-bit pattern")
    return f"0x{value:016X}ULL"


def string_literal(text: str) -> str:
    """Return text as a C string literal: printable ASCII stays, the rest as octal escapes.

    Octal escapes have three digits, so that no digit after them belongs to them. A `?` is escaped
    because of trigraphs. Text too long for a line becomes several literals in parentheses.

    Examples
    --------
    >>> print(string_literal('a"b'), string_literal("??/"))
    "a\\"b" "\\?\\?/"
    """
    lines = [""]
    # Half of a surrogate pair has no UTF-8 encoding: its name is written instead.
    for byte in text.encode("utf-8", errors="backslashreplace"):
        character = chr(byte)
        if character in '"\\?':
            escaped = "\\" + character
        else:
            escaped = character if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
        if len(lines[-1]) + len(escaped) > _STRING_COLUMNS:
            lines.append("")
        lines[-1] += escaped
    if len(lines) == 1:
        return f'"{lines[0]}"'
    return "(" + "\n        ".join(f'"{line}"' for line in lines) + ")"


def comment_text(text: str) -> str:
    """Return text that is harmless inside a C comment: printable ASCII, no `*/`, `/*`, trigraph.

    Examples
    --------
    >>> comment_text("a */ b" + chr(0x202E) + chr(10) + "c??/")
    'a *_ b?_c?_/'
    """
    safe = "".join(c if " " <= c <= "~" else "?" if c != "\n" else "_" for c in text)
    for bad, good in (("*/", "*_"), ("/*", "_*"), ("??", "?_"), ("\\", "_")):
        safe = safe.replace(bad, good)
    return safe
