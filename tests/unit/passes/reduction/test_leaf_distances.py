"""Distances of reduced leaves: dense computation, queries and unchanged leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.reduced_leaves import CORE
from kit.routed import samples
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.reduced import leaf_distance, with_distance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.target import load_target


def dense(machine: KernelMachine, reduced: KernelMachine, leaf: int) -> np.ndarray:
    """Return |W_p - W^_p| of a leaf by the whole Gram matrix."""
    before, after = machine.routing.members(leaf), reduced.routing.members(leaf)
    vectors = np.vstack([machine.support_vectors[before], reduced.support_vectors[after]])
    a = np.hstack([machine.dual_coef[:, before], -reduced.dual_coef[:, after]])
    gammas = machine.kernel.gamma * machine.routing.relative_gamma[before][:1]
    gram = np.exp(-gammas * ((vectors[:, None] - vectors) ** 2).sum(axis=2))
    return np.sqrt(np.maximum((a @ gram * a).sum(axis=1), 0.0))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CORE, ids=str)
def test_distances_of_leaves_are_upper_bounds_and_tight(case):
    reduced = case.machine()
    of = reduced.reduced_from
    n_leaves = reduced.routing.n_leaves
    assert of.distance.shape == of.offset.shape == (n_leaves, reduced.n_decisions)
    # The square is a difference: its rounding error is a share of (sum |a|)^2.
    size = np.abs(of.machine.dual_coef).sum() + np.abs(reduced.dual_coef).sum()
    for leaf in range(n_leaves):
        real = dense(of.machine, reduced, leaf)
        assert (np.abs(of.distance[leaf] - real) <= 2e-6 * size).all()
        rounded = 1e-12 * size**2
        assert (of.distance[leaf] ** 2 >= real**2 - rounded).all()


@pytest.mark.few
@pytest.mark.parametrize("case", CORE, ids=str)
def test_no_decision_is_further_from_the_trained_one_than_its_leaf_s_distance(case):
    reduced = case.machine()
    machine = reduced.reduced_from.machine
    rng = np.random.default_rng(0)
    X = samples(case.trained.data)[0]
    X = np.vstack([X, X + rng.normal(size=X.shape), reduced.support_vectors])
    leaf = machine.routing.walk(X).leaf
    before, after = evaluate(machine, X), evaluate(reduced, X)
    apart = np.abs(before.decisions - after.decisions)
    assert (apart <= leaf_distance(reduced)[leaf] + before.error + after.error).all()
    if case.most_of_leaf is None:
        assert (apart > 0).any()


def test_a_leaf_that_stays_has_no_distance():
    reduced = CORE[-1].machine()
    machine = reduced.reduced_from.machine
    sizes = np.diff(machine.routing.leaf_ends, prepend=0)
    kept = sizes <= CORE[-1].most_of_leaf
    assert kept.any() and not kept.all()
    assert (reduced.reduced_from.distance[kept] == 0).all()
    assert (reduced.reduced_from.distance[~kept] > 0).any()


@pytest.mark.few
@pytest.mark.parametrize("case", CORE, ids=str)
def test_the_bound_of_the_sum_has_the_distance(case):
    reduced = case.machine()
    plain = lower_in_format(
        replace(reduced, reduced_from=None), load_target("host"), "m", "float32"
    ).program
    apart = leaf_distance(reduced).max(axis=0)
    program = with_distance(plain, reduced)
    added = program.sum.minimum.astype(np.float64) - plain.sum.minimum
    assert (added >= apart).all()
    assert (added <= apart * (1 + 1e-5) + 1e-6).all()
    assert program.sum.trivial_bound >= plain.sum.trivial_bound + apart.max()


def test_the_intercepts_of_leaves_are_apart_by_no_more_than_the_offset():
    reduced = CORE[0].machine()
    machine = reduced.reduced_from.machine
    moved = replace(
        reduced,
        intercept=np.array([0.1]),
        routing=replace(reduced.routing, intercepts=reduced.routing.intercepts + 0.2),
        reduced_from=None,
    )
    offset = standing_for(machine, moved).reduced_from.offset
    assert (offset >= 0.3).all() and (offset <= 0.3 + 1e-8).all()
