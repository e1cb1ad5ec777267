"""The prefix with which every C identifier of a program starts."""

from __future__ import annotations

import re

from kmcompile.errors import UsageError
from kmcompile.request.reserved_names import RESERVED

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*\Z")
# C99 promises 31 significant characters in external names: <prefix>_self_test and
# <prefix>_self_test_step must differ within them.
_MAX_LENGTH = 20
_SIGNIFICANT = 31


def check_prefix(prefix: str) -> str:
    """Return the prefix if it can start every identifier of the emitted C.

    Raises
    ------
    UsageError
        If the prefix is too long or no lower-case C identifier, or if it is reserved: a keyword, a
        system header that `<prefix>.h` would hide, or a device of Windows.

    Examples
    --------
    >>> check_prefix("iris")
    'iris'
    """
    if prefix in RESERVED:
        raise UsageError(
            f"--name {prefix!r} cannot prefix C names: it {RESERVED[prefix]}\n"
            f"use another, such as {prefix_from(prefix)}"
        )
    if not _IDENTIFIER.match(prefix) or len(prefix) > _MAX_LENGTH:
        raise UsageError(
            f"--name {prefix!r} cannot prefix C names; use a lower-case letter followed by up to "
            f"{_MAX_LENGTH - 1} lower-case letters, digits or _, no C or C++ keyword"
        )
    return prefix


def check_telemetry_prefix(prefix: str) -> None:
    """Refuse a prefix whose telemetry functions would be one name within 31 characters.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_telemetry_prefix("iris")
    """
    most = _SIGNIFICANT - len("_telemetry_x")
    if len(prefix) > most:
        raise UsageError(
            f"--telemetry: the prefix {prefix!r} has {len(prefix)} letters, must have {most} at "
            f"most, so that its functions differ within C99's {_SIGNIFICANT} letters\n"
            f"give a shorter --name, such as {prefix[:most].strip('_')}"
        )


def prefix_from(text: str) -> str:
    """Return a valid prefix made from a file name or class name.

    Examples
    --------
    >>> prefix_from("My model-2"), prefix_from("3vs8"), prefix_from("double"), prefix_from("Time")
    ('my_model_2', 'm3vs8', 'm_double', 'm_time')
    """
    cleaned = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "model"
    if cleaned[0].isdigit():
        cleaned = "m" + cleaned
    cleaned = cleaned[:_MAX_LENGTH].strip("_")
    return f"m_{cleaned}" if cleaned in RESERVED else cleaned
