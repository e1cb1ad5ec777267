"""The arguments and the results of a function that fits certified exits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudgets
from kmcompile.exits.certified.known_expansions import Known
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit

Offer = tuple[EarlyExit, str]
"""A certified exit, and its description with its sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The arguments of a function that fits certified exits.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    X : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts: they show in which regions proofs are worth their cost. No proof
        depends on them.
    room : Room
        What early exits may take.
    budgets : SearchBudgets
        The budgets of the searches; their notes say which searches ended early.
    known : dict
        For each shape of a tree of centres, what trees of many vectors have made.
    """

    machine: KernelMachine
    program: Program
    X: Float32Array
    room: Room
    budgets: SearchBudgets
    known: dict[tuple[int, ...], Known] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CertifiedFit:
    """One kind of certified exit, as the choice of exits uses it.

    Parameters
    ----------
    kind : type of EarlyExit
        The class of its stages.
    offer : callable
        Returns the exits of this kind for a machine, in several sizes; an empty list if none is of
        use. It may raise numpy.linalg.LinAlgError or OverflowError if the scale of the data leaves
        float64's range.
    why_not : callable, optional
        Returns why a machine, given with its exact program, cannot have such an exit; "" if it can.
    why_unasked : callable, optional
        Returns why such an exit is searched for only where an option names it; "" if it always is.
    """

    kind: type[EarlyExit]
    offer: Callable[[Asked], Sequence[Offer]]
    why_not: Callable[[KernelMachine, Program], str] = lambda machine, program: ""
    why_unasked: Callable[[KernelMachine], str] = lambda machine: ""
