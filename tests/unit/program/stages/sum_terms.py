"""The constants of the bounds of sums, each with a machine and inputs that need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sum_errors import (
    Queries,
    deviating,
    exactly,
    machine_of,
    sparse_inputs,
    sparse_machine,
    spread,
)

from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Fourier,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
    Sigmoid,
)
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.stages import ExactSum

ZERO = np.float32(0.0)


@dataclass(frozen=True)
class Term:
    """A constant of a stage or of its kernel, with a machine and inputs that need it."""

    name: str
    machine: KernelMachine
    queries: Queries
    without: Callable[[Any], Any]
    skip_zeros: bool = False

    def __str__(self) -> str:
        return self.name


def of_kernel(**fields: np.float32) -> Callable[[ExactSum], ExactSum]:
    return lambda stage: replace(stage, kernel=replace(stage.kernel, **fields))


def of_stage(*fields: str) -> Callable[[Any], Any]:
    return lambda stage: replace(stage, **{f: getattr(stage, f) * ZERO for f in fields})


def terms() -> list[Term]:
    near, far, one = spread(200, 1, 0.5), spread(200, 8, 1.5), np.array([[1.0]])
    rbf, poly, sigmoid = Rbf(0.7), Poly(0.3, 0.1, 3), Sigmoid(0.4, 0.1)
    grid = np.round(far * 64) / 64
    shifted, beside = machine_of(Rbf(1.0), [[10000.0003]], [1.0]), exactly(spread(200, 1, 0.7, 1e4))
    # <s, x> nearly cancels, so that its error is large beside it.
    across = machine_of(poly, [[0.8, -0.6]], [1.0])
    bent = machine_of(sigmoid, [[0.8, -0.6]], [1.0])
    cancelling = exactly(np.array([[0.6, 0.8]]) * spread(200, 1, 1e3))
    # The decision is 0, only what was rounded on the way is left.
    weights = spread(40, 1)[:, 0]
    weights -= weights.mean()
    opposed = machine_of(rbf, np.ones((40, 1)), weights)
    saturated = machine_of(Sigmoid(8.0, 0.0), np.ones((40, 1)), weights)
    offset = machine_of(Sigmoid(1.0, 0.0), one, [1.0], -float(np.tanh(3.0)))
    around = exactly(np.linspace(2.9, 3.1, 4000)[:, None])
    found: list[tuple[str, KernelMachine, Queries, Callable[[Any], Any]]] = [
        (
            "rbf-z_error",
            machine_of(Rbf(0.9), np.zeros((1, 8)), [1.0]),
            exactly(grid),
            of_kernel(z_error=ZERO),
        ),
        ("rbf-shift", shifted, beside, of_kernel(shift=ZERO)),
        ("rbf-vector_error", shifted, beside, of_kernel(vector_error=ZERO)),
        ("rbf-value_error", opposed, exactly(one), of_kernel(value_error=ZERO)),
        (
            "rbf-minimum",
            machine_of(Rbf(1.0), one, [2.0**60]),
            exactly(one + 9.35),
            of_stage("minimum"),
        ),
        ("poly-per_length", across, cancelling, of_kernel(per_length=ZERO)),
        ("poly-slope", across, cancelling, of_kernel(slope=ZERO)),
        (
            "poly-per_deviation",
            machine_of(poly, one, [1.0]),
            deviating(near),
            of_kernel(per_deviation=ZERO),
        ),
        (
            "poly-minimum",
            machine_of(Poly(1.0, 0.1, 9), one, [1.0]),
            exactly(near * 1e-9),
            of_kernel(minimum=ZERO, value_error=ZERO),
        ),
        ("sigmoid-per_length", bent, cancelling, of_kernel(per_length=ZERO)),
        (
            "sigmoid-per_deviation",
            machine_of(sigmoid, one, [1.0]),
            deviating(near),
            of_kernel(per_deviation=ZERO),
        ),
        (
            "sigmoid-function_error",
            offset,
            around,
            of_kernel(function_error=ZERO, value_error=ZERO),
        ),
        (
            "sigmoid-value_error",
            saturated,
            exactly(np.linspace(0.6, 1.0, 100)[:, None]),
            of_kernel(value_error=ZERO, function_error=ZERO),
        ),
        (
            "result_error",
            machine_of(rbf, one, [2.0**-12], 1.0),
            exactly(near),
            of_stage("result_error"),
        ),
        ("final_factor", opposed, exactly(one), of_stage("final_factor")),
        (
            "linear-per_length",
            machine_of(Linear(), [[0.8, -0.6]], [1.0]),
            cancelling,
            of_stage("per_length"),
        ),
        (
            "linear-per_deviation",
            machine_of(Linear(), one, [1.0]),
            deviating(near),
            of_stage("per_deviation"),
        ),
        (
            "linear-result_error",
            machine_of(Linear(), one * 2.0**-20, [1.0], 1.0),
            exactly(near),
            of_stage("result_error"),
        ),
        (
            "linear-minimum",
            machine_of(Linear(), one * 2.0**-40, [1.0], 0.1),
            exactly(near),
            of_stage("minimum", "result_error"),
        ),
    ]
    found += feature_sum_terms(weights) + fourier_terms(weights, near, cancelling)
    expanded = Term(
        "expanded-per_reach",
        sparse_machine(Rbf(0.7)),
        exactly(sparse_inputs()),
        of_kernel(per_reach=np.float32(2.0**-126)),  # 0 would say that nothing is expanded
        skip_zeros=True,
    )
    return [*(Term(*term) for term in found), expanded]


def fourier_terms(weights: np.ndarray, near: np.ndarray, cancelling: Queries) -> list[Any]:
    """Return the terms of the cosine, whose error weighs most where it is steep."""
    one, fourier = np.array([[1.0]]), Fourier()
    rest = {"function_error": ZERO, "value_error": ZERO}
    phase = exactly(np.column_stack([cancelling.exact, np.ones(len(cancelling.exact))]))
    exact = machine_of(fourier, one, [1.0])
    steep = exactly(np.linspace(1.5, 1.6, 4000)[:, None])
    return [
        (
            "fourier-per_length",
            machine_of(fourier, [[0.8, -0.6, 1.5]], [1.0]),
            phase,
            of_kernel(per_length=ZERO),
        ),
        ("fourier-per_deviation", exact, deviating(near), of_kernel(per_deviation=ZERO)),
        (
            "fourier-function_error",
            exact,
            steep,
            of_kernel(function_error=ZERO, per_length=ZERO, minimum=ZERO),
        ),
        (
            "fourier-per_length-stored",
            machine_of(fourier, [[0.1]], [1.0]),
            exactly(steep.exact * 10),
            of_kernel(per_length=ZERO, **rest),
        ),
        (
            "fourier-value_error",
            machine_of(fourier, np.ones((40, 1)), weights),
            exactly(one),
            of_kernel(**rest, per_length=ZERO),
        ),
    ]


def feature_sum_terms(weights: np.ndarray) -> list[Any]:
    """Return the terms of the kernels that are functions of other sums over the features."""
    one, some = np.array([[1.0]]), np.abs(spread(200, 8, 1.5))
    thirds = exactly(np.round(some * 64) / 24)
    found: list[Any] = []
    for kernel, steep in (
        (Laplacian(0.9), Laplacian(1.0)),
        (Chi2(0.9), Chi2(2e5)),
        (Matern(0.9, 0), Matern(1.0, 0)),
        (RationalQuadratic(0.9, 0.7), RationalQuadratic(1.0, 40.0)),
    ):
        name, origin = kernel.name, np.full((1, 8), 0.125)
        # Where gamma |s - x|^2 is large, its rounding moves z far less than the bound has.
        flat = RationalQuadratic(1e-3, 40.0) if isinstance(kernel, RationalQuadratic) else kernel
        no_shift = {"slope": ZERO, "shift_minimum": ZERO}
        found += [
            (f"{name}-z_error", machine_of(flat, origin, [1.0]), thirds, of_kernel(z_error=ZERO)),
            (
                f"{name}-vector_error",
                machine_of(steep, [[1000.00003]], [1.0]),
                exactly(spread(200, 1, 0.1, 1e3)),
                of_kernel(vector_error=ZERO),
            ),
            (
                f"{name}-slope",
                machine_of(kernel, [[0.0]], [1.0]),
                deviating(np.abs(spread(200, 1, 0.3))),
                of_kernel(slope=ZERO),
            ),
            (
                f"{name}-value_error",
                machine_of(kernel, np.ones((40, 1)), weights),
                exactly(one),
                of_kernel(value_error=ZERO, **no_shift),
            ),
        ]
    plain = Intersection()
    cancelling = spread(200, 8, 100.0)
    cancelling -= cancelling.mean(axis=1, keepdims=True)
    rounding = {"per_length": ZERO, "minimum": ZERO}
    return [
        *found,
        (
            "intersection-per_length",
            machine_of(plain, np.full((1, 8), 1e3), [1.0]),
            exactly(cancelling),
            of_kernel(value_error=ZERO, **rounding),
        ),
        (
            "intersection-per_deviation",
            machine_of(plain, [[100.0]], [1.0]),
            deviating(some[:, :1]),
            of_kernel(per_deviation=ZERO),
        ),
        (
            "intersection-minimum",
            machine_of(plain, [[1000.00003]], [1.0], -1e3),
            exactly(some[:, :1] + 2e3),
            of_kernel(value_error=ZERO, **rounding),
        ),
        (
            "intersection-value_error",
            machine_of(plain, np.ones((40, 1)), weights),
            exactly(one * 1.7),
            of_kernel(value_error=ZERO, **rounding),
        ),
        (
            "additive_chi2-per_deviation",
            machine_of(AdditiveChi2(), [[0.0]], [1.0]),
            deviating(np.abs(spread(200, 1, 0.3))),
            of_kernel(per_deviation=ZERO),
        ),
        (
            "additive_chi2-minimum",
            machine_of(AdditiveChi2(), [[1000.00003]], [1.0]),
            exactly(spread(200, 1, 0.1, 1e3)),
            of_kernel(minimum=ZERO),
        ),
        (
            "additive_chi2-value_error",
            machine_of(AdditiveChi2(), np.ones((40, 1)), weights),
            exactly(one * 1.7),
            of_kernel(value_error=ZERO, minimum=ZERO),
        ),
    ]


TERMS = terms()
