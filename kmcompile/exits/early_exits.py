"""Add the early exits that the plan asks for to an exact program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.asked import check_names
from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.candidates.room import Room, room_for_exits
from kmcompile.exits.certified.certify import WORST_SHARE as CERTIFIED_SHARE
from kmcompile.exits.certified.certify import Choice, add_certified_exits
from kmcompile.exits.certified.offers import Offer
from kmcompile.exits.feature_functions import offer_additive
from kmcompile.exits.multiplied_out import offer_coded_polynomial, offer_polynomial
from kmcompile.exits.pairwise import offer_pairs
from kmcompile.exits.statistical.calibrate import calibrate
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.case import Wish
from kmcompile.exits.statistical.chooser import WORST_SHARE as STATISTICAL_SHARE
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.exits.without_vectors import Board
from kmcompile.lower.codes import Coded
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.threads import one_thread
from kmcompile.program.estimate import EQUAL
from kmcompile.program.interpreter import Inputs, interpret
from kmcompile.program.prices import price_of_sum, worst_instructions
from kmcompile.program.program import Program
from kmcompile.program.stages import CodedPolynomialSum, TableSum
from kmcompile.program.wanted import wanted_of
from kmcompile.program.workspace import workspace_bytes
from kmcompile.request.plan import Plan

_SHARE_BEFORE_FEW = 1.0
"""Operations that exits may add before fewer vectors, as a share of theirs: next to nothing beside
the sum of all vectors. [measured: a9a, 3 vectors: the linear filter adds a third]"""

_NO_GAIN = "that takes no fewer instructions than the sum over the vectors with its early exits"


@dataclass(frozen=True, slots=True, eq=False)
class WithExits:
    """A program with its early exits, and how these were fitted and chosen.

    Parameters
    ----------
    program : Program
    calibration : Calibration or None
        The calibration; None in every mode but statistical.
    choice : Choice or None
        The choice of certified exits; None in every mode but certified.
    held_out, calibrated_with : ndarray of shape (n, n_features), float32, or None
        The samples of the same names in `Calibrated`.
    wish : Wish or None
        The risk and the parts of these samples; None without them.
    over_vectors : str
        Why a polynomial machine in an integer format is summed over its vectors; "" if it is not.
    """

    program: Program
    calibration: Calibration | None = None
    choice: Choice | None = None
    held_out: Float32Array | None = None
    calibrated_with: Float32Array | None = None
    over_vectors: str = ""
    wish: Wish | None = None

    @property
    def before_control(self) -> Program:
        """The program as it was chosen, before its risk was controlled."""
        before = None if self.calibration is None else self.calibration.before
        return before or self.program

    @property
    def promise(self) -> Promise | None:
        """The promised risk of the statistical exits; None if there are no statistical exits."""
        if self.calibration is None or not self.program.takes_risk:
            return None
        return self.calibration.promise

    @property
    def speedup(self) -> float:
        """Mean operations of the exact sum divided by those with the exits, on the choice samples.

        The control samples, which bound the risk, do not influence this number. A comparison of
        programs by their speedup therefore happens before their risk is controlled.
        """
        return self._times_less(lambda candidate: candidate.mean_operations)

    @property
    def gain(self) -> float:
        """The same in estimated instructions, by which programs are compared."""
        return self._times_less(lambda candidate: candidate.instructions)

    def _times_less(self, cost: Callable[[Candidate], float]) -> float:
        made = self.calibration or self.choice
        candidates = () if made is None else made.candidates
        taken = [cost(c) for c in candidates if c.chosen]
        alone = [cost(c) for c in candidates if c.stages == ("exact_sum",)]
        return alone[0] / taken[0] if taken and alone else 1.0


def why_none(machine: KernelMachine, plan: Plan, program: Program) -> str:
    """Return why a machine cannot have early exits before a sum in any mode; "" if it can."""
    if machine.task is Task.REGRESSION and plan.tolerance is None:
        return "there is no early exit: without --tolerance every value is the exact sum"
    unused = f"mode {plan.mode} is not used"
    reason = machine.kernel.no_early_exits
    if machine.routing is not None and not program.sum.takes_exits:
        reason = f"{program.sum.name} sums integers, and leaves have early exits in float32 only"
    limits_worst = plan.budgets.instructions is not None and not plan.stages.needed
    if machine.routing is not None and limits_worst:
        reason = "exits in leaves add to the worst case; --require leaf_expansion asks for them"
    if isinstance(program.sum, TableSum):
        reason = f"{program.sum.name} looks up one value a feature, and no early exit costs less"
    return f"{unused}: {reason}" if reason else ""


def add_early_exits(
    machine: KernelMachine,
    program: Program,
    plan: Plan,
    tell: Callable[[str], None],
    coded: Coded | None = None,
    offered: Sequence[Offer] | None = None,
) -> WithExits:
    """Return the program with early exits if the mode allows them and they save operations.

    A sum without support vectors is taken in every mode if it costs less.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.
    coded : Coded, optional
        The machine with codes from which a program in an integer format was lowered.
    offered : sequence of Offer, optional
        Certified exits of the program that mode certified chooses from; by default it searches for
        them.

    Raises
    ------
    UsageError, InputError
        If an exit that must be there is unknown, is not of the mode, or cannot be built.
    """
    if plan.mode == "exact":
        return _summed(machine, program, plan, coded)
    check_names(plan.stages, plan.mode)
    reason = why_none(machine, plan, program)
    if reason and plan.stages.needed:
        raise InputError(f"{plan.stages.needed[0]} cannot be built for this machine: {reason}")
    flash = plan.budgets.flash_bytes
    never_fits = flash is not None and program.table_bytes > flash and not plan.stages.needed
    if reason or never_fits:
        return _summed(machine, program, plan, coded)
    over_vectors = ["the early exits that are asked for stand before the sum over the vectors"]

    def offers(taught: Float32Array, judged: Float32Array) -> list[SumOffer]:
        vectorless = _offer_without_vectors(machine, program, plan, judged, coded)
        pairs = None
        if machine.reduced_from is None:  # its few vectors are shared by nearly all pairs
            pairs = offer_pairs(machine, program, plan.target, plan.budgets, taught, judged)
        over_vectors.append(_NO_GAIN if isinstance(vectorless, SumOffer) else vectorless)
        found = [offer for offer in (pairs, vectorless) if isinstance(offer, SumOffer)]
        return [offer for offer in found if _is_no_larger(offer, program, plan)]

    # Bounds over a box are those of the sum over vectors.
    others = None if machine.routing is not None or program.box is not None else offers
    room = _room(machine, program, plan)
    if plan.mode == "statistical":
        with one_thread():  # threads change the rounding of products
            made = calibrate(machine, program, plan, room, tell, others)
        found = WithExits(
            made.program, made.calibration, None, made.held_out, made.given, wish=made.wish
        )
    else:
        given = plan.samples if len(plan.samples) else None
        chosen, choice = add_certified_exits(machine, program, given, room, tell, others, offered)
        found = WithExits(chosen, None, choice)
    if isinstance(found.program.sum, CodedPolynomialSum) or machine.routing is not None:
        return found
    return replace(found, over_vectors=over_vectors[-1])


def _room(machine: KernelMachine, program: Program, plan: Plan) -> Room:
    """Return the flash and RAM that early exits may take, and what is made small by them."""
    share = STATISTICAL_SHARE if plan.mode == "statistical" else CERTIFIED_SHARE
    if machine.reduced_from is not None:
        share = _SHARE_BEFORE_FEW
    room = room_for_exits(program, plan.budgets, workspace_bytes(program), share, plan.stages)
    room = replace(room, map_bytes=room.flash_bytes if plan.flash_is_given else None)
    return room.on(plan.target, program).of(wanted_of(plan), program)


def _offer_without_vectors(
    machine: KernelMachine, program: Program, plan: Plan, judged: Inputs, coded: Coded | None
) -> SumOffer | str:
    """Return the sum without support vectors that the machine's kernel has, or why there is none.

    The text is "" where there is nothing to say.
    """
    board = Board(plan.target, plan.budgets, plan.replay)
    if machine.reduced_from is not None:
        return "a reduced machine is summed over its vectors"
    if coded is not None:
        return offer_coded_polynomial(coded, program, board, judged)
    samples = judged.astype(np.float32, copy=False)
    return (
        offer_polynomial(machine, program, board, samples)
        or offer_additive(machine, program, board, samples)
        or ""
    )


def _is_no_larger(offer: SumOffer, program: Program, plan: Plan) -> bool:
    """Return whether a sum keeps what `--optimize` names as small as the exact sum has it."""
    if plan.optimize == "worst":
        least = worst_instructions(program, plan.target.cost)
        return worst_instructions(offer.program, plan.target.cost) <= EQUAL * least
    if plan.optimize == "flash":
        return offer.program.table_bytes <= EQUAL * program.table_bytes
    return True


def _summed(machine: KernelMachine, program: Program, plan: Plan, coded: Coded | None) -> WithExits:
    """Return the program with a sum without support vectors if it costs less than the exact sum."""
    if machine.routing is not None or program.box is not None:
        return WithExits(program)
    judged = program.known_answers.inputs
    if not len(judged):
        return WithExits(program, over_vectors=_NO_GAIN)
    offered = _offer_without_vectors(machine, program, plan, judged, coded)
    if isinstance(offered, str):
        return WithExits(program, over_vectors=offered)
    if not _is_no_larger(offered, program, plan):
        return WithExits(program, over_vectors=_NO_GAIN)
    alone = interpret(program, judged).stage_operations[:, -2:].sum(axis=1).mean()
    cost = plan.target.cost
    if offered.instructions(cost) >= price_of_sum(program.ends, cost).of(float(alone)):
        return WithExits(program, over_vectors=_NO_GAIN)
    return WithExits(replace(offered.program, mode=program.mode))
