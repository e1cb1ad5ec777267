"""Add the monitor that `--monitor` asks for to a chosen program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.errors import InputError
from kmcompile.monitor.anomalies import World, anomalies
from kmcompile.monitor.candidates import LEAST_A_FEATURE, FitSamples
from kmcompile.monitor.choice import choose
from kmcompile.monitor.held_out import HeldOut
from kmcompile.monitor.order import order
from kmcompile.monitor.reading import read
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.threads import one_thread
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.program import Program
from kmcompile.program.stages import Monitor
from kmcompile.request.counted import Counted
from kmcompile.request.plan import Plan

MOST_MORE = 0.05
"""Most operations of a monitor, as a share of the program's mean without it; more where the
program is cheap (`LEAST_A_FEATURE`)."""

QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)

_FIT_SHARE = 0.7
_MOST_FIT, _MOST_JUDGED, _MOST_COSTED = 4000, 1000, 1000
_MOST_STRANGE, _MOST_NUMBERS = 250, 1 << 22
_SEED = 19410302


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """How many of some inputs the program finds unlike the samples, or refuses."""

    queries: int
    found: int


@dataclass(frozen=True, slots=True, eq=False)
class Monitored:
    """How the monitor was made, and what it does to samples that it never saw.

    Parameters
    ----------
    monitor : Monitor
    parts : tuple of str
        "directions", "limits" or both.
    n_fit, n_limit, n_shown : int
        Samples that fitted and chose the score, that set the limit, and that the figures are of.
    place : int
        The limit is the score that is the place-th largest of the n_limit.
    n_compared : int
        Number of scores that were compared.
    mean_operations : float
        Mean multiply-adds of the program without the monitor.
    quantiles : mapping of float to float
        Quantiles of the score of the n_limit samples, the limit being 1.
    usual : Shown
        Of the n_shown samples.
    tested : Shown or None
        Of the samples of --test-data.
    strange : mapping of kind to Shown
        Of inputs made from the n_shown samples.
    notes : tuple of str
    """

    monitor: Monitor
    parts: tuple[str, ...]
    n_fit: int
    n_limit: int
    n_shown: int
    place: int
    n_compared: int
    mean_operations: float
    quantiles: Mapping[float, float]
    usual: Shown
    tested: Shown | None
    strange: Mapping[str, Shown]
    notes: tuple[str, ...]

    @property
    def more(self) -> float:
        """The monitor's operations as a share of the program's mean without it."""
        return self.monitor.operations() / self.mean_operations


def with_monitor(
    chosen: ChosenProgram, held: HeldOut | None, plan: Plan, tell: Callable[[str], None]
) -> tuple[ChosenProgram, Monitored | None]:
    """Return the program with its monitor, and how this was made; as it was without `--monitor`.

    Parameters
    ----------
    chosen : ChosenProgram
    held : HeldOut or None
        The samples that were set aside.
    plan : Plan
        The plan with the samples that were left.
    tell : callable
        Called with a few words as the step begins.

    Raises
    ------
    InputError
        If the program refuses too many samples.
    """
    if held is None:
        return chosen, None
    tell("fitting the monitor")
    program = chosen.program
    X = plan.samples if plan.counted is None else plan.samples[plan.counted.once]
    accepted, values = read(program, held.limit)
    counted = held.counted.of(accepted)
    n_limit, place = _place(held, counted)
    with one_thread():  # threads change the rounding of products
        fit, judged, n_fit = _fit_samples(program, X)
        mean = _mean_operations(program, X)
        found = choose(program, fit, judged, held.share, place / n_limit, MOST_MORE * mean)
    scores = found.score.exactly(values)
    top = _limit(scores, counted, held.share)
    monitor = found.score.monitor(program, held.share, top)
    program = replace(program, exits=(monitor, *program.exits))
    test = plan.test_samples
    strange = anomalies(held.shown, World.of(X), _SEED) if len(held.shown) else {}
    made = Monitored(
        monitor=monitor,
        parts=found.score.parts,
        n_fit=n_fit,
        n_limit=n_limit,
        n_shown=len(held.shown),
        place=place,
        n_compared=found.n_compared,
        mean_operations=mean,
        quantiles={q: _quantile(scores, q) / top for q in QUANTILES} if top > 0 else {},
        usual=_shown(program, held.shown),
        tested=_shown(program, test) if len(test) else None,
        strange={kind: _shown(program, rows) for kind, rows in strange.items() if len(rows)},
        notes=_notes(held, monitor, mean),
    )
    return replace(chosen, program=program), made


def _place(held: HeldOut, counted: Counted) -> tuple[int, int]:
    """Return the fewest samples that set the limit, and which of them in order does."""
    n = int(min(counted.every.sum(), counted.once.sum()))
    place = order(n, held.share)
    if place == 0:
        raise InputError(
            f"the program refuses too many of the samples for --monitor {held.share:g}: "
            f"{n:,} are left to set its limit\ngive more samples"
        )
    return n, place


def _fit_samples(program: Program, X: Float32Array) -> tuple[FitSamples, FitSamples, int]:
    """Return the samples that fit scores and those that compare them, each with anomalies."""
    shuffled = X[np.random.default_rng(_SEED).permutation(len(X))]
    n = round(len(X) * _FIT_SHARE)
    fit, judged = shuffled[:n][:_MOST_FIT], shuffled[n:][:_MOST_JUDGED]
    world = World.of(X)
    parts = [
        FitSamples(
            _read(program, rows),
            {kind: _read(program, far) for kind, far in _strange(rows, world, number).items()},
        )
        for number, rows in enumerate((fit, judged))
    ]
    if not all(len(part.usual) for part in parts):
        raise InputError("the program refuses nearly all samples: --monitor cannot be fitted")
    return parts[0], parts[1], len(fit) + len(judged)


def _strange(rows: Float32Array, world: World, number: int) -> dict[str, Float32Array]:
    most = max(100, min(_MOST_STRANGE, _MOST_NUMBERS // rows.shape[1]))
    return anomalies(rows[:most], world, _SEED + 1 + number)


def _read(program: Program, X: Float32Array) -> Float64Array:
    return read(program, X)[1].astype(np.float64)


def _mean_operations(program: Program, X: Float32Array) -> float:
    """Return the mean multiply-adds of the samples, the preprocessing included."""
    results, operations = classify(program, X[:_MOST_COSTED])
    return float(operations[results["status"] == Status.OK].mean())


def _limit(scores: Float64Array, counted: Counted, share: float) -> float:
    """Return the limit: it holds if every sample counts, and if every group counts once."""
    readings = (np.sort(scores[counts]) for counts in (counted.every, counted.once))
    return max(float(read[-order(len(read), share)]) for read in readings)


def _shown(program: Program, X: Float32Array) -> Shown:
    results, _ = classify(program, X)
    beyond = (results["status"] != Status.OK) | ~results["in_range"]
    return Shown(len(X), int(beyond.sum()))


def _quantile(scores: NDArray[Any], q: float) -> float:
    return float(np.quantile(scores, q, method="inverted_cdf"))


def _notes(held: HeldOut, monitor: Monitor, mean: float) -> tuple[str, ...]:
    notes = []
    if held.repeated:
        notes.append(
            f"{held.repeated:,} samples repeat others, or nearly: the limit holds if each of them "
            "counts, and if each group of them counts once"
        )
    if monitor.operations() > MOST_MORE * mean:
        notes.append(
            f"the monitor takes more than {100 * MOST_MORE:g} % of the program's mean operations: "
            f"the program is cheap, and {LEAST_A_FEATURE} operations a feature are always allowed"
        )
    return tuple(notes)
