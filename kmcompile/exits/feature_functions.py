"""An additive machine as a sum of functions of its features, in place of the exact sum."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kmcompile.exits.sum_offer import SumOffer
from kmcompile.exits.without_vectors import Board, offer_without_vectors
from kmcompile.kernels import Additive
from kmcompile.lower.additive_sum import MAX_PIECES, additive_pieces
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.program.stages import AdditiveSum, CurveSum, VectorlessSum

SUMS: Mapping[Additive, type[VectorlessSum]] = MappingProxyType(
    {Additive.LINES: AdditiveSum, Additive.CURVES: CurveSum}
)
"""The sum of each kind of functions of single features."""


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
    additive = machine.kernel.additive
    if program.codes is not None or additive is None:
        return None
    if 2 * machine.n_decisions * program.ends.exact.n_features >= program.ends.exact.operations():
        return None
    has_lines = additive is Additive.LINES
    if has_lines and not _lines_fit(machine, board):
        return None
    # The replay has low parts of the pieces. It does not come nearer to curves.
    return offer_without_vectors(
        SUMS[additive], machine, program, board, judged, replay_tables=1, settles=has_lines
    )


def _lines_fit(machine: KernelMachine, board: Board) -> bool:
    """Return whether the C can number the lines and store them; curves are counted when made."""
    n_pieces, flash = additive_pieces(machine), board.budgets.flash_bytes
    table_bytes = 4 * n_pieces * (1 + 2 * machine.n_decisions)
    return n_pieces <= MAX_PIECES and (flash is None or table_bytes <= flash)
