"""From an exact program to one with certified exits: the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.exits.candidates.candidate import Candidate, cost_of, merged
from kmcompile.exits.candidates.required import require_built
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudgets
from kmcompile.exits.certified.choice import WORTH, TriedExit, choose
from kmcompile.exits.certified.choice_samples import choice_samples
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.certified.known_expansions import Known
from kmcompile.exits.certified.limits import is_usable
from kmcompile.exits.certified.offers import Asked, CertifiedFit, Offer
from kmcompile.exits.feature_functions import SUMS
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.threads import one_thread
from kmcompile.program.cost import weight_notes
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.sums.piecewise_sum import PiecewiseSum
from kmcompile.request.asked_stages import AskedStages

WORST_SHARE = 0.25
"""Most operations that certified exits may add in the worst case, as a share of the exact
program's. Where a sum skips zeros, a query with many of them may take more beyond its own sum.
[measured: with this share of the sum of the sample with most zeros, no exit stood before a machine
of degree 9 on MNIST, where `subspace_certificate` takes 0.29 to 0.65 of the instructions]
"""

_NEARLY_NOTHING = 0.02
"""Share of the exact sum's instructions below which another sum is taken without a search for
exits."""

_WORTH_OF_GENERATED = 0.9
"""Most instructions with exits, as a share of those without, by points made from vectors: how many
queries they decide is then a guess."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How the certified exits of a program were chosen, for the report.

    Parameters
    ----------
    source : {"data", "generated"}
        Whether the samples are the user's or made from the support vectors.
    n_samples : int
        The user's samples by which the exits were chosen, or the points in their place.
    candidates : tuple of Candidate
        In order of cost; the exact sum without exits is one of them.
    notes : tuple of str
    """

    source: str
    n_samples: int
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]


def add_certified_exits(
    machine: KernelMachine,
    program: Program,
    given: Float32Array | None,
    room: Room,
    tell: Callable[[str], None],
    offers: Callable[[Float32Array, Float32Array], Sequence[SumOffer]] | None = None,
    found: Sequence[Offer] | None = None,
) -> tuple[Program, Choice]:
    """Return the program with the certified exits that save operations, and how they were chosen.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes, with a kernel other than linear.
    program : Program
        The exact program, without early exits.
    given : ndarray of shape (n, n_features), float32, or None
        The user's samples. They choose the exits; no proof depends on them.
    room : Room
    tell : callable
        Called with a few words as each step begins.
    offers : callable, optional
        Function of two sample arrays, the first to choose the order of pairs of classes, the second
        to measure the cost. It returns programs with other sums, which are compared with the exact
        program, each with the exits that save operations if exits may stand before its sum. There
        are no other sums where exits must be there.
    found : sequence of Offer, optional
        The exits to choose from; by default they are fitted.
    """
    tell("choosing certified exits")
    exact_program = program
    samples = choice_samples(machine, program, given)
    taught, judged, shares = samples.taught, samples.judged, samples.shares
    batch = program.prepare.run(Batch.of(judged, program.n_decisions))
    ends = program.ends
    budgets = SearchBudgets(tell)
    spent = ends.exact.operations_of(batch) + ends.label.operations()
    other_sums = () if offers is None or room.stages.needed else offers(taught, judged)
    alone = room.of_sum(ends).of(float(spent.mean()))
    least = min((other.instructions(room.cost) for other in other_sums), default=np.inf)
    offered = list(found or ())
    if found is None and least > _NEARLY_NOTHING * alone:
        offered = fit(machine, program, taught, room, budgets)
    tell("choosing certified exits")
    fitted = tried(offered, batch, ends, room, tell)
    unsure = given is None and not room.stages.needed
    worth = _WORTH_OF_GENERATED if unsure else WORTH
    exits, candidates = choose(fitted, spent, ends, room, worth=worth, shares=shares)
    best = _Best(program, exits, candidates, alone)
    for other in other_sums:
        tell(f"comparing {other.name}")
        best = _better(best, other, fitted, room, shares)
    program, exits, candidates, sum_notes = best.program, best.exits, best.candidates, best.notes
    by_another = program.sum is not ends.exact
    if ends.label.by_votes and not by_another and machine.reduced_from is None:
        sum_notes = (
            "all pairs of classes are summed together: pair_sum does not pay or fit here, or is "
            "not for this machine",
        )
    program = replace(program, mode="certified", exits=(*program.exits, *exits))
    notes = (
        *left_out(machine, exact_program, exits, offered, room.stages),
        *_summed(offered, exits, by_another),
        *budgets.notes,
        *sum_notes,
        *_additive_notes(machine, program),
        *weight_notes(program),
    )
    source = "generated" if given is None else "data"
    return program, Choice(source, samples.n_judged, candidates, notes)


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """The best of some sums with the exits before it, and the instructions of the sum alone."""

    program: Program
    exits: tuple[EarlyExit, ...]
    candidates: tuple[Candidate, ...]
    alone: float
    notes: tuple[str, ...] = ()


def _better(
    best: _Best,
    other: SumOffer,
    fitted: Sequence[TriedExit],
    room: Room,
    shares: Float64Array,
) -> _Best:
    """Return the better of the best sum so far and another one, each with its exits."""
    behind: tuple[EarlyExit, ...] = ()
    others: tuple[Candidate, ...] = (other.candidate(room.cost, shares),)
    standing = [item for item in fitted if item.stage.stands_before(other.program.sum)]
    if standing or other.program.sum.takes_exits:
        ends = other.program.ends
        behind, others = choose(standing, other.operations, ends, room, other.name, shares=shares)
    # Exits that decide every sample may stand before either sum: a query may need it yet.
    takes_less = other.instructions(room.cost) < best.alone
    is_better = room.prefers_second(
        room.takes(cost_of(best.candidates), best.exits, best.program.ends),
        room.takes(cost_of(others), behind, other.program.ends),
        takes_less,
    )
    candidates = merged(best.candidates, others, is_better)
    if not is_better:
        return replace(best, candidates=candidates)
    alone = other.instructions(room.cost)
    return _Best(other.program, behind, candidates, alone, other.notes)


def _additive_notes(machine: KernelMachine, program: Program) -> tuple[str, ...]:
    """Return why a machine that looks additive is summed over its vectors."""
    if isinstance(program.sum, PiecewiseSum):
        return ()
    if machine.kernel.not_additive:
        return (f"additive_sum is left out: {machine.kernel.not_additive}",)
    if machine.kernel.additive is not None:
        name = SUMS[machine.kernel.additive].template
        return (f"{name} does not pay or fit here and is left out",)
    return ()


def fit(
    machine: KernelMachine,
    program: Program,
    X: Float32Array,
    room: Room,
    budgets: SearchBudgets | None = None,
) -> list[Offer]:
    """Return the certified exits that a machine can have, in several sizes, each with a text.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts: they show in which regions proofs are worth their cost.
    budgets : SearchBudgets, optional
        Their notes say which search ended early.

    Raises
    ------
    InputError
        If an exit that must be there cannot be built for the machine.
    """
    budgets = budgets or SearchBudgets()
    fits = [made for made in certified_fits() if room.stages.allows(made.kind.template)]
    reasons = {made.kind.template: _why_not(made, machine, program) for made in fits}
    able = {name for name, reason in reasons.items() if not reason}
    require_built(room.stages, reasons, able, reasons)
    offered: list[Offer] = []
    known: dict[tuple[int, ...], Known] = {}
    with one_thread():  # threads change the rounding of products
        for made in fits:
            name = made.kind.template
            if not reasons[name] and (name in room.stages.needed or not made.why_unasked(machine)):
                asked = Asked(machine, program, X, room.of_kind(name), budgets, known)
                offered += [offer for offer in _tried(made, asked) if is_usable(offer[0])]
    require_built(room.stages, reasons, {stage.template for stage, _ in offered}, reasons)
    return offered


def tried(
    offered: Sequence[Offer],
    batch: Batch,
    ends: Ends,
    room: Room,
    tell: Callable[[str], None] = lambda text: None,
) -> list[TriedExit]:
    """Return the exits that have room, with their costs and decisions on prepared samples."""
    fitting = [
        (stage, text)
        for stage, text in offered
        if room.has_operations([stage], [stage.added_operations(ends)])
    ]
    found = []
    for number, (stage, text) in enumerate(fitting, start=1):
        tell(f"trying certified exits: {number} of {len(fitting)}")
        found.append(TriedExit.of(stage, text, batch, ends))
    return found


def able_kinds(machine: KernelMachine, program: Program) -> list[str]:
    """Return the names of the certified exits that are searched for before a machine's sum."""
    fits = [made for made in certified_fits() if not made.why_unasked(machine)]
    return [made.kind.template for made in fits if not _why_not(made, machine, program)]


