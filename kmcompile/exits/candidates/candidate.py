"""Sequences of stages that the choice of early exits compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sequence of stages that the choice of early exits compared.

    Parameters
    ----------
    stages : tuple of str
        The stages with their sizes, as text for the report.
    mean_operations : float
        Mean multiply-adds of a choice sample, all overhead included.
    chosen : bool
    instructions : float
        The mean of what the target takes for them, estimated (`kmcompile.program.prices`), by which
        sequences are compared.
    """

    stages: tuple[str, ...]
    mean_operations: float
    chosen: bool
    instructions: float


def cost_of(candidates: Sequence[Candidate]) -> float:
    """Return the estimated instructions of the chosen candidate."""
    return min(c.instructions for c in candidates if c.chosen)


def merged(
    first: tuple[Candidate, ...], second: tuple[Candidate, ...], takes_second: bool
) -> tuple[Candidate, ...]:
    """Return all candidates of two choices in order of cost; one choice has the chosen one."""
    left = first if takes_second else second
    every = [replace(c, chosen=c.chosen and c not in left) for c in (*first, *second)]
    return tuple(sorted(every, key=lambda c: c.instructions))
