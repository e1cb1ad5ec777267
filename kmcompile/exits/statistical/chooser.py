"""Choose the early exits of a program of mode statistical, by what they take on samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kmcompile.errors import InputError
from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.choice import TriedExit
from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.exits.statistical.judge import (
    FEW,
    USUAL_SCALE,
    ChoiceSamples,
    Item,
    Items,
    Judge,
    Row,
    reads_intervals,
)
from kmcompile.exits.statistical.links import FittedExit
from kmcompile.exits.statistical.statistical_fit import StatisticalFit

_RISK_USED = 0.7
"""Share of the risk at which candidates are compared; the rest is left for the control samples."""

_WIDER, _WIDER_COST = (1.25, 1.5, 1.75, 2.0), 0.2
"""Factors by which the bands after touched vectors may be wider, and the largest cost of a
factor."""

WORST_SHARE = 0.1
"""Most operations that statistical exits may add in the worst case, as a share of the exact
sum's."""

WORTH_A_RISK = 0.9
"""Exits with a risk are taken only if they need less than this share of the instructions
without."""

_N_EXTENDED, _MOST_PROOFS = 6, 3
"""Cheapest sequences that are extended by certified exits, and certified exits of a kind that are
tried for this: those that are cheapest alone."""

_WORTH_A_STAGE = 0.99
"""A certified exit is added to a sequence if the cost falls below this share."""


