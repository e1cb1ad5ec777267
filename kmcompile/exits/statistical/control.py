"""Set the bands of statistical exits so that they keep the risk on the control samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.exits.statistical.cascade_exit import CascadeExit, trial_of
from kmcompile.exits.statistical.case import Case, Wish
from kmcompile.exits.statistical.chooser import WORTH_A_RISK, Chosen
from kmcompile.exits.statistical.judge import Judge, Row
from kmcompile.exits.statistical.loss import Losses, losses_of
from kmcompile.exits.statistical.risk import (
    LEAST_SCALE,
    PATH,
    SCALES,
    Tally,
    conformal,
    decide_nothing,
    evidence_of,
    fixed_sequence,
    promise_nothing,
    rounded_up,
    tally_of,
)
from kmcompile.exits.statistical.samples import CalibrationSamples
from kmcompile.exits.statistical.widening import MOST_COST, have_floors, with_floors
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit


def controlled(
    case: Case, choice: Chosen, judge: Judge
) -> tuple[Row, tuple[Program, Promise] | None, str]:
    """Return the exits that pay at the scale that keeps the risk, their program and its promise.

    Without a program, the exits are those that take no risk. The last value is a note.
    """
    needed = judge.room.stages.needed
    taught = case.x[case.taught]
    square = case.gate.square(taught)
    links = tuple(made.with_limits(taught, square) for made in choice.row.links)
    row, found = _with_promise(replace(choice.row, links=links), case, judge)
    risky = {made.stage.template for made in row.links if made.stage.is_calibrated}
    must = sorted(risky & {*needed})
    if must and found.scale == math.inf:
        raise InputError(
            f"{must[0]} cannot keep the {case.wish.of} of {case.wish.risk:g} on the calibration "
            f"samples\ngive a larger --{case.wish.of} or more samples, or leave it out"
        )
    cost = judge.cost(replace(row, scale=found.scale))
    sure = choice.without_risk
    if sure is not None and cost >= WORTH_A_RISK * sure.cost:
        return sure, None, ""
    kept = _at_promise(lambda scale: with_exits(case, row.links, scale), case, found)
    if kept is None:
        note = "the exact sum gives other labels than the model too often"
        return sure or replace(row, items=(), links=()), None, note
    return row, kept, ""


def with_exits(case: Case, links: Sequence[CascadeExit[Any]], scale: float) -> Program:
    """Return the program with early exits whose bands are set at a scale.

    A range gate stands before them if any of them is statistical.
    """
    exits: list[EarlyExit] = []
    for made in links:
        number = 1 + sum(stage.template == made.stage.template for stage in exits)
        exits.append(made.finished(number, scale))
    gate = (case.gate,) if any(stage.is_calibrated for stage in exits) else ()
    return replace(case.program, exits=(*case.program.exits, *gate, *exits))


def _with_promise(row: Row, case: Case, judge: Judge) -> tuple[Row, Promise]:
    """Return the exits with the floors of their bands, and the promise of their scale.

    The scale is nearly the smallest that keeps the risk on the control samples. If it is one at
    which floors shrink, the largest of these is taken that costs hardly more than the exits without
    floors: what holds at a scale holds at all larger ones that were tested.
    """
    wide = replace(row, links=with_floors(row.links, case, row.scale))
    found, _ = _control(row.links, case, SCALES)
    if not have_floors(wide.links):
        return row, found
    most = (1 + MOST_COST) * judge.cost(replace(row, scale=found.scale))
    found, tally = _control(wide.links, case, PATH)
    if found.scale >= LEAST_SCALE:
        return wide, found
    shrinking = [scale for scale in PATH if found.scale < scale <= LEAST_SCALE]
    costs = (judge.cost(replace(wide, scale=scale)) for scale in shrinking)
    affordable = (scale for scale, cost in zip(shrinking, costs, strict=True) if cost <= most)
    scale = next(affordable, found.scale)
    return wide, replace(found, scale=scale, **evidence_of(tally(scale)))


def _control(
    chosen: Sequence[CascadeExit[Any]], case: Case, scales: Sequence[float]
) -> tuple[Promise, Callable[[float], Tally]]:
    """Return the promise of nearly the smallest scale that keeps the risk on control samples.

    The second value is the function scale -> disagreements on these samples.
    """
    wish, evidence = case.wish, case.parts.control
    seen = case.seen(evidence.rows)
    trained = case.samples.trained_labels[evidence.rows].astype(np.int32)
    results = [made.results_on(seen, case.ends) for made in chosen]
    whole = trial_of(chosen, results, seen.begin, case.ends.label)

    truth = wish.truth_of(evidence.rows)

    def wrong(scale: float) -> Losses:
        return whole.wrong(scale, seen.labels, trained, truth)

    def count(losses: Losses) -> Tally:
        return evidence.worst(losses, wish.control, wish.confidence)

    if case.samples.training:
        # Nothing is promised, but the rule of a promise gives a sensible scale.
        risk = max(wish.risk, 1 / (evidence.n + 1))
        found = conformal(scales, wrong, count, risk)
    else:
        rule = conformal
        if wish.control == "guaranteed":
            rule = partial(fixed_sequence, confidence=wish.confidence)
        found = rule(scales, wrong, count, wish.risk)
    if found is None:
        found = promise_of_exact(case.samples, wish)
    elif case.samples.training:
        found = promise_nothing(tally_of(found), found.scale)
    return found, lambda scale: count(wrong(scale))


def promise_of_exact(samples: CalibrationSamples, wish: Wish) -> Promise:
    """Return the promise of a program that has no early exits.

    It is not kept if a reduced machine alone gives other labels than the trained one more often
    than the risk allows.
    """
    rows = wish.parts.control.rows
    losses = losses_of(samples.labels[rows], samples.trained_labels[rows], wish.truth_of(rows))
    tally = wish.parts.control.worst(losses, wish.control, wish.confidence)
    if samples.training:
        return promise_nothing(tally, np.inf)
    return decide_nothing(wish.control, wish.risk, tally)


def require_kept(promise: Promise, wish: Wish | None) -> None:
    """Raise InputError if the control samples do not support a promise.

    Only a reduced machine that has no early exits has such a promise.
    """
    if is_kept(promise, wish):
        return
    assert promise.control != "none"
    tally = Tally(promise.n_samples, promise.disagreements, promise.gained)
    supported, of = rounded_up(tally.limit(promise.control, _confidence(wish))), promise.of
    what = "another label than the trained one"
    if of == "loss":
        what = f"a wrong label instead of a right one, and {tally.gained:,} a right one instead"
    raise InputError(
        f"the reduced machine gives {tally.disagreements:,} of {tally.n:,} control samples {what}: "
        f"they support a {of} of {supported:g}, not {promise.requested:.15g}\n"
        f"ask for --{of} {supported:g}, or keep more vectors with --reduce N"
    )


def is_kept(promise: Promise, wish: Wish | None) -> bool:
    """Return whether the control samples support a promise.

    One without a disagreement that has the whole doubt is supported by their number, which is
    looked at before.
    """
    if promise.control == "none" or promise.requested is None:
        return True
    if not promise.disagreements and _confidence(wish) <= CONFIDENCE:
        return True
    tally = Tally(promise.n_samples, promise.disagreements, promise.gained)
    return tally.keeps(promise.requested, promise.control, _confidence(wish))


def _confidence(wish: Wish | None) -> float:
    return CONFIDENCE if wish is None else wish.confidence


def _at_promise(
    build: Callable[[float], Program], case: Case, promise: Promise
) -> tuple[Program, Promise] | None:
    """Return the program at the promised scale, and its own disagreements with the model.

    The trial uses matrix products and takes the exact sum for the model. The promise, however, is
    about every answer of the program. If the program disagrees more often than the trial, a larger
    scale that was also accepted is taken. None if the exact sums themselves disagree too often.
    """
    samples, evidence, wish = case.samples, case.parts.control, case.wish
    how = wish.control, wish.confidence
    X, labels = samples.X[evidence.rows], samples.trained_labels[evidence.rows]
    truth, most = wish.truth_of(evidence.rows), tally_of(promise).limit(*how)
    for scale in [scale for scale in PATH if scale >= promise.scale][::-1]:
        program = build(scale)
        said = classify(program, X)[0]["label"]
        tally = evidence.worst(losses_of(said, labels, truth), *how)
        if tally.limit(*how) <= most or promise.control == "none":
            return program, replace(promise, scale=scale, **evidence_of(tally))
    return None
