"""Break declarations that a table's qualifier makes too long for a line of C."""

from __future__ import annotations

import re
from typing import Final

COLUMNS: Final = 100

_BREAKS: Final = (
    (re.compile(r"( *)([^=]+ =) (.+;)"), r"\1\2\n\1    \3"),
    (re.compile(r"()(static const .+) (\w+\[\w+\] = \{)"), r"\2\n    \3"),
    (re.compile(r"()(static .+\()(.+\))"), r"\2\n    \3"),
)
"""Places to break: after the `=` of a declaration, before a table's name, before parameters."""


def break_lines(text: str) -> str:
    r"""Return C whose long declarations continue on a second line, 4 blanks further in.

    Examples
    --------
    >>> a, b = "a" * 50, "b" * 50
    >>> break_lines(f"    const float *{a} = &{b}[0U];\nint {a};\n").count("\n")
    3
    """
    return "".join(_broken(line) for line in text.splitlines(keepends=True))


def _broken(line: str) -> str:
    if len(line.rstrip("\n")) <= COLUMNS:
        return line
    for pattern, parts in _BREAKS:
        if found := pattern.fullmatch(line.rstrip("\n")):
            return found.expand(parts) + "\n"
    return line
