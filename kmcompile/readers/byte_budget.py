"""What reading one file may cost: a budget that every reader spends from.

A file can name a part once and use it a thousand times, and its compression can make a gigabyte of
a few bytes. A reader therefore spends what it is about to decompress, copy, widen or walk before it
does so, in bytes; where the budget ends the file is refused. Whoever opens the file makes the
budget, readers find it by `current_budget`, through all the calls between.

A file of n bytes is promised to take at most 500 MB + 50 n bytes of memory, as nothing is in memory
that was not spent; and 10 seconds of one core besides a microsecond for each of its own bytes, as
no byte of the budget stands for more than 25 nanoseconds of work. tests/fault/test_reading_costs.py
measures both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kmcompile.errors import InputError

BASE_BYTES = 400_000_000
"""What a file of any size may cost; 100 MB less than promised, for what allocators add."""

BYTES_PER_FILE_BYTE = 40
"""What each of its bytes adds: text is 20 bytes a number, as Python's objects 60 and more."""

ITEM_BYTES = 100
"""Of an object of Python that is made or looked at: 30 to 60 bytes, and up to 2 microseconds."""

FLOAT_BYTES = 8
"""Of a number as float64."""


class ByteBudget:
    """Bytes that are left to one file.

    Parameters
    ----------
    total_bytes : float
        May be infinite.
    """

    def __init__(self, total_bytes: float) -> None:
        self.total_bytes = total_bytes
        self.left_bytes = total_bytes

    def spend(self, n_bytes: float, what: str) -> None:
        """Take bytes out of the budget, before they are made.

        Raises
        ------
        InputError
            There are not so many left.
        """
        self.left_bytes -= n_bytes
        if self.left_bytes < 0:
            raise InputError(
                f"reading {what} would take more than {self.total_bytes:.0f} bytes of memory and "
                "work in all, the most that a file of its size may take;\n"
                "save it again without compression, or with fewer vectors, samples or features"
            )

    def spend_items(self, n_items: int, what: str) -> None:
        """Take so many objects of Python out of the budget."""
        self.spend(n_items * ITEM_BYTES, what)


_CURRENT: ContextVar[ByteBudget | None] = ContextVar("byte_budget", default=None)


@contextmanager
def budget_of_file(n_bytes: int) -> Iterator[ByteBudget]:
    """Let everything that is read inside cost what a file of `n_bytes` may cost.

    Examples
    --------
    >>> with budget_of_file(1000) as budget:
    ...     current_budget().spend(30_000_000, "an array")
    >>> f"{budget.left_bytes:,}"
    '370,040,000'
    """
    budget = ByteBudget(BASE_BYTES + BYTES_PER_FILE_BYTE * n_bytes)
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


def current_budget() -> ByteBudget:
    """Return the budget of the file that is being read.

    An estimator that is alive already comes from no file: its budget has no end.
    """
    return _CURRENT.get() or ByteBudget(math.inf)
