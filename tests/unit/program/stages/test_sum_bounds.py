"""What the sums say of their own rounding is an upper bound, and its constants are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
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
from kmcompile.kernels.matern import DEGREES
from kmcompile.lower.prepare import length_bound
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_linear, lower_sum
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import ExactSum, LinearSum

DIGITS = 50
ZERO = np.float32(0.0)


def machine_of(kernel: Kernel, vectors: Any, coef: Any, intercept: float = 0.0) -> KernelMachine:
    vectors = np.asarray(vectors, dtype=np.float64)
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=vectors,
        dual_coef=np.asarray(coef, dtype=np.float64).reshape(1, -1),
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=vectors.shape[1],
    )


def stage_of(
    machine: KernelMachine, lanes: int = 4, skip_zeros: bool = False
) -> ExactSum | LinearSum:
    if isinstance(machine.kernel, Linear):
        return lower_linear(machine, lanes)
    return lower_sum(machine, lanes, SumContext(skip_zeros=skip_zeros))


def exact_decision(machine: KernelMachine, x: list[Any]) -> Any:
    kernel, total = machine.kernel, mpf(float(machine.intercept[0]))
    for s, beta in zip(machine.support_vectors, machine.dual_coef[0], strict=True):
        s = [mpf(float(v)) for v in s]
        if isinstance(kernel, Rbf):
            distance = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
            value = mp.exp(-mpf(kernel.gamma) * distance)
        elif isinstance(kernel, Matern):
            z = mpf(kernel.gamma) * mp.sqrt(
                mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
            )
            value = (1, 1 + z, 1 + z + z * z / 3)[kernel.degree] * mp.exp(-z)
        elif isinstance(kernel, RationalQuadratic):
            distance = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
            value = (1 + mpf(kernel.gamma) * distance) ** -mpf(kernel.alpha)
        elif isinstance(kernel, Linear):
            value = mp.fdot(s, x)
        elif isinstance(kernel, Fourier):
            value = mp.cos(mp.fdot(s, x))
        elif isinstance(kernel, Intersection):
            value = mp.fsum(min(a, b) for a, b in zip(s, x, strict=True))
        elif isinstance(kernel, Laplacian):
            total_of = mp.fsum(abs(a - b) for a, b in zip(s, x, strict=True))
            value = mp.exp(-mpf(kernel.gamma) * total_of)
        elif isinstance(kernel, Chi2 | AdditiveChi2):
            each = [(a, max(b, mpf(0))) for a, b in zip(s, x, strict=True)]
            total_of = mp.fsum((a - b) ** 2 / (a + b) for a, b in each if a + b > 0)
            is_sum = isinstance(kernel, AdditiveChi2)
            value = -total_of if is_sum else mp.exp(-mpf(kernel.gamma) * total_of)
        else:
            v = mpf(kernel.gamma) * mp.fdot(s, x) + mpf(kernel.coef0)
            value = v**kernel.degree if isinstance(kernel, Poly) else mp.tanh(v)
        total += mpf(float(beta)) * value
    return total


@dataclass(frozen=True)
class Queries:
    """Prepared inputs as float32 knows them, and exactly."""

    exact: np.ndarray
    x: np.ndarray
    deviation: np.ndarray


def exactly(X: np.ndarray) -> Queries:
    x = np.asarray(X, dtype=np.float32)
    return Queries(x.astype(np.float64), x, np.zeros(len(x), dtype=np.float32))


def deviating(X: np.ndarray) -> Queries:
    """Return inputs whose float32 is off by as much as the deviation says."""
    x = np.asarray(X + 1e-3, dtype=np.float32)
    off = np.sqrt(((X - x) ** 2).sum(axis=1)) * (1 + 1e-12)
    up = np.nextafter(off.astype(np.float32), np.float32(np.inf))
    return Queries(X, x, up)


def batch_of(queries: Queries) -> Batch:
    return replace(
        Batch.of(queries.x, 1),
        deviation=queries.deviation,
        length=length_bound(queries.x.shape[1]).of(queries.x),
    )


def excess(machine: KernelMachine, stage: ExactSum | LinearSum, queries: Queries) -> float:
    """Return the largest error in units of its bound."""
    result = stage.run(batch_of(queries))
    worst = 0.0
    with mp.workdps(DIGITS):
        for row, decision, bound in zip(
            queries.exact, result.decision[:, 0], result.bound[:, 0], strict=True
        ):
            error = abs(exact_decision(machine, [mpf(float(v)) for v in row]) - float(decision))
            if error > 0:
                worst = max(worst, float(error / mpf(float(bound))) if bound else mp.inf)
    return worst


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


def spread(n: int, d: int, scale: float = 1.0, at: float = 0.0) -> np.ndarray:
    return at + scale * np.random.default_rng(23).normal(size=(n, d))


def sparse_rows(n: int, d: int, seed: int) -> np.ndarray:
    """Return rows of which three in ten entries are not 0, as float32 holds them."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)), 0.0)
    return rows.astype(np.float32).astype(np.float64)


