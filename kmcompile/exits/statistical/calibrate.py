"""From the plan to a program with statistical exits: the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kmcompile.errors import UsageError
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.exits.statistical.binomial import confidence_at
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.cascade import add_cascade
from kmcompile.exits.statistical.case import Case, Wish
from kmcompile.exits.statistical.control import promise_of_exact
from kmcompile.exits.statistical.generated import Challenge, challenge, generated_challenges
from kmcompile.exits.statistical.pairs import with_offer
from kmcompile.exits.statistical.paper_cascade import PAPER_STAGES, add_paper_cascade
from kmcompile.exits.statistical.parted import Parted, parted
from kmcompile.exits.statistical.samples import CalibrationSamples, calibration_samples, trained_of
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.model.coefficients import relevant_decisions
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.cost import weight_notes
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum
from kmcompile.request.plan import Plan
from kmcompile.text.figures import counted

_CHALLENGES = 500


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
    trained = trained_of(machine)
    given = parted(trained, program.prepare, plan, tell)
    X, parts = given.X, given.parts
    tell("evaluating the calibration samples")
    samples = calibration_samples(machine, X, given.points)
    notes = _notes(given.n_refused, samples.training)
    wish = None
    if plan.promise.thresholds != "risk":
        _check_paper_scheme(machine, program, plan)
        relevant = relevant_decisions(machine, samples.labels)
        program, calibration = add_paper_cascade(
            program, samples, relevant, plan.promise, tell, given.first
        )
        held_out = X
    else:
        wish, notes = wish_of(plan, given), (*given.notes, *notes)
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


def wish_of(plan: Plan, given: Parted) -> Wish:
    """Return the risk to promise, and the samples that must support it."""
    asked, sure = plan.promise, confidence_at(plan.promise.doubt)
    return Wish(given.risk, asked.control, given.parts, asked.n_generated, given.truth, sure)


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
