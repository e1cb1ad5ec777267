"""A polynomial machine multiplied out, instead of the exact sum over its support vectors."""

from __future__ import annotations

from kmcompile.exits.sum_offer import SumOffer
from kmcompile.exits.without_vectors import Board, offer_without_vectors
from kmcompile.kernels import Poly
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.passes.expand_polynomial import can_expand, n_monomials
from kmcompile.program.program import Program
from kmcompile.program.stages import PolynomialSum

POLYNOMIAL_SUM = PolynomialSum.template


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
    kernel = machine.kernel
    if program.codes is not None or not isinstance(kernel, Poly) or not can_expand(machine):
        return None
    n_terms = n_monomials(exact.n_features, kernel.degree)
    if machine.n_decisions * n_terms >= exact.operations():
        return None
    # The replay's table of coefficients is double.
    return offer_without_vectors(PolynomialSum, machine, program, board, judged, replay_tables=2)
