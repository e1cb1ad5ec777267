"""Choose the early exits of a program by counted operations on the choice samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.statistical.links import FittedExit, Link, State, link, trial_of
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.exits.statistical.trial import Trial, in_a_row
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import EarlyExit, ExactSum, LinearFilter, NearestVectors, ReducedSet
from kmcompile.program.stages.ends import Ends

_RISK_USED = 0.7
"""Share of the risk that a candidate takes when it is compared: the control needs some room."""

_MOST_REDUCED = 4

_WIDER, _WIDER_COST = (1.25, 1.5, 1.75, 2.0), 0.2
"""By how much the bands after touched vectors may be wider, and what that may cost."""

_FEW, _USUAL_SCALE = 3, 1.75
"""Where the risk allows fewer disagreements than this on the choice samples these say little of the
scale that the control will find: this is what it usually is."""

WORST_SHARE = 0.1
"""What early exits may add to the exact sum, in the worst case."""


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceSamples:
    """The part of the samples that stages are chosen by.

    Parameters
    ----------
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        The samples that a decision is about.
    labels : ndarray of shape (n_samples,), int32
        The model's.
    exact_operations, per_kernel : ndarray of shape (n_samples,), int64
        Multiply-adds of the exact sum with the label, and what it saves for each known kernel.
    """

    decisions: Float64Array
    relevant: NDArray[np.bool_]
    labels: NDArray[np.int32]
    exact_operations: NDArray[np.int64]
    per_kernel: NDArray[np.int64]


def choose(
    fitted: Sequence[FittedExit],
    samples: ChoiceSamples,
    risk: float,
    ends: Ends,
    n_always: float,
    room: Room,
    budget: SearchBudget | None = None,
) -> tuple[tuple[Link, ...], tuple[Candidate, ...]]:
    """Return the cheapest sequence of early exits, and what it was compared with.

    A sequence is at most one linear filter, reduced sets of increasing cost and at most one stage
    of nearest vectors, as far as they fit into `room`. Each is compared at the smallest scale of
    its bands that keeps about the risk.

    Parameters
    ----------
    fitted : sequence of FittedExit
    samples : ChoiceSamples
    risk : float
    ends : Ends
    n_always : float
        Mean multiply-adds of a query that early exits need before the first of them.
    room : Room
    budget : SearchBudget, optional
        How many reduced sets may stand in a row depends on what has to be remembered of each row.
    """
    alone = float(samples.exact_operations.mean())
    found: list[tuple[float, tuple[Link, ...]]] = [(alone, ())]
    begin = State(None, np.ones(len(samples.labels)))
    tried = _Tried(samples, ends, begin)
    budget = budget or SearchBudget("the choice of early exits")
    for sequence in _sequences(fitted, _most_reduced(fitted, samples, budget)):
        if not _has_room(sequence, ends, n_always, room):
            continue
        links, trial = tried.of(sequence)
        scale = _scale(trial, samples.labels, allowed_disagreements(samples, risk))
        if scale is not None:
            cost = trial.mean_operations(scale, samples.exact_operations, samples.per_kernel)
            found.append((n_always + cost, links))
    found.sort(key=lambda item: item[0])  # stable: of equal ones the one with fewer stages
    cost, chosen = found[0]
    if chosen and allowed_disagreements(samples, risk) < _FEW:
        cost, chosen = _widened(chosen, samples, ends, cost - n_always)
        found[0] = (n_always + cost, chosen)
    candidates = tuple(
        Candidate(
            (*(made.fitted.text for made in links), "exact_sum"), cost, chosen=links is chosen
        )
        for cost, links in found
    )
    return chosen, candidates


def allowed_disagreements(samples: ChoiceSamples, risk: float) -> float:
    """Return how many of the choice samples may disagree."""
    return _RISK_USED * risk * len(samples.labels)


def _widened(
    links: tuple[Link, ...],
    samples: ChoiceSamples,
    ends: Ends,
    cost: float,
) -> tuple[float, tuple[Link, ...]]:
    """Return the sequence with bands after touched vectors as wide as costs little.

    Few queries get there, and each that leaves wrongly makes all bands of the program wider.
    """
    least = cost
    widest = links
    for factor in _WIDER:
        wide = tuple(made.wider(factor) for made in links)
        new = mean_operations(wide, samples, ends, _USUAL_SCALE)
        if new > least * (1 + _WIDER_COST):
            break
        cost, widest = new, wide
    return cost, widest


def mean_operations(
    links: Sequence[Link], samples: ChoiceSamples, ends: Ends, scale: float
) -> float:
    """Return the mean multiply-adds of a choice sample at a scale, without what comes before."""
    trial = trial_of(links, [made.fitted.estimates for made in links], ends.label)
    return trial.mean_operations(scale, samples.exact_operations, samples.per_kernel)


class _Tried:
    """Links and their trials: a stage is fitted once for each reduced set that it follows."""

    def __init__(self, samples: ChoiceSamples, ends: Ends, begin: State) -> None:
        self._samples, self._ends, self._begin = samples, ends, begin
        self._known: dict[tuple[FittedExit, ...], tuple[Link, Trial, State]] = {}

    def of(self, sequence: tuple[FittedExit, ...]) -> tuple[tuple[Link, ...], Trial]:
        """Return the links of a sequence and the trial of all of them."""
        links, trials = [], []
        state = self._begin
        handed_on: tuple[FittedExit, ...] = ()
        for item in sequence:
            key = (*handed_on, item)
            if key not in self._known:
                made = link(item, state, self._samples.decisions, self._samples.relevant)
                trial, after = made.trial(item.estimates, state, self._ends.label, np.array(SCALES))
                self._known[key] = (made, trial, after)
            made, trial, state = self._known[key]
            if isinstance(item.stage, ReducedSet):
                handed_on = key
            links.append(made)
            trials.append(trial)
        return tuple(links), in_a_row(trials)


def _has_room(sequence: Sequence[FittedExit], ends: Ends, n_always: float, room: Room) -> bool:
    stages = [item.stage for item in sequence]
    flash = sum(table.n_bytes for stage in stages for table in stage.tables())
    ram = sum(16 * stage.n_slots for stage in stages if isinstance(stage, NearestVectors))
    return (
        n_always + added_operations(stages, ends) <= room.operations
        and (room.flash_bytes is None or flash <= room.flash_bytes)
        and (room.ram_bytes is None or ram <= room.ram_bytes)
    )


def _scale(trial: Trial, labels: NDArray[np.int32], allowed: float) -> float | None:
    """Return about the smallest scale that keeps the risk."""
    found = None
    for scale in SCALES:
        if trial.disagreements(scale, labels) > allowed:
            break
        found = scale
    if found is not None and allowed < _FEW:
        return max(found, _USUAL_SCALE)
    return found


def added_operations(stages: Sequence[EarlyExit], ends: Ends) -> float:
    """Return the multiply-adds of early exits that do not decide, beyond those of the exact sum."""
    total = 0.0
    for stage in stages:
        if isinstance(stage, NearestVectors):
            exact = ends.exact
            assert isinstance(exact, ExactSum)
            kept = stage.max_touched * exact.total_operations
            total -= kept
        total += stage.weighted_operations(ends)
    return total


def _most_reduced(
    fitted: Sequence[FittedExit], samples: ChoiceSamples, budget: SearchBudget
) -> int:
    """Return how many reduced sets are tried in a row, as far as the budget has room for."""
    n_reduced = sum(isinstance(item.stage, ReducedSet) for item in fitted)
    longest = min(_MOST_REDUCED, n_reduced)
    for n in range(longest, 0, -1):
        if budget.allows(_bytes(fitted, samples, n)):
            if n < longest:
                budget.ended(f"{n} of {longest} reduced sets in a row")
            return n
    if longest:
        budget.ended("no reduced set")
    return 0


def _bytes(fitted: Sequence[FittedExit], samples: ChoiceSamples, most_reduced: int) -> int:
    """Return the bytes of what is remembered with so many reduced sets in a row.

    Of every row of reduced sets the decisions of the last one; of every stage behind it the scale,
    the label and the operations of each test and sample.
    """
    n_samples, n_decisions = samples.decisions.shape
    reduced = [item for item in fitted if isinstance(item.stage, ReducedSet)]
    n_rows = sum(math.comb(len(reduced), n) for n in range(most_reduced + 1))
    tests = sum(len(item.estimates.values) for item in fitted if item not in reduced)
    return int(n_samples * n_rows * (8 * n_decisions + 20 * (tests + 1)))


def _sequences(fitted: Sequence[FittedExit], most_reduced: int) -> list[tuple[FittedExit, ...]]:
    filters = [item for item in fitted if isinstance(item.stage, LinearFilter)]
    reduced = [item for item in fitted if isinstance(item.stage, ReducedSet)]
    nearest = [item for item in fitted if isinstance(item.stage, NearestVectors)]
    reduced.sort(key=lambda item: item.stage.operations())
    chains = [
        chain for n in range(most_reduced + 1) for chain in itertools.combinations(reduced, n)
    ]
    return [
        (*first, *chain, *last)
        for first in [(), *((item,) for item in filters)]
        for chain in chains
        for last in [(), *((item,) for item in nearest)]
        if first or chain or last
    ]
