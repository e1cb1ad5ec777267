"""From the plan to a program with statistical exits: the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import FewSamplesError, UsageError
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.samples import accepted_rows, require_samples
from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.exits.statistical.binomial import confidence_at
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.cascade import add_cascade
from kmcompile.exits.statistical.case import Case, Wish
from kmcompile.exits.statistical.control import promise_of_exact
from kmcompile.exits.statistical.generated import Challenge, challenge, generated_challenges
from kmcompile.exits.statistical.near_copies import Groups, groups_of
from kmcompile.exits.statistical.pairs import with_offer
from kmcompile.exits.statistical.paper_cascade import PAPER_STAGES, add_paper_cascade
from kmcompile.exits.statistical.samples import (
    CalibrationSamples,
    Parts,
    calibration_samples,
    require_support,
    split,
    split_repeated,
    supported_risk,
    trained_of,
)
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.model.coefficients import relevant_decisions
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.cost import weight_notes
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum
from kmcompile.request.counted import Counted
from kmcompile.request.plan import Plan
from kmcompile.text.figures import counted

_CHALLENGES = 500

_MOST_RISK = 0.01
"""Largest risk that is promised where the samples are too few for the default risk."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A program with early exits, and the samples that calibrated it.

    Parameters
    ----------
    program : Program
    calibration : Calibration
    held_out : ndarray of shape (n, n_features), float32
        The samples to verify with: the control samples, or all samples if there is no control part.
    given : ndarray of shape (n_given, n_features), float32
        All calibration samples that the C accepts.
    wish : Wish or None
        The risk and the parts of `given`; None for the paper's thresholds.
    """

    program: Program
    calibration: Calibration
    held_out: Float32Array
    given: Float32Array
    wish: Wish | None = None


def calibrate(
    machine: KernelMachine,
    program: Program,
    plan: Plan,
    room: Room,
    tell: Callable[[str], None],
    offers: Callable[[Float32Array, Float32Array], Sequence[SumOffer]] | None = None,
) -> Calibrated:
    """Return the program with the early exits that the plan asks for.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    plan : Plan
        The plan, which must have samples.
    room : Room
        What early exits may take.
    tell : callable
        Called with a few words as each step begins.
    offers : callable, optional
        Function of two sample arrays, the first to choose the order of pairs of classes, the second
        to measure the cost. It returns programs with other sums; one is taken if it costs less.
        The control samples, which support the promise, are in neither array.

    Raises
    ------
    InputError
        If the data cannot be used or do not support the risk.
    UsageError
        If the paper's scheme is asked for where the model, format or stages do not allow it.
    """
    given = _given(machine, program, plan, tell)
    X, samples, groups, accepted = given.X, given.samples, given.groups, given.accepted
    notes = _notes(int((~accepted).sum()), samples.training)
    wish = None
    if plan.promise.thresholds != "risk":
        _check_paper_scheme(machine, program, plan)
        relevant = relevant_decisions(machine, samples.labels)
        program, calibration = add_paper_cascade(
            program, samples, relevant, plan.promise, tell, groups.first
        )
        held_out = X
    else:
        wish, more = _wish(plan, given)
        notes, parts = (*more, *notes), wish.parts
        case = Case.of(machine, program, samples, wish)
        program, calibration = add_cascade(case, room, tell, plan.n_jobs)
        held_out = X[parts.control.rows]
        every: Sequence[SumOffer] = ()
        if offers is not None and not plan.stages.needed:
            every = offers(X[case.taught], X[parts.choice])
        for offered in every:
            program, calibration = with_offer(
                program,
                calibration,
                offered,
                promise_of_exact(samples, wish),
                X[parts.choice],
                held_out,
                room,
            )
    if program.takes_risk:
        tell("challenging the thresholds")
        asked = challenge(program, machine, generated_challenges(machine, X, _CHALLENGES))
        notes = (*notes, _told(asked), *weight_notes(program))
    accuracy = None if wish is None else _accuracy(program, samples, wish)
    calibration = replace(calibration, notes=(*notes, *calibration.notes), accuracy=accuracy)
    return Calibrated(program, calibration, held_out, X, wish)


def wished(
    machine: KernelMachine, program: Program, plan: Plan, tell: Callable[[str], None]
) -> tuple[Wish, Float32Array] | None:
    """Return the risk to promise, and the samples that its parts are of, as `calibrate` has them.

    None if the machine was trained on the samples, which then support no promise.
    """
    given = _given(machine, program, plan, tell)
    return None if given.samples.training else (_wish(plan, given)[0], given.X)


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """The calibration samples that the C accepts, which of them repeat others, and all of them."""

    X: Float32Array
    samples: CalibrationSamples
    groups: Groups
    accepted: NDArray[np.bool_]


def _given(
    machine: KernelMachine, program: Program, plan: Plan, tell: Callable[[str], None]
) -> _Given:
    """Return the calibration samples, of which there must be enough."""
    accepted = accepted_rows(program.prepare, plan.samples)
    X = np.ascontiguousarray(plan.samples[accepted])
    require_samples(len(X))
    tell("looking for near copies among the calibration samples")
    groups = groups_of(X, trained_of(machine))
    require_samples(len(groups.firsts), n_given=len(X))
    tell("evaluating the calibration samples")
    return _Given(X, calibration_samples(machine, X, groups.repeated_share), groups, accepted)


def _wish(plan: Plan, given: _Given) -> tuple[Wish, tuple[str, ...]]:
    """Return the risk to promise with the parts of the samples, and notes on both."""
    parts, risk, notes = _parts(plan, given.groups, given.accepted, given.samples.training)
    truth = None if plan.truth is None else plan.truth[given.accepted]
    asked, sure = plan.promise, confidence_at(plan.promise.doubt)
    return Wish(risk, asked.control, parts, asked.n_generated, truth, sure), notes


def _accuracy(program: Program, samples: CalibrationSamples, wish: Wish) -> Accuracy | None:
    """Return the right labels of the control samples, where a loss is promised."""
    rows = wish.parts.control.rows[wish.parts.control.every]
    truth = wish.truth_of(rows)
    if truth is None:
        return None
    said = classify(program, samples.X[rows])[0]["label"]
    return Accuracy.of(said, samples.trained_labels[rows], truth, len(program.classes))


def _told(asked: Challenge) -> str:
    return (
        f"{counted(asked.n_points, 'point', 'points')} made to mislead early exits, near vectors "
        f"of the other class (NSV, section 5.2): {counted(asked.n_decided_early, 'is', 'are')} "
        f"decided early, {asked.disagreements:,} of them unlike the model"
    )


def _parts(
    plan: Plan, groups: Groups, accepted: NDArray[np.bool_], training: bool
) -> tuple[Parts, float, tuple[str, ...]]:
    """Return the parts of the samples, the risk to promise, and notes on both."""
    n, n_groups, control = len(groups.first), len(groups.firsts), plan.promise.control
    if n_groups == n and plan.counted is None:
        risk, notes = _risk(plan, n, training)
        return split(n, risk, control, plan.promise.what), risk, notes
    counts = Counted.whole(len(accepted)) if plan.counted is None else plan.counted
    parts = split_repeated(groups.first, counts.of(accepted))
    n_control = parts.control.n
    risk, notes = _risk(plan, n_groups, training, n, n_control)
    told = (
        f"{n - n_groups:,} of the {n:,} calibration samples repeat others, or nearly: each of them "
        f"counts, and each group of them counts once, whichever is worse; in the control part at "
        f"least {n_control:,} count"
    )
    return parts, risk, (*notes, told)


def _risk(
    plan: Plan,
    n: int,
    training: bool,
    n_given: int | None = None,
    n_control: int | None = None,
) -> tuple[float, tuple[str, ...]]:
    """Return the risk to promise, and a note if it is not the default one for want of samples."""
    asked = plan.promise
    supported = supported_risk(n, asked.control, n_control, asked.what)
    if asked.risk_is == "auto" or (training and asked.risk_is == "default"):
        return supported, ()
    if training:  # the program then has no promise
        return asked.risk, ()
    try:
        only_numbers = plan.options.reduce == "auto"
        require_support(n, asked.risk, asked.control, n_given, n_control, asked.what, only_numbers)
    except FewSamplesError as error:
        if not plan.mode_is_default or supported > _MOST_RISK:
            raise
        few = str(error).split("\nask for")[0]
        return supported, (f"the promised risk is {supported:g}: {few}",)
    return asked.risk, ()


def _check_paper_scheme(machine: KernelMachine, program: Program, plan: Plan) -> None:
    """Raise UsageError if the paper's scheme does not support the machine, format or stages."""
    exact, thresholds = program.ends.exact, plan.promise.thresholds
    asked = (*plan.stages.needed, *plan.stages.excluded)
    if not plan.stages.are_met_by(PAPER_STAGES):
        raise UsageError(
            f"--thresholds {thresholds}: the paper's scheme is {' and '.join(PAPER_STAGES)}, "
            f"asked for is {', '.join(asked)}\nleave it out for --thresholds risk"
        )
    if not machine.task.has_signs:
        raise UsageError(
            f"--thresholds {thresholds}: the paper's scheme is for pairs of classes, the "
            f"model is {machine.task}\nleave it out for --thresholds risk"
        )
    if not isinstance(exact, ExactSum) or program.codes is not None:
        raise UsageError(
            f"--thresholds {thresholds}: the paper's scheme computes kernels of the exact sum "
            f"in float32, those of --format {program.number_format} are integers\n"
            "use --format float32, or leave it out for --thresholds risk"
        )
    if not exact.kernel.projects:
        raise UsageError(
            f"--thresholds {thresholds}: the paper's scheme guesses kernels from projections, "
            f"which say nothing of the {machine.kernel.name} kernel\n"
            "leave it out for --thresholds risk"
        )


def _notes(n_refused: int, training: bool) -> tuple[str, ...]:
    notes = []
    if n_refused:
        refused = counted(n_refused, "calibration sample is", "calibration samples are")
        notes.append(f"{refused} beyond the input limit and left out")
    if training:
        notes.append(
            "--data holds the samples that the model was trained on: each is judged without its "
            "own vector, and no risk is promised; give samples that the model never saw"
        )
    return tuple(notes)
