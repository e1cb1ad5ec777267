"""What the sums say of their own rounding is an upper bound, and its constants are needed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sum_errors import (
    Queries,
    batch_of,
    deviating,
    exactly,
    excess,
    machine_of,
    sparse_inputs,
    sparse_machine,
    spread,
    stage_of,
)
from sum_terms import TERMS, of_stage

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
    Sigmoid,
)
from kmcompile.kernels.matern import DEGREES


@pytest.mark.few
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


@pytest.mark.few
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


@pytest.mark.few
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
