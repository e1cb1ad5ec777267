"""Compare other sums, with and without statistical exits before them, with the exact sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.exits.candidates.candidate import Candidate, cost_of, merged
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.chooser import WORTH_A_RISK
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import interpret
from kmcompile.program.prices import instructions_of
from kmcompile.program.program import Program
from kmcompile.target import Cost


def with_offer(
    program: Program,
    calibration: Calibration,
    offered: SumOffer,
    exact_promise: Promise,
    judged: Float32Array,
    control: Float32Array,
    room: Room,
) -> tuple[Program, Calibration]:
    """Return the cheapest of three: the calibrated program, the other sum, or exits before it.

    The three are compared before the control samples are asked.

    Parameters
    ----------
    program : Program
        The program with the chosen exits, if any.
    calibration : Calibration
        The calibration of `program`.
    offered : SumOffer
        The program with another sum and no early exits.
    exact_promise : Promise
        The promise of a program without early exits.
    judged, control : ndarray of shape (n, n_features), float32
        Samples that measure the cost, and samples that support the promise. Exits before another
        sum keep the promise if no label of the control samples changes; if one does, the calibrated
        program is taken.
    room : Room
        By what programs are compared.
    """
    before = calibration.before or program
    taken = replace(offered.program, mode="statistical")

    def is_better(candidate: Candidate, other: Program) -> bool:
        return room.prefers_second(
            room.takes(cost_of(calibration.candidates), before.early_exits, before.ends),
            room.takes(candidate.instructions, other.early_exits, other.ends),
        )

    alone = offered.candidate(room.cost)
    behind = _behind_exits(before, offered.program)
    if behind is not None:
        exits = next(c for c in calibration.candidates if c.chosen).stages[:-1]
        operations, cost = mean_costs(behind, judged, room.cost)
        candidate = Candidate((*exits, offered.name), operations, True, cost)
        if cost < WORTH_A_RISK * alone.instructions and is_better(candidate, behind):
            kept = _with_same_labels(program, offered.program, control)
            if kept is not None:
                candidates = merged(calibration.candidates, (candidate,), True)
                notes = (*calibration.notes, *offered.notes)
                return kept, replace(calibration, candidates=candidates, notes=notes, before=behind)
    better = is_better(alone, taken)
    candidates = merged(calibration.candidates, (alone,), better)
    if not better:
        return program, replace(calibration, candidates=candidates)
    return taken, replace(
        calibration,
        promise=exact_promise,
        notes=offered.notes,
        candidates=candidates,
        before=taken,
    )


def _behind_exits(program: Program, other: Program) -> Program | None:
    """Return the program with the other sum behind its exits; None if they need the exact sum."""
    exits = program.early_exits
    if not exits or not all(stage.stands_before(other.sum) for stage in exits):
        return None
    return replace(
        program,
        prepare=other.prepare,
        sum=other.sum,
        label=other.label,
        known_answers=other.known_answers,
    )


def _with_same_labels(program: Program, other: Program, control: Float32Array) -> Program | None:
    """Return the program with the other sum behind its exits; None if it changes a label."""
    behind = _behind_exits(program, other)
    if behind is None:
        return None
    own, changed = (interpret(each, control).results["label"] for each in (program, behind))
    return behind if np.array_equal(own, changed) else None


def mean_costs(program: Program, X: Float32Array, cost: Cost) -> tuple[float, float]:
    """Return the mean multiply-adds of samples after the preprocessing, and their instructions.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts.
    cost : Cost
        Costs of the target.
    """
    spent = interpret(program, X).stage_operations
    spent[:, 0] = 0
    operations = np.maximum(spent, 0).sum(axis=1).mean()
    return float(operations), float(instructions_of(program, spent, cost).mean())
