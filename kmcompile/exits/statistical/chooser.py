"""Choose the statistical exits of a program by operations counted on the choice samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.statistical.fits import fit_of, statistical_fits
from kmcompile.exits.statistical.links import FittedExit, Link, State, link, trial_of
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.exits.statistical.statistical_fit import StatisticalFit
from kmcompile.exits.statistical.trial import Trial, in_a_row
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends

_RISK_USED = 0.7
"""Share of the risk at which candidates are compared; the rest is left for the control samples."""

_WIDER, _WIDER_COST = (1.25, 1.5, 1.75, 2.0), 0.2
"""Factors by which the bands after touched vectors may be wider, and the largest cost of a
factor."""

_FEW, _USUAL_SCALE = 3, 1.75
"""If the risk allows fewer disagreements than this on the choice samples, they say little about the
scale that the control samples will give. The usual scale is taken instead."""

WORST_SHARE = 0.1
"""Most operations that statistical exits may add in the worst case, as a share of the exact
sum's."""


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceSamples:
    """The part of the samples on which sequences of stages are compared.

    Parameters
    ----------
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    labels : ndarray of shape (n_samples,), int32
        The model's labels.
    exact_operations, per_kernel : ndarray of shape (n_samples,), int64
        Multiply-adds of the exact sum with the label, and those it saves for each known kernel.
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
    """Return the cheapest sequence of early exits, and all sequences that were compared.

    A sequence has at most `most` exits of each kind. The kinds stand in the order of the fits, the
    exits of one kind in order of cost, as far as `room` allows. Each sequence is compared at the
    smallest scale of its bands that about keeps the risk.

    Parameters
    ----------
    fitted : sequence of FittedExit
    samples : ChoiceSamples
    risk : float
    ends : Ends
    n_always : float
        Mean multiply-adds of a query before the first early exit, which the exits require.
    room : Room
    budget : SearchBudget, optional
        Limits the memory for sequences of exits that hand on their estimates, and so the number
        of such exits in a row.
    """
    alone = float(samples.exact_operations.mean())
    found: list[tuple[float, tuple[Link, ...]]] = [(alone, ())]
    begin = State(None, np.ones(len(samples.labels)))
    tried = _Tried(samples, ends, begin)
    budget = budget or SearchBudget("the choice of early exits")
    for sequence in _sequences(fitted, _longest_row(fitted, samples, budget)):
        if not _has_room(sequence, ends, n_always, room):
            continue
        links, trial = tried.of(sequence)
        scale = _scale(trial, samples.labels, allowed_disagreements(samples, risk))
        if scale is not None:
            cost = trial.mean_operations(scale, samples.exact_operations, samples.per_kernel)
            found.append((n_always + cost, links))
    found.sort(key=lambda item: item[0])  # stable: fewer stages at equal cost
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
    """Return how many of the choice samples may disagree with the model at a risk."""
    return _RISK_USED * risk * len(samples.labels)


def _widened(
    links: tuple[Link, ...],
    samples: ChoiceSamples,
    ends: Ends,
    cost: float,
) -> tuple[float, tuple[Link, ...]]:
    """Return the sequence with the bands of tests after touched vectors widened at a small cost.

    Few queries reach these tests, and each query that they decide wrongly makes all bands of the
    program wider.
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
    """Return the mean multiply-adds of the links and the sum at a scale, for a choice sample."""
    trial = trial_of(links, [made.fitted.estimates for made in links], ends.label)
    return trial.mean_operations(scale, samples.exact_operations, samples.per_kernel)


class _Tried:
    """Cache of links and trials: a stage is fitted once for each row of estimates before it."""

    def __init__(self, samples: ChoiceSamples, ends: Ends, begin: State) -> None:
        self._samples, self._ends, self._begin = samples, ends, begin
        self._known: dict[tuple[FittedExit, ...], tuple[Link, Trial, State]] = {}

    def of(self, sequence: tuple[FittedExit, ...]) -> tuple[tuple[Link, ...], Trial]:
        """Return the links of a sequence, and the trial of the whole sequence."""
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
            if item.stage.hands_on_estimate:
                handed_on = key
            links.append(made)
            trials.append(trial)
        return tuple(links), in_a_row(trials)


