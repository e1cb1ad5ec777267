"""Points on a line, in a plane or at one place are embedded as any others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from bound_search.embedding import Embedding, embed
from bound_search.extrema import extrema, extrema_bounds
from bound_search.forms import line_bounds, plane_bounds
from bound_search.points import DistanceForm, Pair, Point, inner, squared_distance
from form_rounding import CASES, assert_inside, decisions, ids, random_pair, rounding, slack_of
from numpy.testing import assert_allclose

from kit.span_cases import random_machine
from kmcompile.kernels import Linear, Rbf
from kmcompile.model.kernel_machine import KernelMachine


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
