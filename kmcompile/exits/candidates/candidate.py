"""Sequences of stages that the choice of early exits compared."""

from __future__ import annotations

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
    """

    stages: tuple[str, ...]
    mean_operations: float
    chosen: bool


def merged(
    first: tuple[Candidate, ...], second: tuple[Candidate, ...], second_wins_ties: bool = False
) -> tuple[bool, tuple[Candidate, ...]]:
    """Return whether the second choice is cheaper, and all candidates of both in order of cost."""
    costs = [min(c.mean_operations for c in some if c.chosen) for some in (first, second)]
    is_better = costs[1] < costs[0] or (second_wins_ties and costs[1] == costs[0])
    left = first if is_better else second
    every = [replace(c, chosen=c.chosen and c not in left) for c in (*first, *second)]
    return is_better, tuple(sorted(every, key=lambda c: c.mean_operations))
