"""Kernels in mpmath, in as many digits as its precision has."""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Fourier,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
    Sigmoid,
)


def exact_kernel(kernel: Kernel, s: list[Any], x: list[Any]) -> Any:
    """Return K(s, x) of a vector and an input, both lists of mpf."""
    if isinstance(kernel, Rbf | Matern | RationalQuadratic):
        square = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
        if isinstance(kernel, Rbf):
            return mp.exp(-mpf(kernel.gamma) * square)
        if isinstance(kernel, RationalQuadratic):
            return (1 + mpf(kernel.gamma) * square) ** -mpf(kernel.alpha)
        z = mpf(kernel.gamma) * mp.sqrt(square)
        return (1, 1 + z, 1 + z + z * z / 3)[kernel.degree] * mp.exp(-z)
    if isinstance(kernel, Laplacian):
        total = mp.fsum(abs(a - b) for a, b in zip(s, x, strict=True))
        return mp.exp(-mpf(kernel.gamma) * total)
    if isinstance(kernel, Chi2 | AdditiveChi2):
        pairs = [(a, max(b, mpf(0))) for a, b in zip(s, x, strict=True)]
        total = mp.fsum((a - b) ** 2 / (a + b) for a, b in pairs if a + b > 0)
        is_sum = isinstance(kernel, AdditiveChi2)
        return -total if is_sum else mp.exp(-mpf(kernel.gamma) * total)
    if isinstance(kernel, Intersection):
        return mp.fsum(min(a, b) for a, b in zip(s, x, strict=True))
    inner = mp.fdot(s, x)
    if isinstance(kernel, Linear):
        return inner
    if isinstance(kernel, Fourier):
        return mp.cos(inner)
    if isinstance(kernel, Poly):
        return (mpf(kernel.gamma) * inner + mpf(kernel.coef0)) ** kernel.degree
    if isinstance(kernel, Sigmoid):
        return mp.tanh(mpf(kernel.gamma) * inner + mpf(kernel.coef0))
    raise TypeError(f"{kernel} has no formula here")
