"""Build the cascade: statistical exits before the exact sum, with the requested risk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.chooser import (
    ChoiceSamples,
    added_operations,
    choose,
    mean_operations,
)
from kmcompile.exits.statistical.exits import estimates_of, finished, with_limits
from kmcompile.exits.statistical.fit_points import points_left_out
from kmcompile.exits.statistical.fitting import fit_stages
from kmcompile.exits.statistical.links import FittedExit, Link, trial_of
from kmcompile.exits.statistical.risk import (
    SCALES,
    Control,
    conformal,
    decide_nothing,
    fixed_sequence,
    promise_nothing,
)
from kmcompile.exits.statistical.samples import CalibrationSamples, Parts
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    EarlyExit,
    ExactSum,
    FixedSum,
    PairSum,
    RangeGate,
    VectorlessSum,
)
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.range_gate import sum_of_squares


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """The requested risk of the early exits, and the samples that must support it.

    Parameters
    ----------
    risk : float
        The largest probability of another label.
    control : {"guaranteed", "expected"}
    parts : Parts
        The samples for the shapes of the stages, for their choice and for the promise.
    """

    risk: float
    control: Control
    parts: Parts


def add_cascade(
    machine: KernelMachine,
    program: Program,
    samples: CalibrationSamples,
    wish: Wish,
    room: Room,
    tell: Callable[[str], None],
    n_jobs: int | None = None,
) -> tuple[Program, Calibration]:
    """Return the program with the early exits that save operations, and the calibration results.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    samples : CalibrationSamples
    wish : Wish
    room : Room
        What early exits may take.
    tell : callable
        Called with a few words as each step begins.
    n_jobs : int, optional
        Number of joblib jobs that fit the stages.
    """
    ends = program.ends
    x, parts = prepared(program, samples.X), wish.parts
    skip_zeros = skips_zeros(program)
    relevant = relevant_decisions(machine, samples.labels)
    shape, choice = parts.shape, parts.choice
    tell("fitting early exits")
    gate_operations = range_gate(x, skip_zeros).operations()
    n_always = ends.float_weight * gate_operations + _made_floats(program)
    stages = fit_stages(
        ends,
        x[shape],
        samples.decisions[shape],
        relevant[shape],
        skip_zeros,
        n_jobs,
        lambda stage: n_always + added_operations([stage], ends) <= room.operations,
    )
    fitted = []
    for number, (stage, text) in enumerate(stages, start=1):
        tell(f"trying early exits: {number} of {len(stages)}")
        fitted.append(FittedExit(stage, estimates_of(stage, ends, x[choice]), text))
    tell("choosing early exits")
    judged = _choice_samples(program, samples, parts, x, relevant)
    budget = SearchBudget("the choice of early exits")
    chosen, candidates = choose(fitted, judged, wish.risk, ends, n_always, room, budget)
    notes = [*_left_out(fitted, chosen), *points_left_out(len(shape), x.shape[1]), *budget.notes]
    seen = np.concatenate([shape, choice])
    stages_seen = [with_limits(made.fitted.stage, x[seen]) for made in chosen]
    limited = tuple(
        replace(made, fitted=replace(made.fitted, stage=stage))
        for made, stage in zip(chosen, stages_seen, strict=True)
    )
    calibrated, promise = program, promise_of_exact(samples, wish)
    if chosen:
        tell("controlling the risk")
        found = _control(limited, ends, x, samples, wish)
        gate = range_gate(x[seen], skip_zeros)
        if n_always + mean_operations(chosen, judged, ends, found.scale) < _alone(judged):
            kept = _at_promise(
                lambda scale: with_exits(program, gate, limited, scale), samples, parts, found
            )
            if kept is None:
                notes.append("the exact sum gives other labels than the model too often")
            else:
                calibrated, promise = kept
    if calibrated is program:
        notes.append("no early exit pays on the calibration samples: every query is summed")
    return replace(calibrated, mode="statistical"), Calibration(
        promise=promise,
        thresholds="risk",
        n_shape=len(parts.shape),
        n_choice=len(parts.choice),
        n_control=len(parts.control),
        n_support_vectors_found=int(samples.is_vector.sum()),
        candidates=candidates,
        notes=tuple(notes),
    )


def _made_floats(program: Program) -> int:
    """Return the multiply-adds to convert the codes to float32, which every exit here reads."""
    return program.n_features * program.float_weight if program.ends.in_integers else 0


def _alone(samples: ChoiceSamples) -> float:
    """Return the mean multiply-adds of the exact sum without exits."""
    return float(samples.exact_operations.mean())


def _choice_samples(
    program: Program,
    samples: CalibrationSamples,
    parts: Parts,
    x: Float32Array,
    relevant: NDArray[np.bool_],
) -> ChoiceSamples:
    exact, label = program.ends.exact, program.ends.label
    chosen = x[parts.choice]
    spent = exact.operations_of(Batch.of(chosen, program.n_decisions)) + label.operations()
    return ChoiceSamples(
        samples.decisions[parts.choice],
        relevant[parts.choice],
        samples.labels[parts.choice].astype(np.int32),
        spent,
        _per_kernel(exact, chosen),
    )


def _per_kernel(
    exact: ExactSum | PairSum | FixedSum | VectorlessSum, x: Float32Array
) -> NDArray[np.int64]:
    """Return the multiply-adds saved by a known kernel; an integer sum saves none."""
    if not isinstance(exact, ExactSum):
        return np.zeros(len(x), dtype=np.int64)
    return exact.total_operations - exact.skipped_features(x)


def prepared(program: Program, X: Float32Array) -> Float32Array:
    """Return the prepared inputs, shape (n, n_prepared), float32; the C must accept all rows."""
    return program.prepare.run(Batch.of(np.ascontiguousarray(X), program.n_decisions)).x


def relevant_decisions(machine: KernelMachine, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each sample the decisions of its class's pairs, shape (n, n_decisions)."""
    if machine.task is not Task.ONE_VS_ONE:
        return np.ones((len(labels), machine.n_decisions), dtype=bool)
    n = machine.n_classes
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return np.stack([(labels == i) | (labels == j) for i, j in pairs], axis=1)


