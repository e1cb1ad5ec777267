"""Judge sequences of early exits by the instructions that they take on the choice samples."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.choice import (
    MOST_OF_A_KIND,
    Prices,
    TriedExit,
    cheapest_of_each_kind,
)
from kmcompile.exits.statistical.cascade_exit import CascadeExit, Seen, State, trial_of
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.interval_link import IntervalLink
from kmcompile.exits.statistical.lead_link import LeadLink
from kmcompile.exits.statistical.links import FittedExit, link
from kmcompile.exits.statistical.proved_link import Proved, ProvedLink
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.exits.statistical.trial import Trial, in_a_row
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends

Item = FittedExit | TriedExit
"""A statistical or a certified exit, tried alone on the choice samples."""

Items = tuple[Item, ...]

FEW, USUAL_SCALE = 3, 1.75
"""If the risk allows fewer disagreements than this on the choice samples, they say little about the
scale that the control samples will give. The usual scale is taken instead."""

PROOFS_SHARE = 2.5
"""Most operations that all exits may add in the worst case if some are certified, as a multiple of
those that statistical exits may add: a quarter of the exact sum's against a tenth."""


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceSamples:
    """The part of the samples on which sequences of stages are compared.

    Parameters
    ----------
    seen : Seen
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    exact_operations, per_kernel : ndarray of shape (n_samples,), int64
        Multiply-adds of the exact sum with the label, and those it saves for each known kernel.
    truth : ndarray of shape (n_samples,), int64, or None
        The right labels, where a loss is promised.
    spent : float
        Of what is allowed, how much the sum of a reduced machine takes.
    """

    seen: Seen
    decisions: Float64Array
    relevant: NDArray[np.bool_]
    exact_operations: NDArray[np.int64]
    per_kernel: NDArray[np.int64]
    truth: NDArray[np.int64] | None = None
    spent: float = 0.0

    @property
    def labels(self) -> NDArray[np.int32]:
        """The model's labels, shape (n_samples,)."""
        return self.seen.labels


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A sequence of early exits, and its cost on the choice samples.

    Parameters
    ----------
    items : tuple of FittedExit or TriedExit
    links : tuple of CascadeExit
        The exits, each fitted to follow those before it.
    cost, operations : float
        Mean of the estimated instructions of a choice sample, and of its multiply-adds, at a scale
        that about keeps the risk.
    scale : float
    """

    items: tuple[Item, ...]
    links: tuple[CascadeExit[Any], ...]
    cost: float
    operations: float
    scale: float

    @property
    def stages(self) -> tuple[EarlyExit, ...]:
        """The stages, without bands."""
        return tuple(item.stage for item in self.items)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the kinds, in order."""
        return tuple(stage.template for stage in self.stages)

    @property
    def takes_risk(self) -> bool:
        """Whether any of the exits is statistical."""
        return any(isinstance(item, FittedExit) for item in self.items)


