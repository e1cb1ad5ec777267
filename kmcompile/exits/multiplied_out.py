"""A polynomial machine multiplied out, instead of the exact sum over its support vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.kernels import Poly
from kmcompile.lower.program import lower
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.arrays import Float32Array
from kmcompile.passes.expand_polynomial import can_expand, n_monomials
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import PolynomialSum
from kmcompile.request.budgets import Budgets
from kmcompile.target import Target

POLYNOMIAL_SUM = PolynomialSum.template

_LOST_SHARE = 0.001
"""Share of the samples that the sum over vectors certifies and the polynomial may leave open, on a
target without a replay."""

_CANDIDATES = 256


def offer_polynomial(
    machine: KernelMachine,
    program: Program,
    target: Target,
    allowed: Budgets,
    replay: Literal["none", "where_double_is_float64", "always"],
    judged: Float32Array,
) -> SumOffer | None:
    """Return the program with the polynomial multiplied out; None if it cannot pay or be.

    Labels that the polynomial leaves open and the sum over vectors does not count as replayed: as
    many operations again. Without a replay, at most a share of 0.001 of the samples may be lost.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    target : Target
    allowed : Budgets
    replay : {"none", "where_double_is_float64", "always"}
        As in `Plan`.
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
    ordinary = ordinary_inputs(machine, _CANDIDATES)
    try:
        made = lower(machine, target, program.name, ordinary, vectorless=PolynomialSum)
    except InputError:
        return None
    made = replace(made, model_sha256=program.model_sha256, label=program.label)
    replays = replay != "none" and target.double_bits == 64
    flash = made.table_bytes * (3 if replays else 1)  # the replay's table of coefficients is double
    if allowed.flash_bytes is not None and flash > allowed.flash_bytes:
        return None
    answers = interpret(made, judged)
    if (answers.results["status"] != Status.OK).any():
        return None
    spent = answers.stage_operations[:, -2:].sum(axis=1)
    if not program.is_regression and len(judged):
        known = interpret(program, judged).results["certified"]
        lost = known & ~answers.results["certified"]
        if not replays and lost.mean() > _LOST_SHARE:
            return None
        spent = spent + np.where(lost, spent, 0)
    return SumOffer(POLYNOMIAL_SUM, made, spent)
