"""What a search may take: bytes and operations, counted before they are spent, never seconds.

The same input so has the same search, and the same bytes, on a slow machine and on a fast one.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_BYTES = 700_000_000
"""Of a search's arrays at any time: beside the model, its samples and what Python imports, a run
stays below 1 GB."""

MOST_OPERATIONS = 2.5e12
"""Multiply-adds of one search, counted from above: at most some four minutes in float64."""


class SearchBudget:
    """What one search may take, what it has taken, and why it ended early if it did.

    A search asks before it allocates or begins anything: what is refused is left out, and the
    note says so in the report.

    Parameters
    ----------
    search : str
        What is searched for, as the report calls it: the subject of the note.
    n_bytes, operations : float
        What it may take.
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
        """Say what the search does now, for the progress bar."""
        self._tell(f"{self._search}: {text}")

    def split(self, n: int) -> list[SearchBudget]:
        """Return budgets of as many parts of the search, one after the other, with equal shares.

        Each may take all of the bytes; their notes are those of the whole.
        """
        parts = [SearchBudget(self._search, self._n_bytes, self._operations / n) for _ in range(n)]
        for part in parts:
            part._notes = self._notes
        return parts

    def allows(self, n_bytes: float = 0.0, operations: float = 0.0) -> bool:
        """Return whether a step fits beside what is spent.

        Parameters
        ----------
        n_bytes : float
            Of all arrays of the search while the step runs, those that it keeps included.
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
        """Count a limit of a step of its own, in multiply-adds, as the reason of an early end."""
        self._refused = f"{_count_text(operations)} multiply-adds"

    def spend(self, operations: float) -> None:
        """Count what a step takes that was allowed."""
        self._spent += operations

    def ended(self, reached: str) -> None:
        """Say how far the search came before the step that was refused."""
        self._notes[
            f"{self._search} was searched only up to {reached}: its budget of {self._refused} is "
            "spent"
        ] = None

    def left_out(self) -> None:
        """Say that not even the smallest step is allowed."""
        self._notes[
            f"{self._search} is left out: the smallest one would take more than its budget of "
            f"{self._refused}"
        ] = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the search ended early: nothing where it did not."""
        return tuple(self._notes)


class SearchBudgets:
    """The budgets of all searches of one step of a compilation.

    Parameters
    ----------
    tell : callable
        Called with a few words as each part of a search begins.
    n_bytes, operations : float
        What each of them may take: they run one after the other.
    """

    def __init__(
        self,
        tell: Callable[[str], None] = lambda text: None,
        n_bytes: float = MOST_BYTES,
        operations: float = MOST_OPERATIONS,
    ) -> None:
        self._tell, self._n_bytes, self._operations = tell, n_bytes, operations
        self._budgets: dict[str, SearchBudget] = {}

    def of(self, search: str) -> SearchBudget:
        """Return the budget of a search, the same one for the same name."""
        if search not in self._budgets:
            self._budgets[search] = SearchBudget(
                search, self._n_bytes, self._operations, self._tell
            )
        return self._budgets[search]

    @property
    def notes(self) -> tuple[str, ...]:
        """Which searches ended early, and why."""
        return tuple(note for budget in self._budgets.values() for note in budget.notes)


def _memory_text(n: float) -> str:
    return f"{n / 1e9:.3g} GB" if n >= 1e9 else f"{n / 1e6:.3g} MB"


def _count_text(n: float) -> str:
    return f"{n / 1e9:,.0f} billion" if n >= 1e9 else f"{n:,.0f}"