class Judge:
    """What sequences of early exits cost on the choice samples.

    Parameters
    ----------
    samples : ChoiceSamples
    ends : Ends
    n_always : float
        Mean multiply-adds of a query before the first early exit, which statistical exits require.
    room : Room
    allowed : float
        Choice samples that may disagree with the model, or right labels that these may lose.
    """

    def __init__(
        self, samples: ChoiceSamples, ends: Ends, n_always: float, room: Room, allowed: float
    ) -> None:
        self.samples, self.ends, self.n_always = samples, ends, n_always
        self.room, self.allowed = room, allowed
        self._of_sum = room.of_sum(ends)
        self._exact = self._of_sum.of(samples.exact_operations.astype(np.float64))
        self._per_kernel: Float64Array = self._of_sum.each * samples.per_kernel.astype(np.float64)
        self._known: dict[Items, tuple[CascadeExit[Any], Trial, State]] = {}

    def allowing(self, allowed: float) -> Judge:
        """Return the judge with another number of disagreements, and all trials so far."""
        other = Judge(self.samples, self.ends, self.n_always, self.room, allowed)
        other._known = self._known
        return other

    def rows(self, sequences: Iterable[Items]) -> list[Row]:
        """Return the sequences that have room and keep the risk at some scale."""
        rows = [self.row(items) for items in sequences if self.has_room(items)]
        return [row for row in rows if row is not None]

    def row(self, items: Items) -> Row | None:
        """Return a sequence with its cost; None if no scale keeps the risk.

        A sequence of exits that must be there is returned anyway, at the largest scale.
        """
        links, trials = self._tried(items)
        trial = self._in_a_row(links, trials) if trials else None
        scale: float | None = math.inf
        if trial is not None and any(isinstance(item, FittedExit) for item in items):
            scale = _scale(trial, self.samples, self.allowed)
            if scale is None and {item.stage.template for item in items} & {
                *self.room.stages.needed
            }:
                scale = SCALES[0]
        if scale is None:
            return None
        return self.costed(Row(items, links, 0.0, 0.0, scale), trial)

    def cost_at(self, items: Items, scale: float) -> float:
        """Return the mean instructions of a sequence and the sum at a scale."""
        links, trials = self._tried(items)
        return self.cost(Row(items, links, 0.0, 0.0, scale), self._in_a_row(links, trials))

    @property
    def alone(self) -> float:
        """Mean instructions of the sum alone."""
        return float(self._exact.mean())

    def cost(self, row: Row, trial: Trial | None = None) -> float:
        """Return the mean instructions of a row's links and the sum at its scale."""
        return self.costed(row, trial).cost

    def costed(self, row: Row, trial: Trial | None = None) -> Row:
        """Return a row with the mean costs of its links and the sum at its scale."""
        samples = self.samples
        if not row.links:
            operations = float(samples.exact_operations.mean())
            return replace(row, cost=self.alone, operations=operations)
        if trial is None:
            results = [
                item.estimates
                if isinstance(item, FittedExit)
                else Proved(item, self.samples.labels)
                for item in row.items
            ]
            begin, prices = samples.seen.begin, self._prices(row.links)
            trial = trial_of(row.links, results, begin, self.ends.label, prices)
        always = self.n_always if row.takes_risk else 0.0
        spent = trial.mean_operations(row.scale, samples.exact_operations, samples.per_kernel)
        cost = trial.mean_instructions(row.scale, self._exact, self._per_kernel)
        cost += always * self.room.cost.float32.other / self.ends.float_weight
        return replace(row, cost=cost, operations=spent + always)

    def has_room(self, items: Items) -> bool:
        """Return whether a program may have these exits, with what they add."""
        stages = [item.stage for item in items]
        ends, room = self.ends, self.room
        risky = [item.stage for item in items if isinstance(item, FittedExit)]
        sure = [item.stage for item in items if not isinstance(item, FittedExit)]
        wide = replace(room, operations=room.operations * PROOFS_SHARE)
        added: list[float] = [stage.added_operations(ends) for stage in risky]
        if added:
            added[0] += self.n_always
        ram = sum(fit_of(stage).ram_bytes(stage) for stage in risky)
        needed = {stage.template for stage in stages} <= {*room.stages.needed}
        return (
            can_stand(items)
            and room.has_operations(risky, added)
            and wide.has_operations(
                [*risky, *sure], [*added, *(stage.added_operations(ends) for stage in sure)]
            )
            and (needed or room.has_flash(stages))
            and (needed or room.ram_bytes is None or ram <= room.ram_bytes)
        )

    def cheapest_of_each_kind(
        self, proved: Sequence[TriedExit], most: int = MOST_OF_A_KIND
    ) -> list[list[TriedExit]]:
        """Return, for each kind, the certified exits that cost least alone before the sum."""
        prices = Prices(self.room, self.ends)
        return cheapest_of_each_kind(proved, self.samples.exact_operations, prices, most)

    def _prices(self, links: Sequence[CascadeExit[Any]]) -> list[float]:
        return [self.room.of_exit(made.stage, self.ends) for made in links]

    def _in_a_row(self, links: Sequence[CascadeExit[Any]], trials: Sequence[Trial]) -> Trial:
        return in_a_row(trials, self._prices(links))

    def _tried(self, items: Items) -> tuple[tuple[CascadeExit[Any], ...], list[Trial]]:
        """Return the links of a sequence and their trials.

        A stage is fitted once for each row of exits before it that hand on what it reads: estimates
        or proved intervals.
        """
        links, trials = [], []
        state = self.samples.seen.begin
        handed_on: Items = ()
        proofs: Items = ()
        for item in items:
            key = (*(proofs if reads_intervals(item) else handed_on), item)
            if key not in self._known:
                self._known[key] = self._linked(item, state)
            made, trial, after = self._known[key]
            if isinstance(item, TriedExit):
                proofs = (*proofs, item)
                state = state.narrowed(item)
            elif item.stage.hands_on_estimate:
                handed_on = key
                state = replace(state, earlier=after.earlier, spread=after.spread)
            links.append(made)
            trials.append(trial)
        return tuple(links), trials

    def _linked(self, item: Item, state: State) -> tuple[CascadeExit[Any], Trial, State]:
        scales = np.array(SCALES)
        if isinstance(item, TriedExit):
            proved, results = ProvedLink(item), Proved(item, self.samples.labels)
            return proved, *proved.trial(results, state, self.ends.label, scales)
        made = _link_of(item)(item, state, self.samples.decisions, self.samples.relevant)
        return made, *made.trial(item.estimates, state, self.ends.label, scales)


def _link_of(item: FittedExit) -> Callable[..., CascadeExit[Any]]:
    """Return the function that fits the band of an exit at its place."""
    fit = fit_of(item.stage)
    if fit.tests_leads:
        return LeadLink.of
    return IntervalLink.of if fit.reads_intervals else link


def reads_intervals(item: Item) -> bool:
    """Return whether an exit reads the intervals that certified exits before it prove."""
    return isinstance(item, FittedExit) and fit_of(item.stage).reads_intervals


def can_stand(items: Items) -> bool:
    """Return whether a certified exit stands before each exit that reads intervals."""
    proves = itertools.accumulate((isinstance(item, TriedExit) for item in items), operator.or_)
    return all(
        before or not reads_intervals(item) for item, before in zip(items, proves, strict=True)
    )


def _scale(trial: Trial, samples: ChoiceSamples, allowed: float) -> float | None:
    """Return about the smallest scale that keeps the risk; None if no scale does."""
    found = None
    for scale in SCALES:
        if trial.disagreements(scale, samples.labels, samples.truth) > allowed - samples.spent:
            break
        found = scale
    if found is not None and allowed < FEW:
        return max(found, USUAL_SCALE)
    return found
