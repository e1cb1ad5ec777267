"""What a fit of certified exits is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudgets
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit

Offer = tuple[EarlyExit, str]
"""A certified exit, and what it is, with its sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What certified exits are fitted to.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    program : Program
        The exact one.
    X : ndarray of shape (n_samples, n_features), float32
        Accepted samples: where to prove much. Nothing that is proved rests on them.
    room : Room
        What early exits may take.
    map_bytes : int or None
        Flash that a sign map may take, where not the default.
    budgets : SearchBudgets
        What each search may take; their notes say which ended early.
    """

    machine: KernelMachine
    program: Program
    X: Float32Array
    room: Room
    map_bytes: int | None
    budgets: SearchBudgets


CertifiedFit = Callable[[Asked], Sequence[Offer]]
"""Returns the exits of one kind for a machine, in several sizes; none where there are none.

It may raise numpy.linalg.LinAlgError or OverflowError where the scale of the data leaves float64.
"""
