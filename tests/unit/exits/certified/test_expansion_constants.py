"""The stored constants: each is its derivation in exact arithmetic, and no smaller will do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kmcompile.exits.certified.expansion import Expansion, Vectors, expand
from kmcompile.exits.certified.expansion_constants import (
    bend_of,
    curved_rows,
    linear_rows,
    reach_constants,
    stored,
)
from kmcompile.numeric.scalar import exp_negative

U = Fraction(1, 2**24)
GAMMA, RADIUS = 0.3, 1.25
STORAGE = np.array([3e-9])


def gamma(n: int) -> Fraction:
    """Return gamma_n."""
    return n * U / (1 - n * U)


def expansion(n_features: int = 5, n: int = 30) -> Expansion:
    rng = np.random.default_rng(0)
    of = Vectors(GAMMA, rng.normal(size=(n, n_features)), rng.normal(size=(1, n)) * 5)
    return expand(of, np.array([0]), np.full(n_features, 0.25), RADIUS)


def is_tight(value: np.floating, derived: float | Fraction) -> bool:
    """Return whether a constant is at least what was derived, and no larger but for its slack.

    A term of the derivation that is zeroed or halved makes more difference than that.
    """
    return float(derived) <= value <= float(derived) * (1 + 2.0**-17)


@pytest.mark.parametrize("n", [1, 784])
def test_the_constants_of_the_distance_and_the_exponential(n):
    found = reach_constants(GAMMA, n)
    tau = Fraction(exp_negative.RELATIVE_ERROR)
    assert Fraction(float(found["up"])) ** 2 * (1 - gamma(n + 2)) >= 1
    assert is_tight(found["up"], (1 / (1 - float(gamma(n + 2)))) ** 0.5)
    # exp(y) - 1 <= (1 + 2^-6) y for y <= 2^-6: y + y^2 / 2 + ... <= y / (1 - y / 2).
    widest = Fraction(1, 64)
    assert 1 / (1 - widest / 2) <= 1 + widest
    widen = (1 + widest) / (1 - tau)
    relative = tau / (1 - tau) + 3 * U * (1 + widest) + U
    assert is_tight(found["relative"], relative)
    argument = gamma(n + 4) / (1 - gamma(n + 4)) * Fraction(GAMMA)
    assert is_tight(found["relative_per_square"], widen * argument)
    assert is_tight(found["relative_per_reach"], widen * 2 * Fraction(GAMMA))
    assert is_tight(found["result_error"], 2 * U)


def test_the_constants_of_the_linear_form():
    e = expansion()
    n = len(e.centre)
    weights, rows = linear_rows(e, RADIUS, STORAGE)
    constant, curvature, r1, r2, r3, r4, r5, r6, per_deviation, minimum = rows[0].astype(float)
    assert (weights == weights.astype(np.float32)).all()
    length, left = np.linalg.norm(weights[0]), np.linalg.norm(weights[0] - e.linear[0])
    assert is_tight(r1, float(gamma(n + 1)) * length + left)
    values = np.linalg.eigvalsh(e.quadratic[0]) - curvature
    roundings = float(gamma(n + 2)) * (1 + 2.0**-10) + 3 * float(U)
    assert is_tight(r2, np.abs(values).max() + abs(curvature) * roundings)
    for found, derived in zip((r3, r4, r5, r6), e.powers(RADIUS)[0], strict=True):
        assert is_tight(found, derived)
    assert is_tight(per_deviation, length + 2 * RADIUS * abs(curvature))
    exact = e.error[0] + abs(constant - e.constant[0]) + STORAGE[0]
    assert is_tight(minimum, exact)


def test_the_curvature_of_the_linear_form_is_in_the_middle():
    e = expansion()
    values = np.linalg.eigvalsh(e.quadratic[0])
    curvature = linear_rows(e, RADIUS, STORAGE)[1][0, 1]
    assert abs(curvature - (values[0] + values[-1]) / 2) <= 2.0**-24 * abs(curvature)


def basis(n_rows: int, n_features: int) -> np.ndarray:
    q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(n_features, n_features)))
    return np.ascontiguousarray(q[:n_rows].astype(np.float32))


def matrix(triangle: np.ndarray, n: int) -> np.ndarray:
    """Return the symmetric matrix of a stored triangle."""
    upper = np.zeros((n, n))
    upper[np.triu_indices(n)] = triangle
    return (upper + upper.T) / 2


@pytest.fixture(name="curved", params=[1, 3, 5])
def curved_fixture(request):
    """Return an expansion, its basis, Q, P and T, and the constants."""
    e, B = expansion(), basis(request.param, 5)
    forms, rows = curved_rows(e, RADIUS, STORAGE, B, [bend_of(e, 0, B, np.eye(5) / 10)])
    Q, P, T = (matrix(form.astype(np.float64), len(B)) for form in forms[0])
    return e, B.astype(np.float64), (Q, P, T), rows[0].astype(np.float64)


def rounded(B: np.ndarray, *forms: np.ndarray) -> float:
    """Return what the forms round by, per |v|^2."""
    r, n = B.shape
    share = float(2 * gamma(n + 1) + gamma(2 * r + 2)) * (1 + 2.0**-10) + 12 * float(U)
    return share * sum(np.linalg.norm(form) for form in forms) * (B**2).sum()


def test_the_second_order_is_within_its_forms_and_reaches_them(curved):
    e, B, (Q, P, _), (m, _, r2, *_) = curved
    M, n = e.quadratic[0], len(e.centre)
    rest = M - B.T @ Q @ B - m * np.eye(n)
    k = max(np.linalg.eigvalsh(sign * rest - B.T @ P @ B)[-1] for sign in (1, -1))
    roundings = float(gamma(n + 2)) * (1 + 2.0**-10) + 4 * float(U)
    assert is_tight(r2, max(k, 0.0) + rounded(B, Q, P) + abs(m) * roundings)
    for v in np.random.default_rng(2).normal(size=(50, n)):
        y, square = B @ v, v @ v
        assert abs(v @ rest @ v) <= y @ P @ y + r2 * square


def test_the_higher_orders_are_within_their_form_and_reach_it(curved):
    e, B, (_, _, T), (*_, t, _, a4, a5, a6, a7) = curved
    a = np.array([1.0, a4, a5, a6, a7])
    A = np.tensordot(1 / a, e.squares[0], axes=1)
    k = np.linalg.eigvalsh(A - B.T @ T @ B)[-1]
    assert is_tight(t, max(k, 0.0) + e.squares_error[0] @ (1 / a) + rounded(B, T))
    for v in np.random.default_rng(3).normal(size=(50, 5)):
        y, square = B @ v, v @ v
        sides = np.sqrt([v @ part @ v for part in e.squares[0]])
        orders = sides @ np.sqrt(square) ** np.arange(5)
        inside = (a @ square ** np.arange(5)) * (y @ T @ y + t * square)
        assert orders <= np.sqrt(inside)


@pytest.mark.parametrize("r", [4, 16])
def test_the_bounds_of_wide_forms_hold_and_are_within_a_seventh_of_the_least(r):
    """They are what the split of the bound lets expect, proved by Cholesky's factors."""
    n = 40
    e, B = expansion(n, 90), np.linalg.qr(np.random.default_rng(5).normal(size=(n, r)))[0].T
    bend = bend_of(e, 0, B.astype(np.float32), np.eye(n) / n)
    B = B.astype(np.float32).astype(np.float64)
    Q, P, T = bend.forms.astype(np.float64)
    rest = e.quadratic[0] - B.T @ Q @ B - bend.curvature * np.eye(n)
    k = max(np.linalg.eigvalsh(sign * rest - B.T @ P @ B)[-1] for sign in (1, -1))
    assert k <= bend.rest <= 1.15 * k
    A = np.tensordot(1 / np.array([1.0, *bend.shares]), e.squares[0], axes=1)
    t = np.linalg.eigvalsh(A - B.T @ T @ B)[-1]
    assert t <= bend.across <= 1.15 * t


