"""Lowering of each kind of sum without support vectors, for the program and for its replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kmcompile.lower.additive_sum import lower_additive
from kmcompile.lower.curve_sum import lower_curves
from kmcompile.lower.polynomial_sum import lower_polynomial
from kmcompile.lower.sums import lower_linear
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import FLOAT32, Precision
from kmcompile.program.stages import (
    AdditiveSum,
    CurveSum,
    LinearSum,
    PolynomialSum,
    VectorlessSum,
)

_LOWERINGS: Mapping[
    type[VectorlessSum], Callable[[KernelMachine, int, Precision, bool], VectorlessSum]
] = MappingProxyType(
    {
        LinearSum: lower_linear,
        PolynomialSum: lower_polynomial,
        AdditiveSum: lower_additive,
        CurveSum: lower_curves,
    }
)


def lower_vectorless(
    kind: type[VectorlessSum],
    machine: KernelMachine,
    lanes: int,
    precision: Precision = FLOAT32,
    low_parts: bool = False,
) -> VectorlessSum:
    """Return the sum of a machine, of a kind that its kernel has.

    Parameters
    ----------
    kind : type
        A subclass of `VectorlessSum`.
    machine : KernelMachine
        The machine after the passes.
    lanes : int
        The target's number of values that are summed side by side.
    precision : Precision
    low_parts : bool
        As in `SumContext`.
    """
    return _LOWERINGS[kind](machine, lanes, precision, low_parts)
