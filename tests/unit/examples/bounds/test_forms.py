"""The bounds against each other and against f: extrema = line, line holds plane holds span."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bound_search.betas import distance_pair
from bound_search.extrema import extrema_bounds
from bound_search.forms import line_bounds, plane_bounds, span_bounds
from bound_search.points import DistanceForm, Pair, inner, squared_distance
from form_rounding import (
    CASES,
    assert_inside,
    decisions,
    ids,
    magnified_by,
    random_pair,
    rounding,
    slack_of,
)
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kit.span_cases import DATA, KERNELS, Case, case, random_machine, span_of
from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.kernels import Kernel, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.passes import run_passes


@pytest.mark.parametrize(("name", "machine", "X"), CASES, ids=ids)
def test_distances_give_the_decisions(name: str, machine: KernelMachine, X: np.ndarray) -> None:
    form = DistanceForm.of(machine)
    nothing = Pair(form.positive, form.negative)
    slack = rounding(form, nothing, X) / np.sqrt(inner(form.kernel, form.normal, form.normal))
    slack += Case(machine, X, X).magnitude * len(form.normal) * 2.0**-52
    assert_allclose(form.decisions(X), decisions(machine, X), rtol=0, atol=slack)


@pytest.mark.parametrize(("name", "machine", "X"), CASES, ids=ids)
@pytest.mark.parametrize("n", [1, 4])
def test_extrema_are_the_line_form(
    name: str, machine: KernelMachine, X: np.ndarray, n: int
) -> None:
    form = DistanceForm.of(machine)
    for pair in (random_pair(form, n, seed=2), nearest(form, n)):
        line = line_bounds(form, pair, X)
        eta = rounding(form, pair, X)
        for found, expected in zip(extrema_bounds(form, pair, X), line, strict=True):
            assert (np.abs(found - expected) <= slack_of(line, eta)).all()


def nearest(form: DistanceForm, n: int) -> Pair:
    """Return P^ and N^ of the first n support vectors, weights by distance."""
    return distance_pair(form, form.positive.vectors[:n], form.negative.vectors[:n])


@pytest.mark.parametrize(("name", "machine", "X"), CASES, ids=ids)
@pytest.mark.parametrize("n", [1, 4])
def test_line_holds_plane_holds_span_holds_f(
    name: str, machine: KernelMachine, X: np.ndarray, n: int
) -> None:
    form = DistanceForm.of(machine)
    f = decisions(machine, X)
    for pair in (random_pair(form, n, seed=3), nearest(form, n)):
        eta = rounding(form, pair, X)
        vectors = np.concatenate([pair.positive.vectors, pair.negative.vectors])
        span = span_of(Normals.of(machine), vectors)
        lower, upper = span_bounds(span, X, machine.intercept)
        whole = lower[:, -1, 0], upper[:, -1, 0]
        line, plane = line_bounds(form, pair, X), plane_bounds(form, pair, X)
        assert_inside(plane, line, eta)
        if len(span) == len(vectors):  # none left out, so P^ and N^ are in the span
            assert_inside(whole, plane, eta * magnified_by(span))
        assert_inside((f, f), line, eta)
        assert_inside((f, f), plane, eta)
        assert_inside((f, f), whole, eta * magnified_by(span))


@pytest.mark.parametrize("name", DATA)
def test_span_intervals_shrink_and_hold_every_decision(name: str) -> None:
    of = case(name)
    normals = Normals.of(of.machine)
    span = span_of(normals, of.machine.support_vectors[::5])
    lower, upper = span_bounds(span, of.X, of.machine.intercept)
    width = upper - lower
    assert (np.diff(width, axis=1) <= 0).all()
    relative = (2 * len(normals.vectors) + 4 * of.X.shape[1] + 20) * 2.0**-53
    values = np.abs(normals.kernel.values(normals.vectors, normals.vectors))
    beta = np.abs(normals.coefficients)
    T = float(((beta @ values) * beta).sum(axis=1).max())
    S = float(normals.kernel.self_values(of.X).max())
    eta = 8 * relative * S * T * magnified_by(span)
    f = of.f[:, None, :]
    slack = slack_of((lower, upper), eta)
    assert (f >= lower - slack).all() and (f <= upper + slack).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_exact_points_leave_nothing_unknown(kernel: Kernel) -> None:
    machine = random_machine(kernel)
    form = DistanceForm.of(machine)
    X = np.random.default_rng(8).normal(size=(50, 3))
    pair = Pair(form.positive, form.negative)
    eta = rounding(form, pair, X)
    for bounds in (extrema_bounds, line_bounds, plane_bounds):
        low, high = bounds(form, pair, X)
        assert_allclose(high - low, 0.0, rtol=0, atol=4 * np.sqrt(eta))


def test_paper_figure_1_interval_is_narrower_than_the_naive_one() -> None:
    machine = random_machine(Rbf(0.3))
    form = DistanceForm.of(machine)
    X = np.random.default_rng(12).normal(size=(50, 3))
    pair = random_pair(form, 4, seed=13)
    kernel = form.kernel
    gap = np.sqrt(squared_distance(kernel, form.positive, pair.positive))
    gap += np.sqrt(squared_distance(kernel, form.negative, pair.negative))
    to_p, to_n = (
        np.sqrt(kernel.self_values(X) - 2 * u.with_query(kernel, X) + inner(kernel, u, u))
        for u in (pair.positive, pair.negative)
    )
    naive = form.decision((to_n + gap) ** 2 - (to_p - gap) ** 2)
    naive -= form.decision((to_n - gap) ** 2 - (to_p + gap) ** 2)
    low, high = extrema_bounds(form, pair, X)
    assert (high - low < naive).all()


@pytest.mark.parametrize(
    "kernel",
    [Sigmoid(0.5, 0.0), Poly(0.4, -1.0, 3), Poly(-0.4, 1.0, 2), Poly(0.0, 1.0, 2)],
    ids=str,
)
def test_kernels_that_are_no_inner_product_are_refused(kernel: Kernel) -> None:
    machine = random_machine(kernel)
    with pytest.raises(InputError, match="is not positive definite"):
        Normals.of(machine)
    with pytest.raises(InputError, match=f"the {kernel.name} kernel"):
        DistanceForm.of(machine)


def test_sigmoid_shows_why_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would give wrong bounds if it were taken for an inner product."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = SVC(kernel="sigmoid", gamma=0.05, coef0=0.0).fit(X[:600], y[:600] < 5)
    machine = run_passes(readers.load_model(model))
    monkeypatch.setattr(Sigmoid, "positive_definite", True)
    X = machine.prepare(X[600:])
    f = decisions(machine, X)
    span = span_of(Normals.of(machine), machine.support_vectors[:40])
    lower, upper = (ends[:, -1, 0] for ends in span_bounds(span, X, machine.intercept))
    wrong = (np.sign(lower) == np.sign(upper)) & (np.sign(lower) != np.sign(f))
    assert wrong.any()


def test_a_decision_of_one_class_is_refused() -> None:
    machine = random_machine(Rbf(0.3))
    one = replace(machine, dual_coef=np.abs(machine.dual_coef))
    with pytest.raises(InputError, match="both signs"):
        DistanceForm.of(one)
