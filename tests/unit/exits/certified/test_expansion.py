"""Expansions about a centre: every number against 60 digits, every bound where it is reached."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import mpmath
import numpy as np
import pytest

from kmcompile.exits.certified import expansion
from kmcompile.exits.certified.eigenvalues import expected_largest, is_below, largest_eigenvalue
from kmcompile.exits.certified.expansion import LARGEST_EXPONENT, Vectors, expand
from kmcompile.exits.certified.expansion_norms import N_SQUARES

mpmath.mp.dps = 60
GAMMA = 0.3
ONE = np.array([0])


@pytest.fixture(params=[False, True], ids=["by pairs", "by moments"], autouse=True)
def by_moments(request, monkeypatch) -> None:
    """Take the norms from pairs of vectors, and from moments as those of many vectors."""
    monkeypatch.setattr(expansion, "by_moments", lambda *_: request.param)


def vectors(n_features: int, n: int = 12, seed: int = 0) -> Vectors:
    """Return vectors with coefficients of both signs."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(n, n_features))
    return Vectors(GAMMA, s, rng.normal(size=(1, n)) * 5)


def order(of: Vectors, centre: np.ndarray, v: np.ndarray, k: int) -> mpmath.mpf:
    """Return one order of h at v, to 60 digits."""
    total = mpmath.mpf(0)
    for beta, s in zip(of.coefficients[0], of.support_vectors, strict=True):
        t = [mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(s, centre, strict=True)]
        inner = sum(a * mpmath.mpf(float(b)) for a, b in zip(t, v, strict=True))
        square = sum(a * a for a in t)
        c = mpmath.mpf(float(beta)) * mpmath.exp(-mpmath.mpf(of.gamma) * square)
        total += (2 * mpmath.mpf(of.gamma)) ** k / factorial(k) * c * inner**k
    return total


@pytest.mark.parametrize("n_features", [1, 4])
def test_the_first_three_orders_are_right_but_for_the_error(n_features):
    of, centre = vectors(n_features), np.full(n_features, 0.25)
    e = expand(of, ONE, centre, 1.0)
    for v in np.random.default_rng(1).normal(size=(5, n_features)) / 4:
        orders = [e.constant[0], v @ e.linear[0], v @ e.quadratic[0] @ v]
        for k, value in enumerate(orders):
            assert abs(order(of, centre, v, k) - value) <= e.error[0]


@pytest.mark.parametrize("k", range(3, 9))
def test_every_order_is_within_its_norm_and_reaches_it_in_one_dimension(k):
    of, centre = vectors(4), np.full(4, 0.25)
    norms = expand(of, ONE, centre, 1.0).norms
    for v in np.random.default_rng(k).normal(size=(20, 4)):
        assert abs(order(of, centre, v, k)) <= norms[0, k - 3] * np.linalg.norm(v) ** k
    line, centre, v = vectors(1), np.array([0.25]), np.array([0.7])
    reached = abs(order(line, centre, v, k)) / (
        expand(line, ONE, centre, 1.0).norms[0, k - 3] * 0.7**k
    )
    assert 0.999 < reached <= 1


@pytest.mark.parametrize("k", range(3, 3 + N_SQUARES))
def test_the_squares_bound_an_order_by_direction(k):
    of, centre = vectors(4), np.full(4, 0.25)
    e = expand(of, ONE, centre, 1.0)
    for v in np.random.default_rng(k).normal(size=(20, 4)):
        size = np.linalg.norm(v)
        inside = v @ e.squares[0, k - 3] @ v + e.squares_error[0, k - 3] * size**2
        assert abs(order(of, centre, v, k)) <= size ** (k - 1) * np.sqrt(inside) * (1 + 1e-12)


@pytest.mark.parametrize("last", [6, 8])
@pytest.mark.parametrize("radius", [0.5, 1.5])
def test_the_powers_bound_all_orders_from_the_third_on(radius, last):
    of, centre = vectors(1), np.array([0.25])
    e = expand(of, ONE, centre, radius)
    r = e.powers(radius, last)[0]
    for v in np.linspace(-radius, radius, 7):
        rest = sum((order(of, centre, np.array([v]), k) for k in range(3, 80)), mpmath.mpf(0))
        assert abs(rest) <= np.polyval([*r[::-1], 0, 0, 0], abs(v))


@pytest.mark.parametrize("by_moments", [False], indirect=True)
def test_the_tail_is_the_norm_of_the_normal_times_that_of_the_powers():
    of, radius = vectors(3), 1.5
    e = expand(of, ONE, np.zeros(3), radius)
    last = e.norms.shape[1] + 2
    s = of.support_vectors
    square = mpmath.mpf(0)
    for a, p in zip(of.coefficients[0], s, strict=True):
        for b, q in zip(of.coefficients[0], s, strict=True):
            distance = sum(
                (mpmath.mpf(float(x)) - mpmath.mpf(float(y))) ** 2
                for x, y in zip(p, q, strict=True)
            )
            square += mpmath.mpf(float(a)) * float(b) * mpmath.exp(-mpmath.mpf(GAMMA) * distance)
    y = 2 * mpmath.mpf(GAMMA) * radius**2
    powers = mpmath.nsum(lambda k: y**k / mpmath.factorial(k), [last + 1, last + 200])
    exact = mpmath.sqrt(square * powers)
    assert 0.9 * e.tail[0] * radius ** (last + 1) < exact <= e.tail[0] * radius ** (last + 1)


