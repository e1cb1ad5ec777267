"""Limits on the work of the analyses of machine code, in steps: none of them goes on for ever.

An analysis follows lists of things to do, each for one function, and calls that nest. Beyond a
limit it gives up with a ToolError, which names the analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from kmcompile.errors import ToolError

_Item = TypeVar("_Item")

MOST_STEPS: Final = 100_000
"""Largest number of things that one list of things to do may have had."""
MOST_LOOPS: Final = 1_000
"""Largest number of loops of one function."""
MOST_NESTED: Final = 100
"""Largest number of calls, or of inlined functions, inside one another."""


def drained(to_do: list[_Item], what: str, most: int = MOST_STEPS) -> Iterator[_Item]:
    """Take off and yield the last item of a list, to which items may be added, until none is left.

    Raises
    ------
    ToolError
        After `most` items; the text begins with `what`.
    """
    for _ in range(most):
        if not to_do:
            return
        yield to_do.pop()
    if to_do:
        raise ToolError(f"{what}: given up after {most:,} steps")


def check_nested(path: Sequence[object], what: str) -> None:
    """Raise ToolError if more than `MOST_NESTED` things are inside one another."""
    if len(path) > MOST_NESTED:
        raise ToolError(f"{what}: given up, more than {MOST_NESTED} are inside one another")
