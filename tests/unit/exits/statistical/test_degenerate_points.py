"""Samples that say nothing give no warning of numpy's, and fits that decide nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.lowered import lowered
from kmcompile.exits.statistical import fit_points
from kmcompile.exits.statistical.bands import fit_bands
from kmcompile.exits.statistical.fit_points import (
    most_points,
    of_samples,
    points_left_out,
    with_vectors,
)
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.nearest import totals
from kmcompile.program.stages import ExactSum

pytestmark = pytest.mark.filterwarnings("error")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def exact() -> ExactSum:
    """The sum of a small machine."""
    found = lowered(SVC(C=5, gamma=0.5).fit(X, Y)).program.ends.exact
    assert isinstance(found, ExactSum)
    return found


def decisions(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return decisions of samples, and that each is about the machine's one decision."""
    return x[:, :1].astype(np.float64), np.ones((len(x), 1), dtype=bool)


def test_points_that_leave_no_room_for_vectors_stay_what_they_are(exact, monkeypatch):
    points = of_samples(exact, X, *decisions(X))
    monkeypatch.setattr(fit_points, "_LEAST_POINTS", len(points.x))
    monkeypatch.setattr(fit_points, "_MOST_POINTS", len(points.x))
    assert with_vectors(exact, points) is points
    monkeypatch.setattr(fit_points, "_MOST_POINTS", len(points.x) + 1)
    monkeypatch.setattr(fit_points, "_POINT_BYTES", 1 << 40)
    assert len(with_vectors(exact, points).x) == len(points.x) + 1


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((20, 3), dtype=np.float32),
        np.ones((20, 3), dtype=np.float32),
        np.resize(np.array([[1, 0, 0], [-1, 0, 0]], dtype=np.float32), (20, 3)),
        X[:1],
        X[:2],
    ],
    ids=["zeros", "alike", "opposite", "one", "two"],
)
def test_shifted_points_of_any_samples_are_numbers(exact, x):
    points = of_samples(exact, x, *decisions(x))
    assert np.isfinite(points.x).all()
    assert np.isfinite(points.decisions).all()


@pytest.mark.parametrize("shifted", [False, True])
def test_opposite_points_that_meet_at_0_stay_numbers(monkeypatch, shifted):
    drawn = np.random.default_rng(0)

    class Half:
        """A generator that shifts by half of every difference."""

        integers = staticmethod(drawn.integers)

        @staticmethod
        def uniform(low: float, high: float, size: tuple[int, int]) -> np.ndarray:
            return np.full(size, 0.5)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Half())
    made = fit_points._made(np.array([[1.0, 0.0], [-1.0, 0.0]]), 8, shifted=shifted)
    assert np.isfinite(made).all()


def test_a_decision_that_is_0_everywhere_is_never_sure():
    zeros = np.zeros((60, 1))
    for earlier in (None, zeros):
        bands = fit_bands(
            zeros.astype(np.float32), earlier, np.ones(60), zeros, zeros == 0, least_reach=2.0
        )
        assert np.isinf(bands.deviation).all()
        assert (bands.reach == 2.0).all()


def test_a_linear_filter_of_samples_that_are_all_alike_is_a_number():
    x = np.zeros((20, 3), dtype=np.float32)
    mixed = np.where(np.arange(20) % 2, 1.0, -1.0)[:, None]
    stage = linear_filter(x, mixed, mixed != 0, skip_zeros=False)
    assert np.isfinite(stage.intercept).all()
    assert np.isfinite(stage.estimate(x)).all()


def test_squared_distances_in_place_are_those_of_their_formula_bit_for_bit():
    a, b = X.astype(np.float64), X[:7].astype(np.float64)
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)
    formula = np.maximum(squares - 2 * (a @ b.T), 0.0)
    assert totals(True, a, b).tobytes() == formula.tobytes()


def test_fewer_points_are_fitted_where_each_is_long_and_the_note_says_so():
    assert most_points(784) == most_points(1) == 12_000
    assert most_points(5_000) == 2_500
    assert most_points(10**6) == 2_000
    assert points_left_out(2_500, 5_000) == ()
    assert "2,500 of 2,501 samples" in points_left_out(2_501, 5_000)[0]