def test_the_sum_of_powers_is_at_most_its_first_term_over_the_rest():
    for last in (8, 20):
        for y in (Fraction(1, 2), Fraction(LARGEST_EXPONENT)):
            terms = [y**k / factorial(k) for k in range(last + 1, last + 60)]
            assert sum(terms) <= terms[0] / (1 - y / (last + 2))


def test_a_distant_vector_is_left_out_and_counted():
    """The kernel of a vector beyond is largest at the nearest point within R."""
    radius = 1.0
    distance = radius + np.sqrt(41.0 / GAMMA)
    of = Vectors(GAMMA, np.array([[distance], [0.0]]), np.array([[1e6, 1.0]]))
    e = expand(of, ONE, np.zeros(1), radius)
    assert e.constant[0] == 1.0
    left_out = 1e6 * np.exp(-41.0)
    assert left_out <= e.error[0] <= 2 * left_out


def test_the_error_has_all_that_float64_rounds():
    """The first orders of many vectors, at a centre where nothing is exact."""
    rng = np.random.default_rng(5)
    of = Vectors(GAMMA, rng.normal(size=(60, 2)) + 1000 / 3, rng.normal(size=(1, 60)) * 1e6)
    centre = np.full(2, np.float64(np.float32(1000 / 3)))
    e = expand(of, ONE, centre, 1.0)
    kernels = np.exp(
        -GAMMA * np.maximum(np.linalg.norm(of.support_vectors - centre, axis=1) - 1, 0) ** 2
    )
    # The rounding of a sum of so many numbers, and of what passes have moved the vectors by.
    least = np.abs(of.coefficients[0]) @ kernels * 2.0**-53
    assert e.error[0] >= 60 * least
    moved = np.abs(of.coefficients[0]) @ kernels * 8 * 2.0**-53 * GAMMA * 400
    assert e.error[0] >= moved


def test_the_largest_eigenvalue_is_an_upper_bound():
    rng = np.random.default_rng(0)
    for n in (1, 2, 30):
        values = rng.normal(size=n)
        q, _ = np.linalg.qr(rng.normal(size=(n, n)))
        matrix = (q * values) @ q.T
        bound = largest_eigenvalue((matrix + matrix.T) / 2)
        assert values.max() <= bound <= values.max() + 1e-12


def test_many_decisions_are_expanded_together():
    of = vectors(3)
    both = Vectors(
        GAMMA, of.support_vectors, np.concatenate([of.coefficients, -2 * of.coefficients])
    )
    e = expand(both, np.array([0, 1]), np.zeros(3), 1.0)
    one = expand(both, np.array([1]), np.zeros(3), 1.0)
    for name in ("constant", "linear", "quadratic", "norms", "tail", "squares"):
        np.testing.assert_allclose(getattr(e, name)[1], getattr(one, name)[0], rtol=1e-10)
        size = 4 if name == "squares" else 2
        ratio = np.abs(getattr(e, name)[1]) - size * np.abs(getattr(e, name)[0])
        assert np.abs(ratio).max() <= 1e-8 * np.abs(getattr(e, name)).max()


@pytest.mark.parametrize("n", [5, 150])
def test_the_bound_of_the_largest_eigenvalue_is_close_above_it(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n)) * rng.uniform(0, 1, size=n) ** 3
    for matrix in (root @ root.T, root + root.T, -root @ root.T, np.zeros((n, n)), np.eye(n)):
        largest = np.linalg.eigvalsh(matrix)[-1]
        size = np.abs(matrix).sum(axis=1).max()
        assert largest - 2.0**-40 * size <= largest_eigenvalue(matrix)
        assert largest_eigenvalue(matrix) <= largest + 1e-3 * size


def test_a_bound_below_the_largest_eigenvalue_is_not_proved():
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(40, 40))
    matrix = (matrix + matrix.T) / 2
    largest = np.linalg.eigvalsh(matrix)[-1]
    assert is_below(matrix, largest * (1 + 1e-10))
    assert not is_below(matrix, largest * (1 - 1e-10))


def test_rows_are_summed_over_their_own_vectors_as_over_all():
    """A vector whose coefficient is nearly 0 counts in each row and changes no number much."""
    of, centre = vectors(3, n=14), np.full(3, 0.25)
    both = np.repeat(of.coefficients, 2, axis=0)
    both[0, :5] = both[1, 9:] = 0.0
    tiny = np.where(both == 0, 1e-300, both)
    own = expand(Vectors(GAMMA, of.support_vectors, both), np.arange(2), centre, 1.0)
    whole = expand(Vectors(GAMMA, of.support_vectors, tiny), np.arange(2), centre, 1.0)
    names = ("constant", "linear", "quadratic", "ends", "squares", "norms", "tail")
    for name in names:
        np.testing.assert_allclose(getattr(own, name), getattr(whole, name), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("n", [5, 40])
def test_what_is_expected_of_the_largest_eigenvalue_counts_only_if_it_is_proved(n):
    matrix = np.diag(np.arange(1.0, n + 1))
    assert expected_largest(matrix, n - 1e-6) >= n
    assert expected_largest(matrix, n + 0.5) == pytest.approx(n + 0.5 * (n >= 32))
