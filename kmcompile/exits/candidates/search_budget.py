"""Budgets of searches: bytes and operations, counted before they are spent, never seconds.

A search therefore finds the same exits, and the output has the same bytes, on a slow and on a
fast machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

MOST_BYTES = 700_000_000
"""Most bytes of a search's arrays at any time: with the model, its samples and the imported Python
packages, a run stays below 1 GB."""

MOST_OPERATIONS = 2.5e12
"""Most multiply-adds of one search, counted from above: about four minutes in float64."""


class SearchBudget:
    """The budget of one search, what was spent of it, and why the search ended early if it did.

    A search asks `allows` before each step. It leaves out a step that is refused, and a note in
    the report says so.

    Parameters
    ----------
    search : str
        Name of the search in the report; the subject of its notes.
    n_bytes, operations : float
        Largest memory at any time and most multiply-adds in all.
    tell : callable
        Called with a few words as each part of the search begins.

    Examples
    --------
    >>> budget = SearchBudget("sign_map", n_bytes=1e6, operations=1e9)
    >>> budget.allows(n_bytes=8e5), budget.notes
    (True, ())
    >>> budget.allows(n_bytes=2e6), budget.ended("4 of 16 boxes"), budget.notes[0]
    (False, None, 'sign_map was searched only up to 4 of 16 boxes: its budget of 1 MB is spent')
    """

    def __init__(
        self,
        search: str,
        n_bytes: float = MOST_BYTES,
        operations: float = MOST_OPERATIONS,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._search = search
        self._tell = tell
        self._n_bytes, self._operations = n_bytes, operations
        self._spent = 0.0
        self._refused = ""
        self._notes: dict[str, None] = {}

    def tell(self, text: str) -> None:
        """Pass a few words on the current part of the search to the progress bar."""
        self._tell(f"{self._search}: {text}")

    def split(self, n: int) -> list[SearchBudget]:
        """Return n budgets with equal shares of the operations, for n parts that run one by one.

        Each part may use all of the bytes. The parts write their notes into this budget's notes.
        """
        parts = [SearchBudget(self._search, self._n_bytes, self._operations / n) for _ in range(n)]
        for part in parts:
            part._notes = self._notes
        return parts

    def allows(self, n_bytes: float = 0.0, operations: float = 0.0) -> bool:
        """Return whether a step fits into what is left of the budget.

        Parameters
        ----------
        n_bytes : float
            Bytes of all arrays of the search while the step runs, kept arrays included.
        operations : float
            Multiply-adds of the step.
        """
        if n_bytes > self._n_bytes:
            self._refused = _memory_text(self._n_bytes)
            return False
        if self._spent + operations > self._operations:
            self.refuse(self._operations)
            return False
        return True

    def refuse(self, operations: float) -> None:
        """Record that a step exceeds a limit of its own, in multiply-adds, and is left out."""
        self._refused = f"{_count_text(operations)} multiply-adds"

    def spend(self, operations: float) -> None:
        """Count the multiply-adds of a step that was allowed."""
        self._spent += operations

    def ended(self, reached: str) -> None:
        """Record how far the search came before a step was refused."""
        self._notes[
            f"{self._search} was searched only up to {reached}: its budget of {self._refused} is "
            "spent"
        ] = None

    def left_out(self) -> None:
        """Record that the budget does not even allow the smallest step."""
        self._notes[
            f"{self._search} is left out: the smallest one would take more than its budget of "
            f"{self._refused}"
        ] = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the search ended early, as sentences for the report; empty if it did not."""
        return tuple(self._notes)


class SearchBudgets:
    """The budgets of all searches of one step of a compilation.

    Parameters
    ----------
    tell : callable
        Called with a few words as each part of a search begins.
    n_bytes, operations : float
        Budget of each search: they run one after the other.
    """

    def __init__(
        self,
        tell: Callable[[str], None] = lambda text: None,
        n_bytes: float = MOST_BYTES,
        operations: float = MOST_OPERATIONS,
    ) -> None:
        self._tell, self._n_bytes, self._operations = tell, n_bytes, operations
        self._budgets: dict[str, SearchBudget] = {}

    def of(self, search: str, operations: float = math.inf) -> SearchBudget:
        """Return the budget of a search; the same name always gives the same budget.

        Parameters
        ----------
        search : str
        operations : float
            Most multiply-adds of this search, if it has a smaller limit than the others.
        """
        if search not in self._budgets:
            most = min(operations, self._operations)
            self._budgets[search] = SearchBudget(search, self._n_bytes, most, self._tell)
        return self._budgets[search]

    @property
    def notes(self) -> tuple[str, ...]:
        """Which searches ended early, and why, as sentences for the report."""
        return tuple(note for budget in self._budgets.values() for note in budget.notes)


def _memory_text(n: float) -> str:
    return f"{n / 1e9:.3g} GB" if n >= 1e9 else f"{n / 1e6:.3g} MB"


def _count_text(n: float) -> str:
    return f"{n / 1e9:,.0f} billion" if n >= 1e9 else f"{n:,.0f}"
