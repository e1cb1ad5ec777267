"""Fit quadratic bounds: how many squares are worth their products."""

from __future__ import annotations

import math

from kmcompile.exits.certified.lower_quadratic import Parts, lower_quadratic
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.expand_polynomial import can_expand, n_monomials
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum

_SQUARES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
_LARGEST_DEGREE = 4
"""Of a polynomial of degree 5 or more, the first two degrees say too little."""

_MOST_FEATURES = 1000
_MOST_VECTORS = 4000


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have quadratic bounds; "" if it can."""
    exact, kernel = program.ends.exact, machine.kernel
    n_sv, n_features = machine.support_vectors.shape
    if not kernel.has_series:
        return f"its bounds are of polynomials and sigmoids, and the kernel is {kernel.name}"
    degree = kernel.polynomial.degree if kernel.is_polynomial else None
    if degree is not None and not 2 <= degree <= _LARGEST_DEGREE:
        return f"the degree must be 2 to {_LARGEST_DEGREE}, is {degree}"
    if degree is not None and degree > 2 and kernel.polynomial.coef0 == 0:
        return f"with coef0 0 there is no part below degree {degree}"
    if not machine.task.has_one_sign:
        return "it is for two classes"
    if program.codes is not None or not isinstance(exact, ExactSum):
        return f"it reads the input in float32, not in {program.number_format}"
    if n_features > _MOST_FEATURES:
        return f"it is for at most {_MOST_FEATURES:,} features, the model has {n_features:,}"
    if n_sv > _MOST_VECTORS and degree != 2:
        return f"it is for at most {_MOST_VECTORS:,} vectors, the model has {n_sv:,}"
    return ""


def offer_quadratic(asked: Asked) -> list[Offer]:
    """Return the quadratic bounds that a machine can have, with several numbers of squares.

    The stage costs at most as much as the sum behind it, multiplied out or over the vectors.
    """
    parts, ends = Parts.of(asked.machine), asked.program.ends
    most = min(ends.exact.operations(), _multiplied_out(asked.machine))
    stages = [
        lower_quadratic(parts, n_squares)
        for n_squares in _SQUARES
        if n_squares <= len(parts.factors)
    ]
    return [
        (stage, str(stage))
        for stage in stages
        if stage.operations() <= most
        and asked.room.has_operations([stage], [stage.weighted_operations(ends)])
    ]


def _multiplied_out(machine: KernelMachine) -> float:
    """Return the multiply-adds of a polynomial's monomials; infinity if there is no such sum."""
    if not can_expand(machine):
        return math.inf
    return n_monomials(machine.support_vectors.shape[1], machine.kernel.polynomial.degree)
