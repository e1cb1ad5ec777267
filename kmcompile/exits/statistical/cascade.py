"""Build the cascade of mode statistical: early exits before the sum, with the requested risk."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kmcompile.exits.candidates.required import require_built
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget, SearchBudgets
from kmcompile.exits.certified.certify import fit, left_out, tried
from kmcompile.exits.certified.choice import TriedExit, promising
from kmcompile.exits.certified.choice_samples import MOST_SAMPLES, with_generated
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.case import Case
from kmcompile.exits.statistical.chooser import Offered, allowed_disagreements, choose
from kmcompile.exits.statistical.control import controlled, promise_of_exact, with_exits
from kmcompile.exits.statistical.fit_points import points_left_out
from kmcompile.exits.statistical.fits import estimates_of
from kmcompile.exits.statistical.fitting import fit_stages
from kmcompile.exits.statistical.judge import PROOFS_SHARE, Judge
from kmcompile.exits.statistical.links import FittedExit
from kmcompile.exits.statistical.other_risks import other_risks
from kmcompile.exits.statistical.statistical_fit import FitSamples
from kmcompile.exits.statistical.widening import widening_notes
from kmcompile.lower.sparsity import sum_skips_zeros
from kmcompile.program.program import Program


def add_cascade(
    case: Case, room: Room, tell: Callable[[str], None], n_jobs: int | None = None
) -> tuple[Program, Calibration]:
    """Return the program with the early exits that save operations, and the calibration results.

    Certified exits stand before, between or behind statistical ones, wherever the counted
    operations of the choice samples say. What they decide takes nothing from the risk.

    Parameters
    ----------
    case : Case
    room : Room
        What early exits may take.
    tell : callable
        Called with a few words as each step begins.
    n_jobs : int, optional
        Number of joblib jobs that fit the stages.

    Raises
    ------
    InputError
        If an exit that must be there cannot be built, or cannot keep the risk.
    """
    samples, wish, parts = case.samples, case.wish, case.parts
    judged = case.choice_samples()
    fitted = _fitted(case, room, tell, n_jobs)
    proved, search_notes = _proved(case, room, tell)
    tell("choosing early exits")
    budget = SearchBudget("the choice of early exits")
    judge = Judge(judged, case.ends, case.n_always, room, allowed_disagreements(judged, wish.risk))
    every = Offered(fitted, proved)
    choice = choose(every, judge, budget)
    row, calibrated, promise = choice.row, case.program, promise_of_exact(samples, wish)
    before = with_exits(case, row.links, row.scale if row.takes_risk else math.inf)
    notes: list[str] = []
    if row.takes_risk:
        tell("controlling the risk")
        row, kept, note = controlled(case, choice, judge)
        notes += [note] if note else []
        if kept is not None:
            calibrated, promise = kept
            notes += widening_notes(row.links, promise.scale)
    if row.items and not row.takes_risk:
        calibrated = with_exits(case, row.links, math.inf)
    if not calibrated.early_exits:
        notes.append("no early exit pays on the calibration samples: every query is summed")
    if not calibrated.takes_risk and not samples.training:
        tell("trying larger risks")
        notes += other_risks(case, every, judge, row.cost)
    calibrated = replace(calibrated, mode="statistical")
    offered = [(item.stage, item.text) for item in proved]
    notes = [
        *_left_out(fitted, calibrated),
        *left_out(case.machine, case.program, calibrated.early_exits, offered, room.stages),
        *points_left_out(len(parts.shape), case.x.shape[1]),
        *search_notes,
        *budget.notes,
        *notes,
    ]
    return calibrated, Calibration(
        promise=promise,
        thresholds="risk",
        n_shape=len(parts.shape),
        n_choice=len(parts.choice),
        n_control=parts.control.n,
        n_support_vectors_found=int(samples.is_vector.sum()),
        candidates=choice.candidates,
        notes=tuple(notes),
        offered=tuple((item.stage, item.text) for item in promising(proved)),
        before=replace(before, mode="statistical"),
    )


def _fitted(
    case: Case, room: Room, tell: Callable[[str], None], n_jobs: int | None
) -> list[FittedExit]:
    """Return the statistical exits that have room, with their estimates on the choice samples."""
    tell("fitting early exits")
    ends, shape = case.ends, case.parts.shape
    samples = FitSamples(
        ends,
        case.x[shape],
        case.samples.decisions[shape],
        case.relevant[shape],
        sum_skips_zeros(case.program),
        n_jobs,
    )
    stages = fit_stages(
        samples,
        room.stages,
        lambda stage: room.has_operations([stage], [case.n_always + stage.added_operations(ends)]),
    )
    fitted = []
    for number, (stage, text) in enumerate(stages, start=1):
        tell(f"trying early exits: {number} of {len(stages)}")
        estimates = estimates_of(stage, ends, case.x[case.parts.choice])
        if estimates.is_finite:  # else the scale of the samples has left float32's range
            fitted.append(FittedExit(stage, estimates, text))
    names = {stage.template for stage, _ in stages}
    require_built(room.stages, names, {item.stage.template for item in fitted}, {})
    return fitted


def _proved(
    case: Case, room: Room, tell: Callable[[str], None]
) -> tuple[list[TriedExit], tuple[str, ...]]:
    """Return the certified exits, tried on the choice samples, and notes on their searches."""
    tell("fitting certified exits")
    rows = case.parts.shape[:MOST_SAMPLES]
    room = replace(room, operations=room.operations * PROOFS_SHARE)
    budgets = SearchBudgets(tell)
    X = with_generated(case.machine, case.program, np.ascontiguousarray(case.samples.X[rows]))
    offered = fit(case.machine, case.program, X, room, budgets)
    batch = case.batch.chosen(case.parts.choice)
    return tried(offered, batch, case.ends, room, tell), budgets.notes


def _left_out(fitted: Sequence[FittedExit], program: Program) -> list[str]:
    """Return notes on the kinds of statistical exits that were fitted and that do not pay."""
    taken = {stage.template for stage in program.early_exits}
    kinds = dict.fromkeys(item.stage.template for item in fitted)
    return [f"{kind} does not pay here and is left out" for kind in kinds if kind not in taken]