def _has_room(sequence: Sequence[FittedExit], ends: Ends, n_always: float, room: Room) -> bool:
    stages = [item.stage for item in sequence]
    flash = sum(table.n_bytes for stage in stages for table in stage.tables())
    ram = sum(fit_of(stage).ram_bytes(stage) for stage in stages)
    return (
        n_always + added_operations(stages, ends) <= room.operations
        and (room.flash_bytes is None or flash <= room.flash_bytes)
        and (room.ram_bytes is None or ram <= room.ram_bytes)
    )


def _scale(trial: Trial, labels: NDArray[np.int32], allowed: float) -> float | None:
    """Return about the smallest scale that keeps the risk; None if no scale does."""
    found = None
    for scale in SCALES:
        if trial.disagreements(scale, labels) > allowed:
            break
        found = scale
    if found is not None and allowed < _FEW:
        return max(found, _USUAL_SCALE)
    return found


def added_operations(stages: Sequence[EarlyExit], ends: Ends) -> float:
    """Return the multiply-adds that early exits add to a query that no exit decides."""
    return sum(stage.added_operations(ends) for stage in stages)


def _longest_row(fitted: Sequence[FittedExit], samples: ChoiceSamples, budget: SearchBudget) -> int:
    """Return how many exits that hand on their estimates are tried in a row.

    This is the number that may stand in a program, as far as the budget's memory allows.
    """
    kinds = _kinds(_handing_on(fitted))
    longest = max((min(fit.most, len(items)) for fit, items in kinds), default=0)
    names = " or ".join(f"{fit.kind.template.replace('_', ' ')}" for fit, _ in kinds)
    for n in range(longest, 0, -1):
        if budget.allows(_bytes(fitted, samples, n)):
            if n < longest:
                budget.ended(f"{n} of {longest} {names}s in a row")
            return n
    if longest:
        budget.ended(f"no {names}")
    return 0


def _bytes(fitted: Sequence[FittedExit], samples: ChoiceSamples, longest: int) -> int:
    """Return the bytes of the cache for rows of at most `longest` exits of a kind.

    The cache stores the last exit's decisions for every row of exits that hand on their estimates.
    For every stage behind such a row it stores the scale, the label and the operations of each test
    and sample.
    """
    n_samples, n_decisions = samples.decisions.shape
    handing_on = _handing_on(fitted)
    n_rows = math.prod(
        sum(math.comb(len(items), n) for n in range(longest + 1)) for _, items in _kinds(handing_on)
    )
    tests = sum(len(item.estimates.values) for item in fitted if item not in handing_on)
    return int(n_samples * n_rows * (8 * n_decisions + 20 * (tests + 1)))


def _sequences(fitted: Sequence[FittedExit], longest: int) -> list[tuple[FittedExit, ...]]:
    """Return all sequences: of each kind every number that may stand in a row, cheapest first."""
    rows = []
    for fit, items in _kinds(fitted):
        most = min(fit.most, longest) if fit.kind.hands_on_estimate else fit.most
        if fit.most > 1:
            items.sort(key=lambda item: item.stage.operations())
        rows.append([row for n in range(most + 1) for row in itertools.combinations(items, n)])
    sequences = (tuple(itertools.chain(*row)) for row in itertools.product(*rows))
    return [sequence for sequence in sequences if sequence]


def _handing_on(fitted: Sequence[FittedExit]) -> list[FittedExit]:
    return [item for item in fitted if item.stage.hands_on_estimate]


def _kinds(
    fitted: Sequence[FittedExit],
) -> list[tuple[StatisticalFit[Any], list[FittedExit]]]:
    """Return the exits of each kind, in the order in which the kinds stand in a program."""
    kinds = [
        (fit, [item for item in fitted if type(item.stage) is fit.kind])
        for fit in statistical_fits()
    ]
    return [(fit, items) for fit, items in kinds if items]
