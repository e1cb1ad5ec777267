"""C identifiers: one prefix for everything, checked once."""

from __future__ import annotations

import re

from kmcompile.errors import UsageError

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*\Z")
# C99 promises 31 significant characters in external names: <prefix>_self_test and
# <prefix>_self_test_step must differ within them.
_MAX_LENGTH = 20
_C_WORDS = """auto break case char const continue default do double else enum extern float for goto
if inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while bool true false main asm typeof"""
_CPP_WORDS = """class new delete this template operator private public protected virtual try catch
throw namespace using friend export explicit mutable typename and or not xor"""
_RESERVED = frozenset(f"{_C_WORDS} {_CPP_WORDS}".split())


def check_prefix(prefix: str) -> str:
    """Return the prefix if it can start every identifier of the emitted C.

    Raises
    ------
    UsageError
        If it is no lower-case C identifier, is reserved or is too long.

    Examples
    --------
    >>> check_prefix("iris")
    'iris'
    """
    if not _IDENTIFIER.match(prefix) or prefix in _RESERVED or len(prefix) > _MAX_LENGTH:
        raise UsageError(
            f"--name {prefix!r} cannot prefix C names; use a lower-case letter followed by up to "
            f"{_MAX_LENGTH - 1} lower-case letters, digits or _, no C or C++ keyword"
        )
    return prefix


def prefix_from(text: str) -> str:
    """Return a valid prefix made from a file name or class name.

    Examples
    --------
    >>> prefix_from("My model-2"), prefix_from("3vs8"), prefix_from("double")
    ('my_model_2', 'm3vs8', 'm_double')
    """
    cleaned = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "model"
    if cleaned[0].isdigit():
        cleaned = "m" + cleaned
    cleaned = cleaned[:_MAX_LENGTH].strip("_")
    return f"m_{cleaned}"[:_MAX_LENGTH] if cleaned in _RESERVED else cleaned
