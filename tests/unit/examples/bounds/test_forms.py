"""The bounds against each other and against f: extrema = line, line holds plane holds span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bound_search.betas import distance_pair
from bound_search.embedding import Embedding, embed
from bound_search.extrema import extrema, extrema_bounds
from bound_search.forms import line_bounds, plane_bounds, span_bounds
from bound_search.points import DistanceForm, Pair, Point, inner, squared_distance
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kit.span_cases import DATA, KERNELS, Case, case, random_machine
from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.exits.certified.vectors.span import Span
from kmcompile.kernels import Kernel, Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.passes import run_passes

Bounds = tuple[np.ndarray, np.ndarray]


def random_pair(form: DistanceForm, n: int, seed: int) -> Pair:
    """Return P^ and N^ of random weights and perturbed support vectors."""
    rng = np.random.default_rng(seed)
    points = []
    for side in (form.positive, form.negative):
        vectors = side.vectors[rng.integers(len(side), size=n)]
        moved = vectors + 0.3 * rng.normal(size=vectors.shape)
        points.append(Point(moved, rng.uniform(0.0, 1.0, n) / n))
    return Pair(*points)


def rounding(form: DistanceForm, pair: Pair, X: np.ndarray) -> float:
    """Return a bound on the rounding of an interval's r^2 = R^2 D^2 and of c |W|.

    The inner products of the points are sums of sums of n products with relative error gamma_(2 n)
    (Higham, eq. 3.5) of their magnitudes, at most S; so is |W|^2 of T. With l = d_pn^2 and
    e = N^ - P^, R^2 = d_Qp^2 - <e, Q - P^>^2 / l and D^2 = |W|^2 - <e, W>^2 / l: errors eps S of
    numerator and l change the quotient by less than 4 eps S (1 + S / l), and 4 eps T (1 + S / l).
    """
    kernel = form.kernel
    p, n = pair.positive, pair.negative
    S = float(kernel.self_values(X).max())
    S += sum(magnitude(kernel, point) for point in (p, n, form.positive, form.negative))
    apart = squared_distance(kernel, p, n)
    # Points that coincide are told by 1e-13 of their size, not by what is left of d_pn.
    magnified = 1 + S / apart if apart > 1e-13 * S else 1.0
    return 8 * epsilon(form, pair) * magnified * S * magnitude(kernel, form.normal)


def epsilon(form: DistanceForm, pair: Pair) -> float:
    """Return the relative error of an inner product, kernels of degree 3 included."""
    n_terms = len(form.normal) + len(pair.positive) + len(pair.negative)
    return (2 * n_terms + 4 * form.positive.vectors.shape[1] + 20) * 2.0**-53


def magnitude(kernel: Kernel, point: Point) -> float:
    """Return sum |weights_i weights_j K_ij|."""
    values = np.abs(kernel.values(point.vectors, point.vectors))
    return float(np.abs(point.weights) @ values @ np.abs(point.weights))


def magnified_by(span: Span) -> float:
    """Return by how much L^-1 magnifies rounding: max K(z, z) trace G^-1."""
    largest = float(span.normals.kernel.self_values(span.vectors).max())
    return largest * float((span.triangle**2).sum())


def assert_inside(narrow: Bounds, wide: Bounds, eta: float) -> None:
    """Assert that one interval holds another, up to r^2 off by eta."""
    slack = slack_of(wide, eta)
    assert (narrow[0] >= wide[0] - slack).all() and (narrow[1] <= wide[1] + slack).all()


def slack_of(bounds: Bounds, eta: float) -> np.ndarray:
    """Return how far an end is off where r^2 is by eta: sqrt(r^2 + eta) - r, and c by sqrt(eta)."""
    radius = (bounds[1] - bounds[0]) / 2
    return 2 * eta / np.maximum(radius, np.sqrt(eta))


def cases() -> list[tuple[str, KernelMachine, np.ndarray]]:
    """Return small machines of every kernel, and those of two classes on real data."""
    rng = np.random.default_rng(7)
    small = [(str(k), random_machine(k), 2 * rng.normal(size=(200, 3))) for k in KERNELS]
    real = [(n, case(n).machine, case(n).X) for n in DATA if n != "digits_0_1_2"]
    return small + real


CASES = cases()
ids = [name for name, _, _ in CASES]


def decisions(machine: KernelMachine, X: np.ndarray) -> np.ndarray:
    """Return f as the model sums it, shape (n_queries,)."""
    return Case(machine, X, X).f[:, 0]


@pytest.mark.parametrize(("name", "machine", "X"), CASES, ids=ids)
def test_distances_give_the_decisions(name: str, machine: KernelMachine, X: np.ndarray) -> None:
    form = DistanceForm.of(machine)
    nothing = Pair(form.positive, form.negative)
    slack = rounding(form, nothing, X) / np.sqrt(inner(form.kernel, form.normal, form.normal))
    slack += Case(machine, X, X).magnitude * len(form.normal) * 2.0**-52
    assert_allclose(form.decisions(X), decisions(machine, X), rtol=0, atol=slack)


@pytest.mark.parametrize(("name", "machine", "X"), CASES, ids=ids)
def test_embedding_keeps_the_six_distances(
    name: str, machine: KernelMachine, X: np.ndarray
) -> None:
    form = DistanceForm.of(machine)
    pair = random_pair(form, 3, seed=1)
    at = embed(form, pair)
    placed = np.array(
        [
            (0.0, 0.0, 0.0),
            (at.n_x, 0.0, 0.0),
            (at.P_x, at.P_y, 0.0),
            (at.N_x, at.N_y, at.N_z),
        ]
    )
    points = (pair.positive, pair.negative, form.positive, form.negative)
    squares = [[squared_distance(form.kernel, U, V) for V in points] for U in points]
    found = ((placed[:, None] - placed[None]) ** 2).sum(axis=2)
    T = inner(form.kernel, form.normal, form.normal)
    assert_allclose(found, squares, rtol=0, atol=rounding(form, pair, X) / T)


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
        span = Span.of(Normals.of(machine), vectors)
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
    span = Span.of(normals, of.machine.support_vectors[::5])
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


def same_point(point: Point) -> Point:
    """Return a point again, in other terms: its distance to it is rounding."""
    parts = np.concatenate([point.weights * share for share in (0.3, 0.2, 0.5)])
    order = np.random.default_rng(32).permutation(len(parts))
    return Point(np.tile(point.vectors, (3, 1))[order], parts[order])


@pytest.mark.parametrize("again", [lambda point: point, same_point], ids=["same", "rounded"])
@pytest.mark.parametrize("seed", range(6))
def test_one_point_for_both_classes_bounds_by_the_sphere_about_it(
    again: Callable[[Point], Point], seed: int
) -> None:
    machine = random_machine(Rbf(0.3))
    form = DistanceForm.of(machine)
    X = np.random.default_rng(9).normal(size=(100, 3))
    centre = random_pair(form, 8, seed).positive
    pair = Pair(centre, again(centre))  # d_pn = 0, or rounding
    eta = rounding(form, pair, X)
    line = line_bounds(form, pair, X)
    for found, expected in zip(extrema_bounds(form, pair, X), line, strict=True):
        assert (np.abs(found - expected) <= slack_of(line, eta)).all()
    f = decisions(machine, X)
    assert_inside((f, f), line, eta)
    normal = np.sqrt(inner(form.kernel, form.normal, form.normal))
    to_p = form.kernel.self_values(X) - 2 * centre.with_query(form.kernel, X)
    to_p += inner(form.kernel, centre, centre)
    assert_allclose((line[1] - line[0]) / 2, np.sqrt(to_p) * normal, rtol=0, atol=np.sqrt(eta))


@pytest.mark.parametrize("off", [0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-4, 0.1])
def test_points_in_one_plane_keep_their_distances(off: float) -> None:
    # The linear kernel's feature space is input space: P^, N^, P and N are placed at will, P at
    # `off` from the line P^N^, N in their plane.
    turned = np.linalg.qr(np.random.default_rng(14).normal(size=(3, 3)))[0]
    p, n, P, N = np.array([(0, 0, 0), (1, 0, 0), (0.3, off, 0), (0.7, -0.8, 0)]) @ turned + 0.4
    one = np.ones(1)
    form = DistanceForm(Linear(), Point(P[None], one), Point(N[None], one), 1.0, N @ N - P @ P, 0)
    pair = Pair(Point(p[None], one), Point(n[None], one))
    anywhere = np.random.default_rng(15).normal(size=(50, 3))
    on_the_line = p + np.linspace(-1, 2, 31)[:, None] * (n - p)
    X = np.concatenate([anywhere, on_the_line])
    eta = rounding(form, pair, X)
    at = embed(form, pair)
    normal = (at.P_x - at.N_x) ** 2 + (at.P_y - at.N_y) ** 2 + at.N_z**2
    # P_y^2 is off by eta, so P_y by eta / P_y or by sqrt(eta), and 2 N_y P_y by 2 |N_y| of that.
    through_y = 2 * 0.8 * (min(eta / off, np.sqrt(eta)) if off > 0 else np.sqrt(eta))
    assert_allclose(normal, (P - N) @ (P - N), rtol=0, atol=eta + through_y)
    assert_allclose(at.N_x**2 + at.N_y**2 + at.N_z**2, (p - N) @ (p - N), rtol=0, atol=eta)
    f = X @ (P - N)
    farthest = float(((X - p) ** 2).sum(axis=1).max())
    for bounds in (extrema_bounds, line_bounds, plane_bounds):
        found = bounds(form, pair, X)
        assert np.isfinite(found).all()
        by_paper = bounds is extrema_bounds
        assert_inside((f, f), found, eta + through_y * farthest if by_paper else eta)


@pytest.mark.parametrize("share", [0.0, 1.0, 0.5, -2.0])
def test_p_on_the_line_is_no_division_by_zero(share: float) -> None:
    machine = random_machine(Rbf(0.3))
    form = DistanceForm.of(machine)
    X = np.random.default_rng(10).normal(size=(100, 3))
    # N^ and, on the line through P and N^, a P^ with P = P^ + share (N^ - P^); share 0: P^ = P.
    n = Point(form.negative.vectors[:2], np.array([0.4, 0.6]))
    vectors = np.concatenate([form.positive.vectors, n.vectors])
    weights = np.concatenate([form.positive.weights, -share * n.weights])
    p = Point(vectors, weights / (1 - share)) if share != 1 else random_pair(form, 2, 1).positive
    pair = Pair(p, n if share != 1 else form.positive)
    at = embed(form, pair)
    eta = rounding(form, pair, X)
    T = inner(form.kernel, form.normal, form.normal)
    assert at.P_y**2 <= eta / T
    f = decisions(machine, X)
    assert_inside((f, f), extrema_bounds(form, pair, X), eta)
    assert_inside((f, f), line_bounds(form, pair, X), eta)


def test_line_parallel_to_the_normal_determines_f() -> None:
    machine = random_machine(Rbf(0.3))
    form = DistanceForm.of(machine)
    X = np.random.default_rng(11).normal(size=(100, 3))
    # P^ - N^ = P - N, both moved by the same point: N_y = P_y and N_z = 0.
    aside = Point(np.ones((1, 3)), np.array([0.7]))
    pair = Pair(*(joined(side, aside) for side in (form.positive, form.negative)))
    at = embed(form, pair)
    eta = rounding(form, pair, X)
    T = inner(form.kernel, form.normal, form.normal)
    assert (at.N_y - at.P_y) ** 2 + at.N_z**2 <= eta / T
    low, high = extrema_bounds(form, pair, X)
    assert_allclose(high - low, 0.0, rtol=0, atol=4 * np.sqrt(eta))
    f = decisions(machine, X)
    assert_inside((f, f), (low, high), eta)


def joined(first: Point, second: Point) -> Point:
    """Return the sum of two points."""
    return Point(
        np.concatenate([first.vectors, second.vectors]),
        np.concatenate([first.weights, second.weights]),
    )


def test_extrema_of_the_degenerate_embedding_are_one_value() -> None:
    at = Embedding(n_x=2.0, P_x=0.5, P_y=1.0, N_x=1.5, N_y=1.0, N_z=0.0)
    low, high = extrema(at, np.array([4.0, 9.0]), np.array([4.0, 5.0]))
    assert np.array_equal(low, high)


def test_radius_below_zero_by_rounding_is_zero() -> None:
    at = Embedding(n_x=2.0, P_x=0.5, P_y=1.0, N_x=1.5, N_y=-1.0, N_z=0.5)
    # Q at distance 1 - 2^-40 of p and 1 of n, which are 2 apart: no such place, by rounding.
    low, high = extrema(at, np.array([(1 - 2.0**-40) ** 2]), np.array([1.0]))
    assert np.isfinite(low).all() and np.array_equal(low, high)


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
    span = Span.of(Normals.of(machine), machine.support_vectors[:40])
    lower, upper = (ends[:, -1, 0] for ends in span_bounds(span, X, machine.intercept))
    wrong = (np.sign(lower) == np.sign(upper)) & (np.sign(lower) != np.sign(f))
    assert wrong.any()


def test_a_decision_of_one_class_is_refused() -> None:
    machine = random_machine(Rbf(0.3))
    one = replace(machine, dual_coef=np.abs(machine.dual_coef))
    with pytest.raises(InputError, match="both signs"):
        DistanceForm.of(one)