def sparse_machine(kernel: Kernel) -> KernelMachine:
    return machine_of(kernel, sparse_rows(3, 64, seed=7), [0.8, -0.3, 1.1], 0.1)


def sparse_inputs() -> np.ndarray:
    """Return inputs at, near and far from the vectors, sparse, dense and 0."""
    vectors = sparse_machine(Rbf(0.7)).support_vectors
    rng = np.random.default_rng(8)
    near = np.repeat(vectors, 60, axis=0)
    near = near + near * rng.normal(size=near.shape) * 10.0 ** rng.uniform(-7, -1, (180, 1))
    others = sparse_rows(40, 64, seed=9) * 10.0 ** rng.uniform(-3, 3, (40, 1))
    dense = vectors + 0.05 * rng.normal(size=vectors.shape)
    return np.concatenate([vectors, near, others, dense, np.zeros((1, 64)), -vectors * 100])


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


@pytest.mark.parametrize("term", TERMS, ids=str)
def test_the_bound_of_a_sum_holds(term):
    stage = stage_of(term.machine, skip_zeros=term.skip_zeros)
    assert excess(term.machine, stage, term.queries) <= 1.0


@pytest.mark.few
@pytest.mark.parametrize("term", TERMS, ids=str)
def test_without_a_term_the_bound_of_a_sum_does_not_hold(term):
    mutant = term.without(stage_of(term.machine, skip_zeros=term.skip_zeros))
    assert excess(term.machine, mutant, term.queries) > 1.0


def test_the_trivial_bound_holds_where_the_deviation_says_nothing():
    machine = machine_of(Rbf(3.0), spread(6, 2), [0.1, -0.7, 0.3, 5.0, -4.0, 2.0], 0.3)
    stage = stage_of(machine)
    X = np.concatenate([machine.support_vectors, spread(50, 2)])
    known = exactly(np.zeros_like(X) + 0.1)  # whatever the input really is
    lost = Queries(X, known.x, np.full(len(X), 1e3, dtype=np.float32))
    assert not stage.kernel.query_terms(batch_of(lost)).usable.any()
    assert excess(machine, stage, lost) <= 1.0
    assert excess(machine, of_stage("trivial_bound")(stage), lost) > 1.0


@pytest.mark.parametrize(
    "kernel",
    [Rbf(0.3), *(Matern(0.3, degree) for degree in DEGREES), RationalQuadratic(0.003, 100.0)],
    ids=str,
)
def test_bounds_of_distances_hold_at_every_distance_about_the_cutoff(kernel):
    machine = machine_of(kernel, np.zeros((1, 2)), [2.0**40])
    z = np.linspace(80.0, 95.0, 400)
    if isinstance(kernel, RationalQuadratic):
        reach = np.sqrt(np.expm1(z / kernel.alpha) / kernel.gamma)
    else:
        reach = np.sqrt(z / 0.3) if isinstance(kernel, Rbf) else z / 0.3
    radius = reach / np.sqrt(2)
    assert excess(machine, stage_of(machine), exactly(np.column_stack([radius, radius]))) <= 1.0


