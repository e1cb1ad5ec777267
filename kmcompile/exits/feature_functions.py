"""An additive machine as a sum of functions of its features, in place of the exact sum."""

from __future__ import annotations

from kmcompile.exits.sum_offer import SumOffer
from kmcompile.exits.without_vectors import Board, offer_without_vectors
from kmcompile.kernels import AdditiveChi2
from kmcompile.lower.additive_sum import additive_pieces, can_be_additive
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.program.stages import AdditiveSum, CurveSum


def sum_of_functions(machine: KernelMachine) -> type[AdditiveSum | CurveSum]:
    """Return the kind of the sum of functions of features that a machine has."""
    return CurveSum if isinstance(machine.kernel, AdditiveChi2) else AdditiveSum


def offer_additive(
    machine: KernelMachine,
    program: Program,
    board: Board,
    judged: Float32Array,
) -> SumOffer | None:
    """Return the program with functions of features; None if it cannot pay or be.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    board : Board
    judged : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts.
    """
    if program.codes is not None or not can_be_additive(machine):
        return None
    if 2 * machine.n_decisions * program.ends.exact.n_features >= program.ends.exact.operations():
        return None
    is_curved = isinstance(machine.kernel, AdditiveChi2)
    if not is_curved and board.budgets.flash_bytes is not None:
        table_bytes = 4 * additive_pieces(machine) * (1 + 2 * machine.n_decisions)
        if table_bytes > board.budgets.flash_bytes:
            return None
    # The replay has low parts of the pieces. It does not come nearer to curves.
    kind = sum_of_functions(machine)
    return offer_without_vectors(
        kind, machine, program, board, judged, replay_tables=1, settles=not is_curved
    )
