"""Choose the early exits of a program by counted operations on the choice samples."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.calibrate.bands import Bands
from kmcompile.calibrate.calibration import Candidate
from kmcompile.calibrate.risk import SCALES
from kmcompile.calibrate.trial import Trial, in_a_row
from kmcompile.ir.ends import Ends
from kmcompile.stages import EarlyExit, ExactSum, LinearFilter, NearestVectors, ReducedSet

_RISK_USED = 0.7
"""Share of the risk that a candidate takes when it is compared: the control needs some room."""

WORST_SHARE = 0.1
"""What early exits may add to the exact sum, in the worst case."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """An early exit that was fitted, and what it does with the choice samples.

    Parameters
    ----------
    stage : EarlyExit
        With bands that decide nothing.
    bands : tuple of Bands
        One a test.
    trial : Trial
        On the choice samples.
    text : str
        What it is, with its sizes.
    """

    stage: EarlyExit
    bands: tuple[Bands, ...]
    trial: Trial
    text: str

    @property
    def table_bytes(self) -> int:
        """Flash for its tables."""
        return sum(table.n_bytes for table in self.stage.tables())


@dataclass(frozen=True, slots=True)
class Room:
    """What early exits may take.

    Parameters
    ----------
    operations : int
        Multiply-adds of a query that none of them decides.
    flash_bytes, ram_bytes : int or None
        None: no limit.
    """

    operations: float
    flash_bytes: int | None
    ram_bytes: int | None


def choose(
    fitted: Sequence[Fitted],
    labels: NDArray[np.int32],
    risk: float,
    ends: Ends,
    n_always: int,
    room: Room,
) -> tuple[tuple[Fitted, ...], tuple[Candidate, ...]]:
    """Return the cheapest sequence of early exits, and what it was compared with.

    A sequence is at most one linear filter, up to two reduced sets of increasing size and at most
    one stage of nearest vectors, as far as they fit into `room`.

    Each is compared at the smallest scale of its bands that keeps about the risk.

    Parameters
    ----------
    fitted : sequence of Fitted
    labels : ndarray of shape (n_samples,), int32
        The model's, of the choice samples.
    risk : float
    ends : Ends
    n_always : int
        Multiply-adds of a query that early exits need before the first of them.
    """
    exact_operations = ends.exact.operations() + ends.label.operations()
    found: list[tuple[float, tuple[Fitted, ...]]] = [(float(exact_operations), ())]
    for sequence in _sequences(fitted):
        if n_always + worst_operations(sequence, ends) > room.operations:
            continue
        if room.flash_bytes is not None and _flash(sequence) > room.flash_bytes:
            continue
        if room.ram_bytes is not None and _ram(sequence) > room.ram_bytes:
            continue
        trial = in_a_row([item.trial for item in sequence])
        scale = _scale(trial, labels, _RISK_USED * risk)
        if scale is None:
            continue
        cost = trial.mean_operations(scale, exact_operations, _per_kernel(ends))
        found.append((n_always + cost, sequence))
    found.sort(key=lambda item: item[0])  # stable: of equal ones the one with fewer stages
    chosen = found[0][1]
    candidates = tuple(
        Candidate((*(item.text for item in sequence), "exact_sum"), cost, chosen=sequence is chosen)
        for cost, sequence in found
    )
    return chosen, candidates


def _scale(trial: Trial, labels: NDArray[np.int32], risk: float) -> float | None:
    """Return the last scale before the first with more disagreements than the risk allows."""
    found = None
    for scale in SCALES:
        if trial.disagreements(scale, labels) > risk * len(labels):
            break
        found = scale
    return found


def worst_operations(sequence: Sequence[Fitted], ends: Ends) -> int:
    """Return the multiply-adds of early exits that do not decide, beyond those of the exact sum."""
    total = 0
    for item in sequence:
        stage = item.stage
        if isinstance(stage, NearestVectors):
            kept = stage.max_touched * int(_per_kernel(ends))
            total += stage.worst_operations(ends) - kept
        else:
            total += stage.operations() + ends.label.operations()
    return total


def _sequences(fitted: Sequence[Fitted]) -> list[tuple[Fitted, ...]]:
    filters = [item for item in fitted if isinstance(item.stage, LinearFilter)]
    reduced = [item for item in fitted if isinstance(item.stage, ReducedSet)]
    nearest = [item for item in fitted if isinstance(item.stage, NearestVectors)]
    reduced.sort(key=lambda item: item.stage.operations())
    chains: list[tuple[Fitted, ...]] = [(), *((item,) for item in reduced)]
    chains += itertools.combinations(reduced, 2)
    return [
        (*first, *chain, *last)
        for first in [(), *((item,) for item in filters)]
        for chain in chains
        for last in [(), *((item,) for item in nearest)]
        if first or chain or last
    ]


def _per_kernel(ends: Ends) -> float:
    exact = ends.exact
    return exact.n_features + exact.kernel.value_operations if isinstance(exact, ExactSum) else 0.0


def _flash(sequence: Sequence[Fitted]) -> int:
    return sum(item.table_bytes for item in sequence)


def _ram(sequence: Sequence[Fitted]) -> int:
    """Return the bytes of the workspace that the sequence adds: slots, heap and projections."""
    slots = [item.stage.n_slots for item in sequence if isinstance(item.stage, NearestVectors)]
    return sum(16 * n for n in slots)