def test_the_shares_of_the_higher_orders_are_the_best_where_v_is_typical():
    """In one dimension Cauchy-Schwarz is an equality there: with half of one it would fail."""
    e = expansion(1)
    length = 0.5
    bend = bend_of(e, 0, basis(1, 1), np.array([[length**2]]))
    _, rows = curved_rows(e, RADIUS, STORAGE, basis(1, 1), [bend])
    a = np.array([1.0, *rows[0, -4:].astype(np.float64)])
    sides = np.sqrt(e.squares[0, :, 0, 0])
    A = e.squares[0, :, 0, 0] @ (1 / a)
    orders = sides @ length ** np.arange(5)
    squares = length ** (2 * np.arange(5))
    bound = np.sqrt((a @ squares) * A)
    assert orders * (1 - 1e-9) <= bound <= orders * (1 + 1e-4)
    for k in range(1, 5):
        halved = a.copy()
        halved[k] /= 2
        assert orders * (1 - 1e-6) > np.sqrt((halved @ squares) * A)


def test_what_an_input_that_is_off_moves(curved):
    e, B, (Q, P, T), (m, r1, _, r8, d, minimum, _, t_deviation, *_) = curved
    weights, rows = linear_rows(e, RADIUS, STORAGE)
    second = (np.linalg.norm(Q) + np.linalg.norm(P)) * (B**2).sum()
    length = np.linalg.norm(weights[0])
    assert is_tight(d, length + RADIUS * (2 * abs(m) + 2.1 * second))
    assert is_tight(t_deviation, 2.1 * RADIUS * np.linalg.norm(T) * (B**2).sum())
    assert r1 == rows[0, 2]
    assert is_tight(r8, e.powers(RADIUS, last=8)[0, -1])
    assert minimum == rows[0, 9]


def test_a_form_rounds_less_than_its_bound():
    """Of <y, Q y> with a rounded y, in exact arithmetic."""
    rng = np.random.default_rng(4)
    r, n = 3, 5
    B = basis(r, n)
    Q = rng.normal(size=(r, r)).astype(np.float32)
    triangle = np.triu(Q + Q.T)[np.triu_indices(r)]
    form = matrix(triangle.astype(np.float64), r)
    for v in rng.normal(size=(50, n)).astype(np.float32):
        y = np.zeros(r, dtype=np.float32)
        for j in range(n):
            y += B[:, j] * v[j]
        total, at = np.float32(0), 0
        for i in range(r):
            inner = np.float32(0)
            for j in range(i, r):
                inner += triangle[at] * y[j]
                at += 1
            total += inner * y[i]
        exact = [
            sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, v, strict=True))
            for row in B
        ]
        value = sum(Fraction(form[i, j]) * exact[i] * exact[j] for i in range(r) for j in range(r))
        bound = rounded(B.astype(np.float64), form) * float(v.astype(np.float64) @ v)
        assert abs(Fraction(float(total)) - value) <= bound


def test_nothing_that_is_stored_is_subnormal():
    values = np.array([1e-40, -1e-40, 1e-37, 0.1])
    assert stored(values).tolist() == [0.0, 0.0, float(np.float32(1e-37)), float(np.float32(0.1))]
