"""Choose certified exits by operations counted on samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.candidates.room import Room
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import EarlyExit, ExactSum
from kmcompile.program.stages.ends import Ends

_MOST_OF_A_KIND = 6
"""Variants of a kind of stage that are combined with other kinds: those that are cheapest alone."""


@dataclass(frozen=True, slots=True, eq=False)
class TriedExit:
    """A certified exit, and its costs and decisions on the samples when it runs alone.

    Parameters
    ----------
    stage : EarlyExit
    text : str
        Description for the report.
    operations : ndarray of shape (n_samples,), int64
    decided : ndarray of shape (n_samples,), bool
    saved : ndarray of shape (n_samples,), int64
        Multiply-adds that the exact sum saves because the exit has already computed kernels.
    """

    stage: EarlyExit
    text: str
    operations: NDArray[np.int64]
    decided: NDArray[np.bool_]
    saved: NDArray[np.int64]

    @classmethod
    def of(cls, stage: EarlyExit, text: str, batch: Batch, ends: Ends) -> TriedExit:
        """Return the costs and decisions of a stage on prepared samples."""
        before = batch.operations
        after, decided = stage.decide(batch, ends)
        per_kernel = ends.exact.total_operations if isinstance(ends.exact, ExactSum) else 0
        saved = after.known.astype(np.int64) * per_kernel
        spent = ends.weight(stage) * (after.operations - before)
        return cls(stage, text, spent, decided, saved)


def choose(
    fitted: Sequence[TriedExit],
    exact_operations: NDArray[np.int64],
    ends: Ends,
    room: Room,
    last: str = "exact_sum",
) -> tuple[tuple[EarlyExit, ...], tuple[Candidate, ...]]:
    """Return the cheapest sequence of certified exits, and all sequences that were compared.

    The proof of an exit does not depend on the exits before it, except that intervals are
    intersected, which can only help. Each exit is therefore tried once. The cost of a sequence
    follows from the trials of its exits. A sequence has at most one exit of a kind, cheaper exits
    first.

    Parameters
    ----------
    fitted : sequence of TriedExit
    exact_operations : ndarray of shape (n_samples,), int64
        Multiply-adds of the exact sum with the label, for each sample.
    ends : Ends
    room : Room
    last : str
        Name of the sum in the texts of the candidates.
    """
    alone = float(exact_operations.mean())
    found: list[tuple[float, tuple[TriedExit, ...]]] = [(alone, ())]
    for sequence in _sequences(fitted, exact_operations):
        if _has_room(sequence, ends, room):
            found.append((_mean_operations(sequence, exact_operations), sequence))
    found.sort(key=lambda item: item[0])  # stable: fewer stages at equal cost
    chosen = found[0][1]
    candidates = tuple(
        Candidate((*(item.text for item in sequence), last), cost, sequence is chosen)
        for cost, sequence in found
    )
    return tuple(item.stage for item in chosen), candidates


def _mean_operations(sequence: Sequence[TriedExit], exact_operations: NDArray[np.int64]) -> float:
    spent = np.zeros(len(exact_operations), dtype=np.int64)
    rest = exact_operations.copy()
    is_open = np.ones(len(exact_operations), dtype=bool)
    for item in sequence:
        spent += np.where(is_open, item.operations, 0)
        rest -= item.saved
        is_open &= ~item.decided
    return float((spent + np.where(is_open, rest, 0)).mean())


def _has_room(sequence: Sequence[TriedExit], ends: Ends, room: Room) -> bool:
    worst = sum(item.stage.weighted_operations(ends) for item in sequence)
    flash = sum(table.n_bytes for item in sequence for table in item.stage.tables())
    return worst <= room.operations and (room.flash_bytes is None or flash <= room.flash_bytes)


def _sequences(
    fitted: Sequence[TriedExit], exact_operations: NDArray[np.int64]
) -> Iterator[tuple[TriedExit, ...]]:
    kinds: dict[str, list[TriedExit]] = {}
    for item in fitted:
        kinds.setdefault(item.stage.template, []).append(item)
    choices: list[list[TriedExit | None]] = []
    for items in kinds.values():
        items.sort(key=lambda item: _mean_operations([item], exact_operations))
        choices.append([None, *items[:_MOST_OF_A_KIND]])
    for combination in itertools.product(*choices):
        sequence = [item for item in combination if item is not None]
        if sequence:
            yield tuple(sorted(sequence, key=lambda item: float(item.operations.mean())))
