"""Polynomial machines multiplied out, against rationals."""

from __future__ import annotations

from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

from kmcompile.kernels import Poly, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.passes.expand_polynomial import (
    LARGEST_DEGREE,
    can_expand,
    expand_polynomial,
    monomials,
    n_monomials,
)


def machine_of(degree: int, n_classes: int = 2, coef0: float = 0.7, n: int = 3) -> KernelMachine:
    rng = np.random.default_rng(degree)
    m, pairs = 12, n_classes * (n_classes - 1) // 2
    many = n_classes > 2
    return KernelMachine(
        kind="SVC",
        task=Task.ONE_VS_ONE if many else Task.BINARY,
        kernel=Poly(gamma=0.3, coef0=coef0, degree=degree),
        support_vectors=rng.normal(size=(m, n)),
        dual_coef=rng.normal(size=(n_classes - 1, m)),
        intercept=rng.normal(size=pairs),
        classes=tuple(range(n_classes)),
        class_counts=(m // n_classes,) * n_classes if many else (),
        n_features=n,
    )


def rationals(values: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(v)) for v in row] for row in values]


def value(machine: KernelMachine, p: int, x: list[Fraction]) -> Fraction:
    kernel = machine.kernel
    total = Fraction(float(machine.intercept[p]))
    betas = rationals(decision_coefficients(machine))[p]
    for s, beta in zip(rationals(machine.support_vectors), betas, strict=True):
        inner = sum(a * b for a, b in zip(s, x, strict=True))
        total += beta * (Fraction(kernel.gamma) * inner + Fraction(kernel.coef0)) ** kernel.degree
    return total


@pytest.mark.parametrize("degree", range(1, LARGEST_DEGREE + 1))
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_a_monomial_comes_before_its_multiples_and_no_factor_rises(degree, n_features):
    order = monomials(n_features, degree)
    assert len(order) == len(set(order)) == n_monomials(n_features, degree)
    assert order == sorted(order)
    assert all(list(factors) == sorted(factors)[::-1] for factors in order)


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("coef0", [0.7, 0.0, -1.5])
@pytest.mark.parametrize("degree", range(1, LARGEST_DEGREE + 1))
def test_the_polynomials_are_the_decisions(degree, coef0, n_classes):
    """As polynomials: both sides have degree 6 at most, and are compared at enough points."""
    machine = machine_of(degree, n_classes, coef0)
    made = expand_polynomial(machine)
    order = monomials(3, degree)
    coefficients, low = rationals(made.coefficients), rationals(made.low)
    rng = np.random.default_rng(0)
    for x in rationals(rng.integers(-8, 8, size=(comb(3 + degree, degree), 3)) / 4):
        powers = [prod((x[j] for j in factors), start=Fraction(1)) for factors in order]
        length = float(sum(v**2 for v in x)) ** 0.5
        for p in range(machine.n_decisions):
            got = Fraction(float(made.constant[p])) + Fraction(float(made.constant_low[p]))
            terms = zip(coefficients[p], low[p], powers, strict=True)
            got += sum((high + rest) * power for high, rest, power in terms)
            error = float(abs(got - value(machine, p, x)))
            allowed = sum(made.error[p, k] * length**k for k in range(degree + 1))
            assert error <= allowed
            assert error <= 1e-26 * (1 + length) ** degree


def test_cancelling_coefficients_keep_their_digits():
    """Two vectors a millionth apart: the sums lose 7 digits and more, the coefficients none."""
    machine = machine_of(3)
    s = machine.support_vectors
    near = np.concatenate([s, s * (1 + 2.0**-20)])
    beta = np.concatenate([machine.dual_coef, -machine.dual_coef], axis=1)
    made = expand_polynomial(
        KernelMachine(
            kind="SVC",
            task=Task.BINARY,
            kernel=machine.kernel,
            support_vectors=near,
            dual_coef=beta,
            intercept=machine.intercept,
            classes=(0, 1),
            n_features=3,
        )
    )
    vectors, betas = rationals(near), rationals(beta)[0]
    gamma, coef0 = Fraction(0.3), Fraction(0.7)
    for t, factors in enumerate(monomials(3, 3)):
        k, orderings = len(factors), int(made.orderings[t])
        total = sum(
            beta * prod((s[j] for j in factors), start=Fraction(1))
            for s, beta in zip(vectors, betas, strict=True)
        )
        want = comb(3, k) * coef0 ** (3 - k) * gamma**k * orderings * total
        assert made.coefficients[0, t] == pytest.approx(float(want), rel=2.0**-52)


def test_weighted_norms_bound_the_sum_of_magnitudes():
    made = expand_polynomial(machine_of(4))
    norms, order = made.weighted_norms(made.coefficients)[0], monomials(3, 4)
    for x in np.random.default_rng(1).normal(size=(50, 3)):
        powers = np.array([np.prod(x[list(factors)]) for factors in order])
        sizes = np.abs(made.coefficients[0] * powers)
        for k, norm in enumerate(norms, start=1):
            assert sizes[made.degrees == k].sum() <= norm * np.linalg.norm(x) ** k


@pytest.mark.parametrize(
    ("kernel", "scale", "wanted"),
    [
        (Poly(0.3, 0.7, 4), 1.0, True),
        (Poly(0.3, 0.0, 1), 1.0, True),
        (Poly(0.3, 0.7, 6), 1.0, True),
        (Poly(0.3, 0.7, 7), 1.0, False),
        (Poly(0.3, 0.7, 0), 1.0, False),
        (Poly(1e-60, 0.7, 3), 1.0, False),
        (Poly(0.3, 0.7, 3), 1e-50, False),
        (Rbf(0.3), 1.0, False),
    ],
)
def test_what_can_be_multiplied_out(kernel, scale, wanted):
    machine = machine_of(3)
    machine = KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=machine.support_vectors * scale,
        dual_coef=machine.dual_coef,
        intercept=machine.intercept,
        classes=(0, 1),
        n_features=3,
    )
    assert can_expand(machine) is wanted
