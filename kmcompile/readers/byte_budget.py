"""The budget of reading one file, in bytes, from which every reader spends.

A file can use one part a thousand times, and its compression can turn a few bytes into a gigabyte.
Before a reader decompresses, copies, widens or walks data, it therefore spends their bytes from the
budget of the file. A file that exceeds the budget is refused. The code that opens the file makes
the budget, and readers find it by `current_budget`.

A file of n bytes takes at most 500 MB + 50 n bytes of memory, because all memory is spent from the
budget. It takes at most 10 seconds of one core and a microsecond for each of its n bytes, because
a byte of the budget stands for at most 25 nanoseconds of work. tests/fault/test_reading_costs.py
measures both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kmcompile.errors import InputError

BASE_BYTES = 400_000_000
"""Budget of a file of any size: 100 MB less than promised, because allocators add some."""

BYTES_PER_FILE_BYTE = 40
"""Budget that each byte of the file adds. A number in text has 20 bytes, as a Python object 60."""

ITEM_BYTES = 100
"""Cost of a Python object that is made or read: it has 30 to 60 bytes and takes up to 2
microseconds."""

FLOAT_BYTES = 8
"""Cost of a number as float64."""


class ByteBudget:
    """The bytes that are left in the budget of one file.

    Parameters
    ----------
    total_bytes : float
        May be infinite.
    """

    def __init__(self, total_bytes: float) -> None:
        self.total_bytes = total_bytes
        self.left_bytes = total_bytes

    def spend(self, n_bytes: float, what: str) -> None:
        """Take bytes out of the budget before they are used. `what` names their use in the error.

        Raises
        ------
        InputError
            The budget has fewer bytes left.
        """
        self.left_bytes -= n_bytes
        if self.left_bytes < 0:
            raise InputError(
                f"reading {what} would take more than {self.total_bytes:.0f} bytes of memory and "
                "work in all, the most that a file of its size may take;\n"
                "save it again without compression, or with fewer vectors, samples or features"
            )

    def spend_items(self, n_items: int, what: str) -> None:
        """Take the cost of n_items Python objects out of the budget."""
        self.spend(n_items * ITEM_BYTES, what)


_CURRENT: ContextVar[ByteBudget | None] = ContextVar("byte_budget", default=None)


@contextmanager
def budget_of_file(n_bytes: int) -> Iterator[ByteBudget]:
    """Give the code inside the budget of a file of `n_bytes` bytes.

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

    The budget is infinite for a live estimator, which comes from no file.
    """
    return _CURRENT.get() or ByteBudget(math.inf)
