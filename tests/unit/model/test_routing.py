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
from kmcompile.program.interpreter import Status, interpret, prepared
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


@pytest.mark.few
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


@pytest.mark.few
@pytest.mark.parametrize("case", routed.CORE, ids=str)
def test_bounds_hold_the_decisions_of_every_leaf_that_may_be_right(case):
    machine = case.machine()
    program = lower_in_format(machine, load_target("host"), "iris", case.number_format).program
    X = boundary_inputs(machine)
    X = X[interpret(program, X).results["status"] == Status.OK]
    answers, reference = interpret(program, X), evaluate(machine, X)
    right = [exact_targets(machine.routing, x) for x in X.astype(np.float64)]
    for leaf in range(machine.routing.n_leaves):
        own, error = leaf_decisions(machine, leaf, X)
        here = [leaf in leaves for leaves in right]
        off = np.abs(answers.decisions - own) - error
        assert (off <= answers.bounds)[here].all()
        assert (np.abs(reference.decisions - own) <= reference.error + error)[here].all()


def leaf_decisions(
    machine: KernelMachine, leaf: int, X: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the decisions of a leaf in long doubles, and bounds on their errors."""
    routing, x = machine.routing, X.astype(np.longdouble)
    own = routing.members(leaf)
    vectors = machine.support_vectors[own].astype(np.longdouble)
    if isinstance(machine.kernel, Rbf):
        squared = ((x[:, None, :] - vectors) ** 2).sum(axis=2)
        gammas = machine.kernel.gamma * routing.relative_gamma[own].astype(np.longdouble)
        values = np.exp(-gammas * squared)
    else:
        kernel = machine.kernel
        values = (kernel.gamma * (x @ vectors.T) + kernel.coef0) ** kernel.degree
    terms = [values[:, None, :] * machine.dual_coef[:, own]]
    if routing.has_pairs:
        i, j = np.triu_indices(len(vectors))
        sizes = np.diff(routing.leaf_ends, prepend=0)
        first = int((sizes * (sizes + 1) // 2)[:leaf].sum())
        products = values[:, i] * values[:, j]
        terms.append(products[:, None, :] * routing.pair_coef[:, first : first + len(i)])
    if len(routing.leaf_weights):
        terms.append(x[:, None, :] * routing.leaf_weights[leaf])
    terms.append(
        np.broadcast_to(routing.intercepts[leaf][:, None], (len(x), *terms[0].shape[1:2], 1))
    )
    parts = np.concatenate(terms, axis=2)
    # Each part has passed fewer roundings than there are features and parts, and an exponential of
    # an argument below 2^10.
    relative = (parts.shape[2] + 4 * x.shape[1] + 2**11) * np.finfo(np.longdouble).eps
    return parts.sum(axis=2), relative * np.abs(parts).sum(axis=2)


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
        pair_coef=np.empty((1, 0)),
        leaf_weights=np.empty((0, 1, 1)),
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
        ({"pair_coef": np.zeros((1, 3))}, "pair_coef has shape"),
        ({"leaf_weights": np.zeros((4, 1, 6))}, "leaf_weights has shape"),
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
        ({"replay": "float64"}, "a routed machine has no replay"),
        ({"require": ("bound_sequence",)}, "a routed machine has early exits in its leaves only"),
    ],
    ids=str,
)
def test_what_routed_machines_do_not_have_is_refused(options, word):
    with pytest.raises(InputError, match=word):
        kmcompile.compile_model(routed.CORE[0].machine(), verify="none", name="iris", **options)


def test_products_of_kernels_that_are_not_rbf_are_refused():
    machine = routed.Routed("iris", 4, kernel="poly").machine()
    sizes = machine.routing.leaf_sizes
    pairs = np.ones((1, int((sizes * (sizes + 1) // 2).sum())))
    with pytest.raises(InputError, match="a machine with a poly kernel has products of kernels"):
        replace(machine, routing=replace(machine.routing, pair_coef=pairs))


def test_integers_are_for_leaves_of_rbf_kernels():
    machine = routed.Routed("iris", 4, kernel="poly").machine()
    whole = replace(machine, support_vectors=np.rint(20 * machine.support_vectors))
    with pytest.raises(InputError, match="integer formats are for leaves of rbf kernels"):
        lower_in_format(whole, load_target("cortex-m0"), "iris", "int16")


def test_one_vs_one_machines_have_no_leaves():
    machine = routed.CORE[2].machine()
    assert machine.task is Task.ONE_VS_REST
    with pytest.raises(InputError, match="a one-class machine has leaves"):
        replace(
            routed.CORE[0].machine(), task=Task.ONE_CLASS, classes=(-1, 1), zero_is_positive=False
        )
