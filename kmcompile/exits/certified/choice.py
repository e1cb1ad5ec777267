"""Choose certified exits by the instructions that they take on samples, estimated by counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.candidates.room import Room
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.prices import Price
from kmcompile.program.stages import EarlyExit, ExactSum
from kmcompile.program.stages.ends import Ends

MOST_OF_A_KIND = 6
"""Variants of a kind of stage that are combined with other kinds: those that are cheapest alone."""


WORTH = 0.95
"""Most instructions with exits, as a share of those of the sum alone: exits take flash, too."""

_PROMISING = 0.01
"""Least share of the samples that an exit decides if others than its first search are to try it."""

_ERRORS = 2.0
"""Standard errors by which the mean saving of exits must exceed 0."""


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
    known : ndarray of shape (n_samples,), int64
        Full kernel evaluations that the exact sum reuses.
    saved : ndarray of shape (n_samples,), int64
        Multiply-adds that the exact sum saves because the exit has already computed kernels, or
        walked to the leaf.
    least, most : ndarray of shape (n_samples, n_decisions), float32
        The intervals of the decisions that the exit proves.
    """

    stage: EarlyExit
    text: str
    operations: NDArray[np.int64]
    decided: NDArray[np.bool_]
    known: NDArray[np.int64]
    saved: NDArray[np.int64]
    least: Float32Array
    most: Float32Array

    @classmethod
    def of(cls, stage: EarlyExit, text: str, batch: Batch, ends: Ends) -> TriedExit:
        """Return the costs and decisions of a stage on prepared samples."""
        before = batch.operations
        after, decided = stage.decide(batch, ends)
        known = after.known.astype(np.int64)
        spent = ends.weight(stage) * (after.operations - before)
        saved = np.zeros(len(batch), dtype=np.int64)
        if stage.walks or isinstance(ends.exact, ExactSum):
            saved = ends.exact.operations_of(batch) - ends.exact.operations_of(after)
        return cls(stage, text, spent, decided, known, saved, after.least, after.most)


def choose(
    fitted: Sequence[TriedExit],
    exact_operations: NDArray[np.int64],
    ends: Ends,
    room: Room,
    last: str = "exact_sum",
    worth: float = WORTH,
    shares: Float64Array | None = None,
) -> tuple[tuple[EarlyExit, ...], tuple[Candidate, ...]]:
    """Return the cheapest sequence of certified exits, and all sequences that were compared.

    The proof of an exit does not depend on the exits before it, except that intervals are
    intersected, which can only help. Each exit is therefore tried once. The cost of a sequence
    follows from the trials of its exits. A sequence has at most one exit of a kind, in the order
    that the user lists, or cheaper exits first. Exits that must be there are in every sequence but
    the sum alone, which is compared even if it cannot be chosen.

    Parameters
    ----------
    fitted : sequence of TriedExit
    exact_operations : ndarray of shape (n_samples,), int64
        Multiply-adds of the exact sum with the label, for each sample.
    ends : Ends
    room : Room
    last : str
        Name of the sum in the texts of the candidates.
    worth : float
        Exits are taken only if they need at most this share of the instructions of the sum alone,
        unless they must be there. What the samples say must also exceed what chance explains.
    shares : ndarray of shape (n_samples,), float64, optional
        How much each sample counts, in all 1; by default all count the same.
    """
    asked = room.stages
    prices = Prices(room, ends)
    alone = _mean(prices.instructions((), exact_operations), shares)
    found: list[tuple[float, tuple[TriedExit, ...]]] = [(alone, ())]
    for sequence in _sequences(fitted, exact_operations, prices, asked.listed, shares):
        if _has_room(sequence, ends, room):
            spent = prices.instructions(sequence, exact_operations)
            found.append((_mean(spent, shares), sequence))
    found = [item for item in found if not item[1] or asked.are_met_by(_names(item[1]))]
    # Stable: fewer stages at equal cost. A sequence that does not fit comes last.
    found.sort(key=lambda item: (not room.has_flash(_stages(item[1])), item[0]))

    def pays(cost: float, sequence: Sequence[TriedExit]) -> bool:
        if not sequence or asked.needed:
            return True
        saved = prices.saved(sequence, exact_operations)
        return cost <= worth * alone and _is_sure(saved, shares)

    able = [one for one in found if asked.are_met_by(_names(one[1])) and pays(*one)]
    fitting = [one for one in able if room.has_flash(_stages(one[1]))] or able[:1]
    takes = {n: room.takes(c, _stages(s), ends) for n, (c, s) in enumerate(fitting)}
    chosen = fitting[room.best(takes)][1]
    candidates = tuple(
        Candidate(
            (*(item.text for item in sequence), last),
            _mean(_operations(sequence, exact_operations), shares),
            sequence is chosen,
            cost,
        )
        for cost, sequence in found
    )
    return tuple(item.stage for item in chosen), candidates


