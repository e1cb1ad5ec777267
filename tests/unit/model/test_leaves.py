"""Leaves as machines of their own: together they are the routed machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.routed import CORE, Routed, samples
from kmcompile.errors import InputError
from kmcompile.model.leaves import leaf_intercepts, leaf_machines, with_leaves
from kmcompile.model.reference import evaluate

PLAIN = [case for case in CORE if case.extra in ("", "widths")]


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_a_leaf_answers_as_the_routed_machine_in_its_cell(case):
    machine = replace(case.machine(), intercept=np.full(case.machine().n_decisions, 0.25))
    X = samples(case.data)[0]
    leaf = machine.routing.walk(X).leaf
    whole = evaluate(machine, X)
    for number, own in enumerate(leaf_machines(machine)):
        rows = leaf == number
        if own is None:
            assert (whole.decisions[rows] == leaf_intercepts(machine)[number]).all()
        else:
            assert own.routing is None and own.n_support_vectors > 0
            np.testing.assert_array_equal(evaluate(own, X[rows]).decisions, whole.decisions[rows])


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_the_same_leaves_are_the_same_machine(case):
    machine = case.machine()
    intercepts = leaf_intercepts(machine)
    leaves = [
        intercepts[number] if own is None else own
        for number, own in enumerate(leaf_machines(machine))
    ]
    assert with_leaves(machine, leaves).canonical_bytes() == machine.canonical_bytes()


def test_other_leaves_take_the_place_of_the_old_ones():
    machine = Routed("wine", 5, "chain", extra="widths").machine()
    leaves = list(leaf_machines(machine))
    first = leaves[0]
    leaves[0] = replace(
        first, support_vectors=first.support_vectors[:2], dual_coef=first.dual_coef[:, :2]
    )
    leaves[3] = np.array([1.0, 2.0, 3.0])
    made = with_leaves(machine, leaves)
    X = samples("wine")[0]
    leaf = machine.routing.walk(X).leaf
    decisions, before = evaluate(made, X).decisions, evaluate(machine, X).decisions
    np.testing.assert_array_equal(decisions[leaf == 0], evaluate(leaves[0], X).decisions[leaf == 0])
    assert (decisions[leaf == 3] == leaves[3]).all()
    others = (leaf != 0) & (leaf != 3)
    np.testing.assert_array_equal(decisions[others], before[others])


def test_a_leaf_of_several_gammas_is_refused():
    machine = Routed("iris", 5).machine()
    gammas = np.linspace(0.5, 1.0, machine.n_support_vectors)
    routing = replace(machine.routing, relative_gamma=gammas)
    with pytest.raises(InputError, match="the vectors of a leaf have different gammas"):
        leaf_machines(replace(machine, routing=routing))


@pytest.mark.parametrize("extra", ["products", "linear"])
def test_leaves_that_are_more_than_sums_are_refused(extra):
    with pytest.raises(InputError, match="the leaves have products of kernels or a linear part"):
        leaf_machines(Routed("iris", 5, extra=extra).machine())


def test_leaves_that_vote_are_refused():
    with pytest.raises(InputError, match="the leaves vote among their own classes"):
        leaf_machines(Routed("wine", 5, extra="votes").machine())
