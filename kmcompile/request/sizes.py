"""Sizes, times and clocks as people write them: 64KB, "64 KiB", 2ms, 168MHz."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any

from kmcompile.errors import UsageError

_UNITS: Mapping[str, int] = MappingProxyType(
    {"": 1, "b": 1, "kb": 1000, "mb": 1000**2}
    | {unit: 1024 for unit in ("k", "kib")}
    | {unit: 1024**2 for unit in ("m", "mib")}
)
_SIZE = re.compile(r"([0-9]{1,15}) ?([a-z]*)", re.ASCII | re.IGNORECASE)


def in_bytes(given: Any) -> Any:
    """Return a size as a number of bytes; anything else as it is, for `check_size`.

    KB and MB are decimal, KiB and MiB binary. K and M alone are binary, as in the scripts of
    linkers.

    Examples
    --------
    >>> in_bytes("64KB"), in_bytes("64 KiB"), in_bytes("64k"), in_bytes("2MiB"), in_bytes(4096)
    (64000, 65536, 65536, 2097152, 4096)
    """
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if found is None or found[2].lower() not in _UNITS:
        return given
    return int(found[1]) * _UNITS[found[2].lower()]


def check_size(flag: str, value: Any) -> None:
    """Refuse a size that is no whole number of bytes; None is no size.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_size("--max-flash", "64GB")
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --max-flash 64GB: must be a whole number of bytes of at least 1
    units are KB (1,000 bytes), K or KiB (1,024), MB (1,000,000), M or MiB (1,048,576)
    """
    size = in_bytes(str(value))
    if value is None or (isinstance(size, int) and size >= 1):
        return
    raise UsageError(
        f"{flag} {value}: must be a whole number of bytes of at least 1\n"
        "units are KB (1,000 bytes), K or KiB (1,024), MB (1,000,000), M or MiB (1,048,576)"
    )


_MEASURE = re.compile(r"([0-9.]{1,15}(?:e-?[0-9]{1,2})?) ?([a-z]*)", re.ASCII | re.IGNORECASE)
_POWERS: Mapping[str, int] = MappingProxyType(
    {"": 0, "s": 0, "ms": -3, "us": -6, "hz": 0, "khz": 3, "mhz": 6, "ghz": 9}
)
"""Unit -> its power of 10."""


def in_units(given: Any) -> Any:
    """Return a time in seconds or a clock in hertz; anything else as it is, for `check_measure`.

    Examples
    --------
    >>> in_units("2ms"), in_units("16 MHz"), in_units("0.5"), in_units(8e6), in_units("1h")
    (0.002, 16000000.0, 0.5, 8000000.0, '1h')
    """
    found = _MEASURE.fullmatch(given) if isinstance(given, str) else None
    if found is None or found[2].lower() not in _POWERS:
        return given
    try:
        return float(Decimal(found[1]).scaleb(_POWERS[found[2].lower()]))
    except InvalidOperation:
        return given


def check_measure(flag: str, value: Any, units: str) -> None:
    """Refuse a time or clock that is no number above 0; None is none.

    Raises
    ------
    UsageError
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (number and 0 < value < math.inf):
        return
    raise UsageError(f"{flag} {value}: must be a number above 0; units are {units}")
