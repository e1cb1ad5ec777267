"""Routing: the walk to a leaf, against real arithmetic, and the machines that are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import kmcompile
from kit import routed
from kmcompile.errors import InputError
from kmcompile.kernels import Rbf
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.model.routing import Routing
from kmcompile.model.tree_walk import NO_TARGET
from kmcompile.program.interpreter import interpret, prepared
from kmcompile.target import load_target


def exact_targets(routing: Routing, x: np.ndarray, node: int = 0) -> set[int]:
    """Return the leaves that are right in real arithmetic: several where choices are equal."""
    first = int(routing.node_ends[node - 1]) if node else 0
    choices = range(first, int(routing.node_ends[node]))
    scores = {
        c: sum(
            (Fraction(w) * Fraction(v) for w, v in zip(routing.weights[c], x, strict=True)),
            -Fraction(routing.offsets[c]),
        )
        for c in choices
    }
    best = max(scores.values())
    found: set[int] = set()
    for c in choices:
        if scores[c] == best:
            target = int(routing.targets[c])
            found |= exact_targets(routing, x, target) if target >= 0 else {-1 - target}
    return found


def boundary_inputs(machine: KernelMachine) -> np.ndarray:
    """Return inputs on and beside the boundaries between the choices of each node."""
    routing = machine.routing
    assert routing is not None
    rng = np.random.default_rng(0)
    X, _ = routed.samples("wine" if machine.n_features == 6 else "iris")
    found = []
    for node, end in enumerate(routing.node_ends):
        first = int(routing.node_ends[node - 1]) if node else 0
        for a in range(first, end - 1):
            w = routing.weights[a] - routing.weights[a + 1]
            t = routing.offsets[a] - routing.offsets[a + 1]
            x = X[rng.integers(len(X), size=20)]
            x = x - ((x @ w - t) / (w @ w))[:, None] * w
            found += [x.astype(np.float32), np.nextafter(x.astype(np.float32), np.float32(9))]
    return np.concatenate([np.float32(X[::10]), *found])


@pytest.mark.parametrize("case", routed.CORE, ids=str)
def test_the_walk_of_float32_and_of_float64_leaves_the_right_leaf_open(case):
    machine = case.machine()
    routing = machine.routing
    program = lower_in_format(machine, load_target("host"), "iris", "float32").program
    X = boundary_inputs(machine)
    batch = prepared(program, X)[1]
    walks = routing.walk(X.astype(np.float64)), program.sum.route.walk(batch)
    for path, walked_again in zip(walks, (routing, program.sum.route), strict=True):
        assert (path.n_open[path.rival != NO_TARGET] > 0).all()
        for q, x in enumerate(X.astype(np.float64)):
            right = exact_targets(routing, x)
            if path.n_open[q] == 0:
                assert right == {path.leaf[q]}
            elif path.n_open[q] == 1:
                start = path.rival[q : q + 1]
                own = x[None, :] if walked_again is routing else batch.chosen(np.array([q]))
                other = walked_again.walk(own, start)
                assert other.n_open[0] > 0 or right <= {path.leaf[q], other.leaf[0]}
    assert (walks[1].n_open == 0).any()
    assert (walks[1].n_open > 0).any() == (routing.n_leaves > 1)


@pytest.mark.parametrize("case", routed.CORE, ids=str)
def test_bounds_hold_the_decisions_of_every_leaf_that_may_be_right(case):
    machine = case.machine()
    program = lower_in_format(machine, load_target("host"), "iris", "float32").program
    X = boundary_inputs(machine)
    answers, reference = interpret(program, X), evaluate(machine, X)
    for leaf in range(machine.routing.n_leaves):
        plain = leaf_machine(machine, leaf)
        if plain is None:
            continue
        own = evaluate(plain, X)
        here = [leaf in exact_targets(machine.routing, x) for x in X.astype(np.float64)]
        error = np.abs(answers.decisions - own.decisions) - own.error
        assert (error <= answers.bounds)[here].all()
        assert (np.abs(reference.decisions - own.decisions) <= reference.error + own.error)[
            here
        ].all()


def leaf_machine(machine: KernelMachine, leaf: int) -> KernelMachine | None:
    """Return the machine of one leaf; None if it has no vectors."""
    own = machine.routing.members(leaf)
    if own.start == own.stop:
        return None
    width = machine.routing.relative_gamma[own]
    assert (width == width[0]).all()
    kernel = machine.kernel
    return replace(
        machine,
        kernel=Rbf(kernel.gamma * width[0]) if isinstance(kernel, Rbf) else kernel,
        support_vectors=machine.support_vectors[own],
        dual_coef=machine.dual_coef[:, own],
        intercept=machine.intercept + machine.routing.intercepts[leaf],
        routing=None,
    )


def test_two_leaves_that_agree_certify_and_two_that_differ_do_not():
    half = np.array([0.5, 0.5])
    routing = Routing(
        weights=np.array([[1.0], [-1.0]]),
        offsets=half,
        node_ends=[2],
        targets=[-1, -2],
        leaf_ends=[0, 1],
        intercepts=[[1.0], [1.0]],
        relative_gamma=[1.0],
    )
    machine = replace(
        routed.CORE[0].machine(),
        support_vectors=np.array([[-1.0]]),
        dual_coef=np.array([[0.5]]),
        n_features=1,
        routing=routing,
    )
    target = load_target("host")
    for intercept, certified in ((1.0, True), (-1.0, False)):
        own = replace(machine, routing=replace(routing, intercepts=[[intercept], [1.0]]))
        program = lower_in_format(own, target, "iris", "float32").program
        result = interpret(program, np.zeros((1, 1), dtype=np.float32)).results[0]
        assert result["certified"] == certified
        assert result["kernel_evals"] == 1
        far = interpret(program, np.full((1, 1), 0.5, dtype=np.float32)).results[0]
        assert far["certified"]
        assert far["kernel_evals"] == 0


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"targets": [0, -1, -2, -3, -4]}, "targets lead to no later node and to no leaf"),
        ({"targets": [-9, -1, -2, -3, -4]}, "targets lead to no later node and to no leaf"),
        ({"leaf_ends": [1, 2, 3, 4, 5]}, "leaf_ends do not share out"),
        ({"node_ends": [4]}, "node_ends do not share out the choices"),
        ({"offsets": [np.nan] * 5}, "offsets has a number that is not finite"),
        ({"weights": np.zeros((5, 3))}, "weights has shape"),
        ({"intercepts": np.zeros((5, 2))}, "intercepts has shape"),
        ({"relative_gamma": np.ones(3)}, "relative_gamma has shape"),
        ({"relative_gamma": np.zeros(24)}, "relative_gamma has a number that is not above 0"),
    ],
)
def test_a_tree_that_is_none_is_refused(changes, word):
    machine = routed.CORE[0].machine()
    with pytest.raises(InputError, match=word):
        replace(machine, routing=replace(machine.routing, **changes))


@pytest.mark.parametrize("name", ["weights", "offsets", "intercepts"])
def test_numbers_too_large_for_float32_are_refused(name):
    machine = routed.CORE[0].machine()
    routing = replace(machine.routing, **{name: getattr(machine.routing, name) * 1e300})
    with pytest.raises(InputError, match="overflows float32"):
        lower_in_format(replace(machine, routing=routing), load_target("host"), "iris", "float32")


@pytest.mark.parametrize(
    ("gammas", "word"),
    [
        (1e300, "gamma is 2e\\+299, must be from"),
        (np.logspace(-60, 0, 24), "gammas of one machine differ by more than float32 holds"),
    ],
    ids=["large", "apart"],
)
def test_gammas_that_float32_does_not_hold_are_refused(gammas, word):
    machine = routed.CORE[0].machine()
    routing = replace(machine.routing, relative_gamma=machine.routing.relative_gamma * gammas)
    with pytest.raises(InputError, match=word):
        lower_in_format(replace(machine, routing=routing), load_target("host"), "iris", "float32")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"format": "int8"}, "a routed machine is summed in float32"),
        ({"replay": "float64"}, "a routed machine has no replay"),
        ({"require": ("bound_sequence",)}, "the leaves of a routed machine have no early exits"),
    ],
    ids=str,
)
def test_what_routed_machines_do_not_have_is_refused(options, word):
    with pytest.raises(InputError, match=word):
        kmcompile.compile_model(routed.CORE[0].machine(), verify="none", name="iris", **options)


def test_one_vs_one_machines_have_no_leaves():
    machine = routed.CORE[2].machine()
    assert machine.task is Task.ONE_VS_REST
    with pytest.raises(InputError, match="a one-class machine has leaves"):
        replace(
            routed.CORE[0].machine(), task=Task.ONE_CLASS, classes=(-1, 1), zero_is_positive=False
        )
