"""Decision values in mpmath: the last resort of the truth, and a check of __float128."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from mpmath import mp, mpf

from kit.exact_kernels import exact_kernel
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.steps import Affine, Clip, Projection, Step

DIGITS = 60


class Multiprecision:
    """A machine in real numbers, `DIGITS` digits of them."""

    def __init__(self, machine: KernelMachine) -> None:
        self._machine = machine

    @cached_property
    def _vectors(self) -> list[list[Any]]:
        return [_row(s) for s in self._machine.support_vectors]

    @cached_property
    def _coefficients(self) -> list[list[Any]]:
        return [_row(beta) for beta in decision_coefficients(self._machine)]

    def decisions(self, row: np.ndarray) -> list[Any]:
        """Return the decision values of one input."""
        with mp.workdps(DIGITS):
            x = _row(row)
            for step in self._machine.preprocessing:
                x = _applied(step, x)
            values = [exact_kernel(self._machine.kernel, s, x) for s in self._vectors]
            pairs = zip(self._coefficients, _row(self._machine.intercept), strict=True)
            return [mp.fdot(beta, values) + b for beta, b in pairs]


def _applied(step: Step, x: list[Any]) -> list[Any]:
    if isinstance(step, Affine):
        each = zip(x, _row(step.offset), _row(step.factor), strict=True)
        return [(v - offset) * factor for v, offset, factor in each]
    if isinstance(step, Clip):
        return [min(max(v, mpf(step.low)), mpf(step.high)) for v in x]
    if isinstance(step, Projection):
        return [mp.fdot(_row(row), x) for row in step.matrix]
    sizes = {
        "l1": lambda: mp.fsum(abs(v) for v in x),
        "l2": lambda: mp.sqrt(mp.fdot(x, x)),
        "max": lambda: max(abs(v) for v in x),
    }
    size = sizes[step.norm]()
    return x if size < 10 * np.finfo(np.float64).eps else [v / size for v in x]


def _row(values: np.ndarray) -> list[Any]:
    return [mpf(float(value)) for value in values]
