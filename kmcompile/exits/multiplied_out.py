"""A polynomial machine multiplied out, instead of the exact sum over its support vectors."""

from __future__ import annotations

from kmcompile.errors import InputError
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.exits.without_vectors import Board, judged_offer, offer_without_vectors
from kmcompile.lower.coded_polynomial_sum import multiply_add_weight
from kmcompile.lower.codes import Coded
from kmcompile.lower.integer_program import with_polynomial
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.passes.expand_polynomial import can_expand, n_monomials
from kmcompile.program.interpreter import Inputs, operations_alone
from kmcompile.program.program import Program
from kmcompile.program.stages import PolynomialSum
from kmcompile.text.figures import counted


def offer_polynomial(
    machine: KernelMachine,
    program: Program,
    board: Board,
    judged: Float32Array,
) -> SumOffer | None:
    """Return the program with the polynomial multiplied out; None if it cannot pay or be.

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
    exact = program.ends.exact
    if program.codes is not None or not can_expand(machine):
        return None
    n_terms = n_monomials(exact.n_features, machine.kernel.polynomial.degree)
    if machine.n_decisions * n_terms >= exact.operations():
        return None
    # The replay's table of coefficients is double.
    return offer_without_vectors(PolynomialSum, machine, program, board, judged, replay_tables=2)


def offer_coded_polynomial(
    coded: Coded,
    program: Program,
    board: Board,
    judged: Inputs,
) -> SumOffer | str:
    """Return the program with the polynomial multiplied out in integers, or why there is none.

    Parameters
    ----------
    coded : Coded
        The machine with codes from which the program was lowered.
    program : Program
        The exact program in an integer format, without early exits.
    board : Board
    judged : ndarray of shape (n_samples, n_features), float32 or integer codes
        Samples that the C accepts.

    Returns
    -------
    SumOffer or str
        A text is "" if the machine is no polynomial that can be multiplied out.
    """
    if not can_expand(coded.machine):
        return ""
    n_terms = coded.machine.n_decisions * n_monomials(
        coded.machine.n_features, coded.machine.kernel.polynomial.degree
    )
    needed = n_terms * multiply_add_weight(board.target)
    spent = float(operations_alone(program, judged).mean()) if len(judged) else 0.0
    if needed >= spent:
        return (
            f"{counted(n_terms, 'coefficient', 'coefficients')} would take {needed:,} operations, "
            f"the sum over the vectors takes {spent:,.0f}"
        )
    try:
        made = with_polynomial(program, coded, board.target)
    except InputError as error:
        return str(error).splitlines()[0]
    return judged_offer(made, program, board, judged, replay_tables=0, settles=False)