@dataclass(frozen=True, slots=True)
class Prices:
    """The instructions of certified exits before a sum on a target.

    Parameters
    ----------
    room : Room
    ends : Ends
    """

    room: Room
    ends: Ends

    def instructions(
        self, sequence: Sequence[TriedExit], exact_operations: NDArray[np.int64]
    ) -> Float64Array:
        """Return the estimated instructions of a sequence and the sum for each sample."""
        each = [self.room.of_exit(item.stage, self.ends) for item in sequence]
        return _spent(sequence, exact_operations, each, self.room.of_sum(self.ends))

    def saved(
        self, sequence: Sequence[TriedExit], exact_operations: NDArray[np.int64]
    ) -> Float64Array:
        """Return the instructions that a sequence saves the sum alone on each sample."""
        alone = self.instructions((), exact_operations)
        return alone - self.instructions(sequence, exact_operations)


def _operations(sequence: Sequence[TriedExit], exact_operations: NDArray[np.int64]) -> Float64Array:
    """Return the multiply-adds of a sequence and the sum for each sample."""
    return _spent(sequence, exact_operations, [1.0] * len(sequence), Price(0.0, 1.0))


def _spent(
    sequence: Sequence[TriedExit],
    exact_operations: NDArray[np.int64],
    each: Sequence[float],
    of_sum: Price,
) -> Float64Array:
    """Return what samples take at prices of an operation of each exit, and at that of the sum."""
    spent = np.zeros(len(exact_operations))
    rest = exact_operations.copy()
    is_open = np.ones(len(exact_operations), dtype=bool)
    for item, price in zip(sequence, each, strict=True):
        spent += np.where(is_open, price * item.operations, 0.0)
        rest -= item.saved
        is_open &= ~item.decided
    return np.asarray(spent + np.where(is_open, of_sum.of(rest.astype(np.float64)), 0.0))


def _mean(values: Float64Array, shares: Float64Array | None) -> float:
    return float(np.average(values, weights=shares))


def _is_sure(saved: Float64Array, shares: Float64Array | None) -> bool:
    """Return whether the mean saving on the samples is more than their scatter explains."""
    own = np.full(len(saved), 1 / len(saved)) if shares is None else shares
    mean = _mean(saved, own)
    scatter = np.sqrt((own**2 * (saved - mean) ** 2).sum())
    return bool(mean > _ERRORS * scatter)


def _stages(sequence: Sequence[TriedExit]) -> list[EarlyExit]:
    return [item.stage for item in sequence]


def _names(sequence: Sequence[TriedExit]) -> list[str]:
    return [item.stage.template for item in sequence]


def _has_room(sequence: Sequence[TriedExit], ends: Ends, room: Room) -> bool:
    stages = _stages(sequence)
    operations = [stage.added_operations(ends) for stage in stages]
    only_needed = all(stage.template in room.stages.needed for stage in stages)
    return room.has_operations(stages, operations) and (only_needed or room.has_flash(stages))


def _sequences(
    fitted: Sequence[TriedExit],
    exact_operations: NDArray[np.int64],
    prices: Prices,
    listed: tuple[str, ...] | None,
    shares: Float64Array | None,
) -> Iterator[tuple[TriedExit, ...]]:
    choices: list[list[TriedExit | None]] = [
        [None, *items]
        for items in cheapest_of_each_kind(fitted, exact_operations, prices, shares=shares)
    ]
    place = partial(_place, listed, prices)
    for combination in itertools.product(*choices):
        sequence = [item for item in combination if item is not None]
        if sequence:
            yield tuple(sorted(sequence, key=place))


def _place(listed: tuple[str, ...] | None, prices: Prices, item: TriedExit) -> float:
    """Return the place of an exit in a sequence: as listed, or by its mean cost."""
    if listed is not None and item.stage.template in listed:
        return listed.index(item.stage.template)
    return float(prices.room.of_exit(item.stage, prices.ends) * item.operations.mean())


def cheapest_of_each_kind(
    fitted: Sequence[TriedExit],
    exact_operations: NDArray[np.int64],
    prices: Prices,
    most: int = MOST_OF_A_KIND,
    shares: Float64Array | None = None,
) -> list[list[TriedExit]]:
    """Return, for each kind, the exits that cost least alone before the sum, cheapest first."""

    def cost(item: TriedExit) -> float:
        return _mean(prices.instructions([item], exact_operations), shares)

    kinds: dict[str, list[TriedExit]] = {}
    for item in fitted:
        kinds.setdefault(item.stage.template, []).append(item)
    return [sorted(items, key=cost)[:most] for items in kinds.values()]


def promising(fitted: Sequence[TriedExit]) -> list[TriedExit]:
    """Return the exits that decide a sample in a hundred, and the best exit of every other kind."""
    best: dict[str, TriedExit] = {}
    for item in fitted:
        at = best.setdefault(item.stage.template, item)
        if item.decided.mean() > at.decided.mean():
            best[item.stage.template] = item
    return [
        item
        for item in fitted
        if item.decided.mean() >= _PROMISING or item is best[item.stage.template]
    ]
