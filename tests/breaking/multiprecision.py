"""Decision values in mpmath: the last resort of the truth, and a check of __float128."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from mpmath import mp, mpf

from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
)
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
            values = [self._kernel(s, x) for s in self._vectors]
            pairs = zip(self._coefficients, _row(self._machine.intercept), strict=True)
            return [mp.fdot(beta, values) + b for beta, b in pairs]

    def _kernel(self, s: list[Any], x: list[Any]) -> Any:
        kernel = self._machine.kernel
        if isinstance(kernel, Rbf):
            total = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
            return mp.exp(-mpf(kernel.gamma) * total)
        if isinstance(kernel, Matern):
            total = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
            z = mpf(kernel.gamma) * mp.sqrt(total)
            return (1, 1 + z, 1 + z + z * z / 3)[kernel.degree] * mp.exp(-z)
        if isinstance(kernel, RationalQuadratic):
            total = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
            return (1 + mpf(kernel.gamma) * total) ** -mpf(kernel.alpha)
        if isinstance(kernel, Laplacian):
            return mp.exp(
                -mpf(kernel.gamma) * mp.fsum(abs(a - b) for a, b in zip(s, x, strict=True))
            )
        if isinstance(kernel, Chi2 | AdditiveChi2):
            pairs = [(a, max(b, mpf(0))) for a, b in zip(s, x, strict=True)]
            total = mp.fsum((a - b) ** 2 / (a + b) for a, b in pairs if a + b > 0)
            is_sum = isinstance(kernel, AdditiveChi2)
            return -total if is_sum else mp.exp(-mpf(kernel.gamma) * total)
        if isinstance(kernel, Intersection):
            return mp.fsum(min(a, b) for a, b in zip(s, x, strict=True))
        total = mp.fdot(s, x)
        if isinstance(kernel, Linear):
            return total
        v = mpf(kernel.gamma) * total + mpf(kernel.coef0)
        return v**kernel.degree if isinstance(kernel, Poly) else mp.tanh(v)


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