@pytest.mark.parametrize("degree", range(10))
@pytest.mark.parametrize("coef0", [-0.7, 0.0, 1.3])
def test_bounds_of_poly_hold_for_every_degree_about_its_zero(degree, coef0):
    kernel = Poly(0.37, coef0, degree)
    machine = machine_of(kernel, spread(3, 2), [0.3, -1.1, 0.9], 0.01)
    X = np.concatenate([spread(40, 2), spread(40, 2, 1e-3), spread(40, 2, 1e3)])
    # v = 0 for the first vector, where the value is nothing but its error.
    first = machine.support_vectors[0]
    zeros = -coef0 / kernel.gamma * first / (first @ first) + np.outer(
        np.linspace(-3, 3, 20), [-first[1], first[0]]
    )
    assert excess(machine, stage_of(machine), exactly(np.concatenate([X, zeros]))) <= 1.0


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(
    "kernel",
    [
        Rbf(0.4),
        Poly(0.3, 0.5, 3),
        Sigmoid(0.3, 0.1),
        Linear(),
        Laplacian(0.4),
        Chi2(0.4),
        AdditiveChi2(),
        Intersection(),
        *(Matern(0.8, degree) for degree in DEGREES),
        RationalQuadratic(0.8, 0.6),
    ],
)
def test_bounds_hold_for_every_number_of_lanes(kernel, lanes):
    vectors = np.abs(spread(37, 5)) if kernel.requires_nonnegative else spread(37, 5)
    machine = machine_of(kernel, vectors, np.linspace(-1, 1, 37), 0.2)
    X = np.abs(spread(60, 5)) if kernel.requires_nonnegative else spread(60, 5)
    assert excess(machine, stage_of(machine, lanes), exactly(X)) <= 1.0


KERNELS_OF_SUMS = {
    "laplacian": Laplacian,
    "chi2": Chi2,
    "additive_chi2": lambda gamma: AdditiveChi2(),
    "matern0": partial(Matern, degree=0),
    "matern1": partial(Matern, degree=1),
    "matern2": partial(Matern, degree=2),
    "rational_quadratic": partial(RationalQuadratic, alpha=0.6),
}


@pytest.mark.parametrize("gamma", [0.01, 0.7, 30.0])
@pytest.mark.parametrize("scale", [1e-26, 1e-3, 300.0])
@pytest.mark.parametrize("kernel", KERNELS_OF_SUMS)
def test_bounds_of_feature_sums_hold_at_every_scale(kernel, scale, gamma):
    """Vectors and inputs of many sizes, of zeros too, and inputs that are off."""
    if kernel == "additive_chi2" and gamma != 0.7:
        pytest.skip("additive_chi2 has no gamma: its cases would differ in nothing")
    rng = np.random.default_rng(12)
    vectors = scale * np.abs(sparse_machine(Rbf(1.0)).support_vectors)
    machine = machine_of(KERNELS_OF_SUMS[kernel](gamma / scale), vectors, [0.8, -0.3, 1.1], 0.1)
    sizes = 10.0 ** rng.uniform(-20, 1, size=(60, 64))
    X = np.concatenate([np.abs(sparse_inputs()[::5]), sizes[:10]]) * scale
    assert excess(machine, stage_of(machine), exactly(X)) <= 1.0
    assert excess(machine, stage_of(machine), deviating(X)) <= 1.0


@pytest.mark.parametrize("kernel", [Chi2(0.7), AdditiveChi2()])
def test_two_zeros_and_the_least_numbers_add_nothing_to_chi2_that_is_not_a_number(kernel):
    machine = machine_of(kernel, [[0.0, 0.0, 1.0], [1e-45, 1e-38, 0.0]], [1.0, -0.6])
    X = np.array([[0.0, 0.0, 0.0], [1e-45, 0.0, 1e-45], [1e-38, 1e-45, 3.0], [-0.0, 0.0, 1.0]])
    assert np.isfinite(stage_of(machine).run(batch_of(exactly(X))).decision).all()
    assert excess(machine, stage_of(machine), exactly(X)) <= 1.0


@pytest.mark.exhaustive
@pytest.mark.parametrize("gamma", [0.01, 0.7, 30.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 300.0])
def test_bounds_of_expanded_distances_hold_at_every_scale(gamma, scale):
    """Also where cancellation leaves nothing: then the bound says so."""
    machine = sparse_machine(Rbf(gamma))
    machine = replace(machine, support_vectors=scale * machine.support_vectors)
    stage = stage_of(machine, skip_zeros=True)
    assert excess(machine, stage, exactly(scale * sparse_inputs())) <= 1.0
    assert excess(machine, stage, deviating(scale * sparse_inputs())) <= 1.0


@pytest.mark.parametrize("kernel", [Poly(0.3, 0.5, 3), Sigmoid(0.3, 0.1)])
def test_zeros_that_are_skipped_change_no_bit_of_kernels_of_inner_products(kernel):
    machine, batch = sparse_machine(kernel), batch_of(exactly(sparse_inputs()))
    skipping = stage_of(machine, skip_zeros=True).run(batch)
    everything = stage_of(machine).run(batch)
    for name in ("decision", "bound"):
        values = (getattr(result, name).view(np.uint32) for result in (skipping, everything))
        np.testing.assert_array_equal(*values)
