"""Sizes in bytes as people write them: 65536, 64KB, "64 KiB", 2M."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