def with_exits(
    program: Program, gate: RangeGate, chosen: tuple[Link, ...], scale: float
) -> Program:
    """Return the program with early exits whose bands are set at a scale."""
    exits: list[EarlyExit] = []
    for made in chosen:
        number = 1 + sum(stage.template == made.fitted.stage.template for stage in exits)
        exits.append(finished(made, number, scale))
    return replace(program, exits=(*program.exits, gate, *exits))


def skips_zeros(program: Program) -> bool:
    """Return whether the program lists nonzero features, as lowering decided."""
    exact = program.ends.exact
    return isinstance(exact, ExactSum) and exact.skip_zeros


def range_gate(x: Float32Array, skip_zeros: bool) -> RangeGate:
    """Return the range gate, which every query passes before the first early exit.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples: the range of their squared norms is the calibrated range.
    skip_zeros : bool
    """
    square = sum_of_squares(x)
    return RangeGate(x.shape[1], square.min(), square.max(), skip_zeros)


def _control(
    chosen: tuple[Link, ...],
    ends: Ends,
    x: Float32Array,
    samples: CalibrationSamples,
    wish: Wish,
) -> Promise:
    """Return the promise of the smallest scale that keeps the risk on the control samples."""
    control = wish.parts.control
    labels = samples.labels[control].astype(np.int32)
    estimates = [estimates_of(made.fitted.stage, ends, x[control]) for made in chosen]
    whole = trial_of(chosen, estimates, ends.label)

    def wrong(scale: float) -> NDArray[np.bool_]:
        return whole.wrong(scale, labels)

    if samples.training:
        # Nothing is promised, but the rule of a promise gives a sensible scale.
        risk = max(wish.risk, 1 / (len(control) + 1))
        found = conformal(SCALES, wrong, len(control), risk)
    elif wish.control == "guaranteed":
        found = fixed_sequence(
            SCALES, lambda scale: int(wrong(scale).sum()), len(control), wish.risk
        )
    else:
        found = conformal(SCALES, wrong, len(control), wish.risk)
    if found is None:
        return decide_nothing(wish.control, wish.risk, len(control))
    if samples.training:
        return promise_nothing(len(control), found.disagreements, found.scale)
    return found


def promise_of_exact(samples: CalibrationSamples, wish: Wish) -> Promise:
    """Return the promise of a program that has no early exits."""
    if samples.training:
        return promise_nothing(len(wish.parts.control), 0, np.inf)
    return decide_nothing(wish.control, wish.risk, len(wish.parts.control))


def _at_promise(
    build: Callable[[float], Program], samples: CalibrationSamples, parts: Parts, promise: Promise
) -> tuple[Program, Promise] | None:
    """Return the program at the promised scale, and its own disagreements with the model.

    The trial uses matrix products and takes the exact sum for the model. The promise, however, is
    about every answer of the program. If the program disagrees more often than the trial, a larger
    scale that was also accepted is taken. None if the exact sums themselves disagree too often.
    """
    control = parts.control
    for scale in [scale for scale in SCALES if scale >= promise.scale][::-1]:
        program = build(scale)
        results, _ = classify(program, samples.X[control])
        count = int((results["label"] != samples.labels[control]).sum())
        if count <= promise.disagreements or promise.control == "none":
            return program, replace(promise, scale=scale, disagreements=count)
    return None


def _left_out(fitted: list[FittedExit], chosen: tuple[Link, ...]) -> list[str]:
    taken = [made.fitted for made in chosen]
    kinds: dict[str, bool] = {}
    for item in fitted:
        kind = item.stage.template
        kinds[kind] = kinds.get(kind, False) or item in taken
    return [f"{kind} does not pay here and is left out" for kind, kept in kinds.items() if not kept]