@dataclass(frozen=True, slots=True, eq=False)
class Offered:
    """The early exits that may stand in a program.

    Parameters
    ----------
    fitted : sequence of FittedExit
        Statistical exits with their estimates on the choice samples.
    proved : sequence of TriedExit
        Certified exits, tried on the choice samples.
    """

    fitted: Sequence[FittedExit]
    proved: Sequence[TriedExit] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The cheapest sequence of early exits.

    Parameters
    ----------
    row : Row
    without_risk : Row or None
        The cheapest sequence that takes no risk; None if an exit that must be there takes one.
    candidates : tuple of Candidate
        All sequences that were compared, in order of cost.
    """

    row: Row
    without_risk: Row | None
    candidates: tuple[Candidate, ...]


def choose(offered: Offered, judge: Judge, budget: SearchBudget | None = None) -> Chosen:
    """Return the cheapest sequence of early exits.

    A sequence has at most `most` statistical exits of each kind. Their kinds stand in the order of
    the fits, the exits of one kind in order of cost, as far as the judge's room allows. The best
    sequences are extended by certified exits and tests of their intervals (`with_proofs`). Where
    the exits are listed, all sequences of these exits are compared. The sum alone is compared even
    if it cannot be chosen, since exits must be there. A sequence that takes a risk must cost
    clearly less than the best one that takes none.

    Parameters
    ----------
    offered : Offered
    judge : Judge
    budget : SearchBudget, optional
        Limits the memory for sequences of exits that hand on their estimates, and so the number
        of such exits in a row.

    Raises
    ------
    InputError
        If a test of intervals must be there and no certified exit can stand before it.
    """
    asked, room = judge.room.stages, judge.room
    longest = _longest_row(
        offered.fitted, judge.samples, budget or SearchBudget("the choice of early exits")
    )
    if asked.listed is not None:
        rows = judge.rows([(), *_listed(offered, asked.listed, judge)])
    else:
        estimating = [item for item in offered.fitted if not reads_intervals(item)]
        rows = judge.rows([(), *_sequences(estimating, longest)])
        rows += with_proofs(rows, offered, judge)
    # Stable: fewer stages at equal cost. A sequence that does not fit comes last.
    rows.sort(key=lambda row: (not room.has_flash(row.stages), row.cost))
    met = [row for row in rows if asked.are_met_by(row.names)]
    if not met:
        raise InputError(
            f"no program can have {' and '.join(asked.needed)}: no certified exit before it fits "
            "or can be built for this machine"
        )
    chosen = _best(met, judge)
    without_risk = [row for row in met if not row.takes_risk]
    sure = _best(without_risk, judge) if without_risk else None
    if sure is not None and chosen.cost > WORTH_A_RISK * sure.cost:
        chosen = sure
    taken = _widened(chosen, judge) if chosen.takes_risk and judge.allowed < FEW else chosen
    candidates = tuple(
        Candidate(
            (*(made.text for made in row.links), "exact_sum"),
            (taken if row is chosen else row).operations,
            row is chosen,
            (taken if row is chosen else row).cost,
        )
        for row in rows
        if not row.items or asked.are_met_by(row.names)
    )
    return Chosen(taken, sure, candidates)


def _best(rows: Sequence[Row], judge: Judge) -> Row:
    """Return the best of several sequences, which are sorted by whether they fit and by cost."""
    room = judge.room
    fitting = [row for row in rows if room.has_flash(row.stages)]
    if not fitting:
        return rows[0]
    takes = {n: room.takes(row.cost, row.stages, judge.ends) for n, row in enumerate(fitting)}
    return fitting[room.best(takes)]


def with_proofs(rows: Sequence[Row], offered: Offered, judge: Judge) -> list[Row]:
    """Return the cheapest sequences, each extended by certified exits wherever they save most.

    A sequence is extended exit by exit, at the place where the extended sequence costs least. It
    stops where no exit saves a hundredth. Exits that must be there are added anyway. Each sequence
    is extended by certified exits alone, and by these with tests of their intervals.
    """
    kinds = judge.cheapest_of_each_kind(offered.proved, _MOST_PROOFS)
    alone: list[Items] = [(item,) for of_kind in kinds for item in of_kind]
    tests = [item for item in offered.fitted if reads_intervals(item)]
    pairs = _pairs(offered.proved, tests, judge)
    estimating = {fit.kind.template for fit in statistical_fits() if not fit.reads_intervals}
    asked = {name for name in judge.room.stages.required if name in estimating}
    able = [row for row in rows if asked <= set(row.names)]
    able.sort(key=lambda row: row.cost)
    bases = able[:_N_EXTENDED] + [row for row in able[_N_EXTENDED:] if not row.items]
    found = [_extended(row, alone, judge) for row in bases]
    if pairs:
        parts = [*alone, *pairs, *((test,) for test in tests)]
        found += [_extended(row, parts, judge) for row in bases]
    once = {row.items: row for row in found}
    return [row for row in once.values() if row not in bases]


def _pairs(proved: Sequence[TriedExit], tests: Sequence[FittedExit], judge: Judge) -> list[Items]:
    """Return certified exits with a test of their intervals behind: of each kind the cheapest."""
    kinds: dict[str, list[Items]] = {}
    for item, test in itertools.product(proved, tests):
        kinds.setdefault(item.stage.template, []).append((item, test))
    found: list[Items] = []
    for of_kind in kinds.values():
        of_kind.sort(key=lambda pair: judge.cost_at(pair, USUAL_SCALE))
        found += of_kind[:_MOST_PROOFS]
    return found


def _extended(row: Row, parts: Sequence[Items], judge: Judge) -> Row:
    """Return the row with the parts that save instructions, and those that must be there."""
    while True:
        missing = {*judge.room.stages.required} - {*row.names}
        able = [part for part in parts if missing & {*_names(part)}]
        scale = row.scale if row.takes_risk else USUAL_SCALE
        tried = [
            (judge.cost_at(items, scale), items)
            for items in _insertions(row, able or parts)
            if judge.has_room(items)
        ]
        if not tried:
            return row
        longer = judge.row(min(tried, key=lambda one: one[0])[1])
        if longer is None or (not able and longer.cost >= _WORTH_A_STAGE * row.cost):
            return row
        row = longer


def _insertions(row: Row, parts: Sequence[Items]) -> Iterator[Items]:
    """Return the row with one more part, of kinds that it has not, at every place."""
    for part in parts:
        if not {*_names(part)} & {*row.names}:
            for place in range(len(row.items) + 1):
                yield (*row.items[:place], *part, *row.items[place:])


def _names(items: Items) -> list[str]:
    return [item.stage.template for item in items]


def _listed(offered: Offered, listed: Sequence[str], judge: Judge) -> Iterator[tuple[Item, ...]]:
    """Return all sequences with one exit of each listed kind, in the order of the list."""
    kinds = judge.cheapest_of_each_kind(offered.proved)
    items: list[Item] = [*offered.fitted, *itertools.chain(*kinds)]
    yield from itertools.product(
        *([item for item in items if item.stage.template == name] for name in listed)
    )


def allowed_disagreements(samples: ChoiceSamples, risk: float) -> float:
    """Return how many of the choice samples may disagree with the model at a risk."""
    return _RISK_USED * risk * len(samples.labels)


def _widened(row: Row, judge: Judge) -> Row:
    """Return the sequence with the bands of tests after touched vectors widened at a small cost.

    Few queries reach these tests, and each query that they decide wrongly makes all bands of the
    program wider.
    """
    widest = row
    for factor in _WIDER:
        wide = replace(row, links=tuple(made.wider(factor) for made in row.links))
        wide = replace(judge.costed(replace(wide, scale=USUAL_SCALE)), scale=row.scale)
        if wide.cost > row.cost * (1 + _WIDER_COST):
            break
        widest = wide
    return widest


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
