"""Which lines of C are alike, for tools that read slowly."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_NUMBER = re.compile(r"0x[0-9a-f.]+(p[+-]\d+)?|\d+(\.\d+)?(e[+-]?\d+)?", re.I)
_ROW = re.compile(r"[\s0fUL,{}-]*")


def kinds_of_lines(c: str) -> set[str]:
    """Return the lines of C without comments, each number 0 and with its suffix.

    Of the rows of tables these are the kinds of elements.

    Examples
    --------
    >>> sorted(kinds_of_lines("a_12 = 3.5f; /* set */\\n    1U, -2U, 7UL"))
    ['-0U', '0U', '0UL', 'a_0 = 0f;']
    """
    kinds: set[str] = set()
    for line in _NUMBER.sub("0", _COMMENT.sub("", c)).splitlines():
        row = _ROW.fullmatch(line)
        kinds.update(line.replace(",", " ").split() if row else [line.strip()])
    return kinds
