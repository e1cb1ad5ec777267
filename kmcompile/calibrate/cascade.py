"""Put early exits before the exact sum of a program, with the risk that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kmcompile.calibrate import chooser
from kmcompile.calibrate.bands import fit_bands
from kmcompile.calibrate.calibration import Calibration, Promise
from kmcompile.calibrate.chooser import Fitted, Room, choose
from kmcompile.calibrate.exits import estimates_of, with_bands, with_limits
from kmcompile.calibrate.fitting import fit_stages
from kmcompile.calibrate.risk import (
    SCALES,
    Control,
    conformal,
    decide_nothing,
    fixed_sequence,
    promise_nothing,
)
from kmcompile.calibrate.samples import CalibrationSamples, Parts
from kmcompile.calibrate.trial import Trial, in_a_row, try_stage
from kmcompile.interpret import classify
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.batch import Batch
from kmcompile.ir.kernel_machine import KernelMachine, Task
from kmcompile.ir.program import Program
from kmcompile.stages import Nonzeros, RangeGate
from kmcompile.stages.range_gate import sum_of_squares

_SPARSE = 0.5
"""Share of features that are not 0 below which the zeros are skipped."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of the early exits.

    Parameters
    ----------
    risk : float
    control : {"guaranteed", "expected"}
    skip_zeros : bool or None
        None: as the samples suggest.
    """

    risk: float
    control: Control
    skip_zeros: bool | None = None


def add_cascade(
    machine: KernelMachine,
    program: Program,
    samples: CalibrationSamples,
    parts: Parts,
    wish: Wish,
    room: Room,
    tell: Callable[[str], None],
    n_jobs: int | None = None,
) -> tuple[Program, Calibration]:
    """Return the program with the early exits that pay, and what calibration found.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    program : Program
        The exact one.
    samples : CalibrationSamples
    parts : Parts
        For the shapes of the stages, for their choice, for the promise.
    wish : Wish
    room : Room
        What early exits may take.
    tell : callable
        Called with a few words as each step begins.
    n_jobs : int, optional
        Of joblib, for fitting the stages.
    """
    ends = program.ends
    x = prepared(program, samples.X)
    always = before_exits(x, wish.skip_zeros)
    skip_zeros = isinstance(always[0], Nonzeros)
    relevant = relevant_decisions(machine, samples.labels)
    shape, choice = parts.shape, parts.choice
    tell("fitting early exits")
    stages = fit_stages(
        ends, x[shape], samples.decisions[shape], relevant[shape], skip_zeros, n_jobs
    )
    tell("trying early exits")
    fitted = []
    for stage, text in stages:
        estimates = estimates_of(stage, ends, x[choice])
        bands = tuple(
            fit_bands(values, samples.decisions[choice], relevant[choice])
            for values in estimates.values
        )
        trial = try_stage(estimates, bands, ends.label, np.array(SCALES))
        fitted.append(Fitted(stage, bands, trial, text))
    n_always = sum(stage.operations() for stage in always)
    chosen, candidates = choose(
        fitted, samples.labels[choice].astype(np.int32), wish.risk, ends, n_always, room
    )
    notes = list(_left_out(fitted, chosen))
    seen = np.concatenate([shape, choice])
    always = before_exits(x[seen], skip_zeros)
    limited = tuple(replace(item, stage=with_limits(item.stage, x[seen])) for item in chosen)
    if not chosen:
        notes.append("no early exit pays on the calibration samples: every query is summed")
        promise = _promise_of_exact(samples, parts, wish)
        calibrated = program
    else:
        tell("controlling the risk")
        promise = _control(limited, ends, x, samples, parts, wish)
        calibrated = with_exits(program, always, limited, promise.scale)
        promise = _checked(calibrated, samples, parts, promise)
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


def prepared(program: Program, X: Float32Array) -> Float32Array:
    """Return the prepared inputs, shape (n, n_prepared), float32: all of them are accepted."""
    return program.prepare.run(Batch.of(np.ascontiguousarray(X), program.n_decisions)).x


def relevant_decisions(machine: KernelMachine, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which decisions a sample is about, shape (n, n_decisions): its class's pairs."""
    if machine.task is not Task.ONE_VS_ONE:
        return np.ones((len(labels), machine.n_decisions), dtype=bool)
    n = machine.n_classes
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return np.stack([(labels == i) | (labels == j) for i, j in pairs], axis=1)


