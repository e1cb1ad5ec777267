"""The remainder of kernels in a subspace: each bound holds, and what can be reached is reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kit import catalogue, subspaces
from kmcompile.kernels.remainder import PolyRemainder
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate

Long = np.longdouble


class Exactly:
    """A stage and a prepared batch in extended precision.

    The prepared float32 input is taken as the exact one: its deviation is set to 0.
    """

    def __init__(self, case) -> None:
        emitted = catalogue.emitted(case, "host")
        program = emitted.program
        self.stage = next(s for s in program.stages if isinstance(s, SubspaceCertificate))
        self.exact = program.ends.exact
        batch = program.prepare.run(Batch.of(emitted.queries[:120], 1))
        self.x, self.length = batch.x, batch.length
        self.deviation = np.zeros_like(batch.deviation)
        self.used = self.stage.weights > 0
        self.S = self.exact.columns().T.astype(Long)
        self.beta = self.exact.slot_coefficients(0).astype(Long)
        V = self.stage.products.matrix(self.S.shape[1])
        basis = np.linalg.qr(V.T)[0].astype(Long)
        for _ in range(3):  # Newton's steps to orthonormal columns in extended precision
            basis = basis @ (1.5 * np.eye(basis.shape[1], dtype=Long) - 0.5 * (basis.T @ basis))
        self.across = self.S - (self.S @ basis) @ basis.T
        x = self.x.astype(Long)
        self.outside = x - (x @ basis) @ basis.T
        kernel = emitted.machine.kernel
        self.degree = kernel.degree
        self.u = Long(kernel.gamma) * (x @ self.S.T) + Long(kernel.coef0)
        self.unit = Long(kernel.gamma) / Long(float(self.stage.remainder.gamma))
        self.gamma = Long(kernel.gamma) / self.unit

    def in_subspace(self):
        """Return z, rho, the computed u, values and shares of the C."""
        z = self.stage.products.of(self.x)
        rho = self.stage.outside(z, self.length)
        total, a, b, c = self.stage.remainder.shares(rho, self.length, self.deviation)
        totals = self.stage.totals(z, self.exact)
        value, share = self.stage.remainder.values(totals, a, b, c)
        u = self.stage.remainder.gamma * totals + self.stage.remainder.coef0
        return rho, u, value, share, total


CASES = pytest.mark.parametrize("case", subspaces.CORE, ids=str)


@CASES
def test_rho_is_at_least_what_is_outside_and_little_more(case):
    one = Exactly(case)
    rho = one.in_subspace()[0]
    true = np.sqrt((one.outside**2).sum(axis=1))
    assert (rho >= true).all()
    assert (rho[true > 0.05 * one.length] < 1.05 * true[true > 0.05 * one.length]).all()


@CASES
def test_eta_bounds_what_rounding_adds_to_an_argument(case):
    one = Exactly(case)
    remainder = one.stage.remainder
    u = one.in_subspace()[1].astype(Long)
    across = one.gamma * (one.outside @ one.across.T)
    added = np.abs(one.u / one.unit - u - across)[:, one.used].max(axis=1)
    eta = remainder.per_length * one.length + remainder.minimum
    assert (added <= eta).all()
    assert (np.abs(u).max(axis=1) <= remainder.largest(one.length)).all()


@CASES
def test_the_remainder_of_any_vectors_is_at_most_its_bound(case):
    """What is left of a sum in the subspace, of all vectors and of random parts of them."""
    one = Exactly(case)
    _, u, _, share, total = one.in_subspace()
    d = one.degree
    left = (one.beta * (one.u**d - one.unit**d * u.astype(Long) ** d)).astype(Long)
    weight = (one.stage.weights * share).astype(Long)
    rng = np.random.default_rng(8)
    for share_of_all in (1.0, 0.5, 0.1):
        part = one.used & (rng.uniform(size=len(one.used)) < share_of_all)
        open_ = weight[:, part].sum(axis=1) + total * one.stage.share_minimum
        bound = float(one.stage.remainder_factor) * np.sqrt(total * open_)
        assert (np.abs(left[:, part].sum(axis=1)) <= bound).all()


@pytest.mark.parametrize("degree", [2, 3, 4, 9])
def test_one_vector_in_the_direction_of_the_input_reaches_the_bound(degree):
    """Then every step of the derivation is an equality: beta ((u + e)^d - u^d) = beta U^d T."""
    from kmcompile.exits.certified.lower_subspace import shares

    length, rho, one = 0.25, np.float32([0.5]), np.float32([1.0])
    k = np.arange(1, degree + 1)
    columns = np.array(shares(degree))
    binomials = [float(math.comb(degree, order)) for order in k]
    orders = np.column_stack([np.full(degree, length), np.zeros(degree), binomials, columns])
    zero = np.float32(0.0)
    remainder = PolyRemainder(
        *(np.float32(1.0), zero, np.float32(1.0), degree, orders, zero, zero, zero, zero, zero)
    )
    total, a, b, c = remainder.shares(rho, one, one)
    value, share = remainder.values(one[:, None], a, b, c)
    bound = np.sqrt(total.astype(np.float64) * share[:, 0])
    assert value[0, 0] == 1.0
    assert bound == pytest.approx((1 + length * 0.5) ** degree - 1, rel=1e-5)