def left_out(
    machine: KernelMachine,
    program: Program,
    exits: Sequence[EarlyExit],
    offered: Sequence[Offer],
    asked: AskedStages,
) -> list[str]:
    """Return notes on the kinds of certified exits that a program has not, and why.

    Parameters
    ----------
    machine : KernelMachine
    program : Program
        The exact program, without early exits.
    exits : sequence of EarlyExit
        The exits that the program gets.
    offered : sequence of Offer
        The exits that were compared.
    asked : AskedStages
    """
    if reason := not_of_reduced(machine):
        return [f"there are no certified exits: {reason}"]
    taken = {stage.template for stage in exits}
    kinds = {stage.template for stage, _ in offered}
    notes = []
    for made in certified_fits():
        name = made.kind.template
        if made.kind.walks != (machine.routing is not None):
            continue  # these are not for machines of this kind
        if name in asked.unpaid:
            notes.append(f"{name} does not pay in another format and is left out")
        if name in taken or not asked.allows(name):
            continue
        if name in kinds:
            notes.append(f"{name} does not pay here and is left out")
        elif reason := _why_not(made, machine, program) or made.why_unasked(machine):
            notes.append(f"{name} is left out: {reason}")
    return notes


def _why_not(made: CertifiedFit, machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have a kind of certified exit; "" if it can."""
    if machine.routing is not None and not made.kind.walks:
        return "a routed machine has early exits in its leaves only"
    if program.box is not None and not made.kind.holds_in_box:
        return "it proves labels of single inputs, not of all within the tolerance"
    if program.box is not None and program.codes is not None:
        return "before a sum of integers it is not proved for all within the tolerance"
    return not_of_reduced(machine) or made.why_not(machine, program)


def not_of_reduced(machine: KernelMachine) -> str:
    """Return why a reduced machine has no certified exits; "" for any other machine."""
    if machine.reduced_from is None:
        return ""
    return "a proof would be of the reduced machine's label, not of the trained machine's"


def _tried(made: CertifiedFit, asked: Asked) -> Sequence[Offer]:
    """Return the fitted exits of one kind; none if the scale of the data leaves float64's range."""
    try:
        with np.errstate(all="ignore"):
            return made.offer(asked)
    except (np.linalg.LinAlgError, OverflowError):
        return []


def _summed(offered: Sequence[Offer], exits: tuple[EarlyExit, ...], by_another: bool) -> list[str]:
    """Return a note that every query is summed, if there are no early exits."""
    if by_another or exits:
        return []
    if not offered:
        return ["no certified exit is known for this machine: every query is summed"]
    return ["no certified exit pays and fits: every query is summed"]