def with_exits(
    program: Program,
    always: tuple[Nonzeros | RangeGate, ...],
    chosen: tuple[Fitted, ...],
    scale: float,
) -> Program:
    """Return the program with early exits, their bands at a scale."""
    exits = tuple(with_bands(item.stage, item.bands, scale) for item in chosen)
    first, *last = program.stages
    return replace(program, stages=(first, *always, *exits, *last))


def before_exits(
    x: Float32Array, skip_zeros: bool | None = None
) -> tuple[Nonzeros | RangeGate, ...]:
    """Return what every query goes through before the first early exit.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples: their squares are the calibrated range.
    skip_zeros : bool or None
        None: as the samples suggest.
    """
    if skip_zeros is None:
        skip_zeros = bool(np.count_nonzero(x) < _SPARSE * x.size)
    square = sum_of_squares(x)
    gate = RangeGate(x.shape[1], square.min(), square.max(), skip_zeros)
    return (Nonzeros(x.shape[1]), gate) if skip_zeros else (gate,)


def _control(
    chosen: tuple[Fitted, ...],
    ends: chooser.Ends,
    x: Float32Array,
    samples: CalibrationSamples,
    parts: Parts,
    wish: Wish,
) -> Promise:
    """Return the promise of the smallest scale that keeps it on the control samples."""
    control = parts.control
    labels = samples.labels[control].astype(np.int32)
    trials: list[Trial] = []
    for item in chosen:
        estimates = estimates_of(item.stage, ends, x[control])
        trials.append(try_stage(estimates, item.bands, ends.label, np.array(SCALES)))
    whole = in_a_row(trials)

    def counts(scale: float) -> int:
        return whole.disagreements(scale, labels)

    if samples.training:
        # Nothing is promised; the same rule gives a sensible scale.
        risk = max(wish.risk, 1 / (len(control) + 1))
        found = conformal(SCALES, counts, len(control), risk)
    elif wish.control == "guaranteed":
        found = fixed_sequence(SCALES, counts, len(control), wish.risk)
    else:
        found = conformal(SCALES, counts, len(control), wish.risk)
    if found is None:
        return decide_nothing(wish.control, wish.risk, len(control))
    if samples.training:
        return promise_nothing(len(control), found.disagreements, found.scale)
    return found


def _promise_of_exact(samples: CalibrationSamples, parts: Parts, wish: Wish) -> Promise:
    if samples.training:
        return promise_nothing(len(parts.control), 0, np.inf)
    return decide_nothing(wish.control, wish.risk, len(parts.control))


def _checked(
    program: Program, samples: CalibrationSamples, parts: Parts, promise: Promise
) -> Promise:
    """Return the promise with the disagreements that the program itself has.

    The trial works with matrix products; the program adds in its own order. What is promised is
    the program, so its count must not be larger.
    """
    control = parts.control
    results, _ = classify(program, samples.X[control])
    early = results["stage"] < len(program.exit_stages) - 1
    count = int((early & (results["label"] != samples.labels[control])).sum())
    if count > promise.disagreements and promise.control != "none":
        raise AssertionError(
            f"{count} control samples disagree, the trial had {promise.disagreements}"
        )
    return replace(promise, disagreements=count)


def _left_out(fitted: list[Fitted], chosen: tuple[Fitted, ...]) -> list[str]:
    kinds: dict[Literal["linear_filter", "reduced_set", "nearest_vectors"] | str, bool] = {}
    for item in fitted:
        kind = item.stage.template
        kinds[kind] = kinds.get(kind, False) or item in chosen
    return [f"{kind} does not pay here and is left out" for kind, kept in kinds.items() if not kept]
