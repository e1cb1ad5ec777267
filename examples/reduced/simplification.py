"""Exact simplification: a largest independent subset of the vectors (RSS 2004, Theorem 2.1)."""

from __future__ import annotations

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.growing import GrowingBasis, Growth
from kmcompile.passes.reduction.selection import Selection

TOLERANCE = 1e-10
"""Default share of |phi(s)|^2 that a vector left out may have outside the span of the chosen."""


def simplify(
    machine: KernelMachine, tolerance: float = TOLERANCE, normals: Normals | None = None
) -> Selection:
    """Return so many support vectors that all others are in their span, with the weights of eq. 3.

    Cholesky factorisation of the Gram matrix with the largest relative pivot first, which finds its
    rank. In one-vs-one the vectors of each pair of classes are in the span of the chosen ones of
    the two classes.

    Parameters
    ----------
    machine : KernelMachine
    tolerance : float
        A vector is in the span if no more than this share of |phi(s)|^2 is outside it.
    normals : Normals, optional
        The machine's normals, if they are known.

    Raises
    ------
    InputError
        The kernel is not positive definite.
    """
    growth = Growth(machine, None, normals, tolerance)
    growth.add_best(machine.n_support_vectors, _outside)
    return growth.selection()


def _outside(basis: GrowingBasis) -> Float64Array:
    """Return the share of |phi(s)|^2 outside the span, of the members that are not in it."""
    usable = basis.usable
    return np.where(usable, basis.left / np.where(usable, basis.squares, 1.0), 0.0)
