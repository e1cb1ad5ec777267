"""Every constant of a subspace certificate against its derivation, from both sides.

Half of a constant fails here, and so does twice of it: what is derived is worked out once more, in
extended precision, from what the program stores.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from kit import catalogue, subspaces
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate
from kmcompile.program.stages.early_exits.subspace_state import SubspaceState

Long = np.longdouble
U = 2.0**-24
CASES = pytest.mark.parametrize("case", subspaces.CORE, ids=str)


def gamma_of(n: float) -> float:
    return n * U / (1 - n * U)


class Stored:
    """What a program stores of a stage, in extended precision."""

    def __init__(self, case) -> None:
        emitted = catalogue.emitted(case, "host")
        self.machine, self.exact = emitted.machine, emitted.program.ends.exact
        stages = emitted.program.stages
        self.stage = next(s for s in stages if isinstance(s, SubspaceCertificate))
        self.remainder = self.stage.remainder
        kernel = self.machine.kernel
        self.degree, self.p = kernel.degree, self.stage.n_out
        self.unit = float(self.remainder.scale) ** (1 / self.degree)
        self.gamma, self.coef0 = kernel.gamma / self.unit, kernel.coef0 / self.unit
        self.S = self.exact.columns().T.astype(np.float64)
        self.V = self.stage.products.matrix(self.S.shape[1])
        self.projected = (
            self.stage.vectors.transpose(0, 2, 1).reshape(-1, self.p).astype(np.float64)
        )
        self.beta = np.abs(self.exact.slot_coefficients(0).astype(np.float64))
        self.used = self.beta > 0
        self.delta = self.beta[self.used] / np.sqrt(self.stage.weights[self.used].astype(float))
        self.norm = np.linalg.norm(self.V, 2)
        self.zeta = gamma_of(np.count_nonzero(np.abs(self.V).sum(axis=0))) * np.linalg.norm(self.V)
        basis = np.linalg.qr(self.V.T)[0]
        self.across = (self.S - (self.S @ basis) @ basis.T)[self.used]
        self.along = (self.S - self.projected @ self.V) @ basis
        self.longest = np.linalg.norm(self.S, axis=1).max()
        self.longest_projected = np.linalg.norm(self.projected, axis=1).max()

    @property
    def roundings(self) -> int:
        """Those of the longest way through a sum over the vectors."""
        return self.exact.n_blocks + self.exact.lanes + self.exact.n_groups


def near(constant: float, derived: float) -> bool:
    """Return whether a constant is what is derived, or up to twice of it."""
    return derived <= float(constant) < 2 * derived


@CASES
def test_weights_are_squares_of_beta_over_delta_and_at_most_one(case):
    weights = Stored(case).stage.weights
    assert weights.max() <= 1 + 2.0**-17
    assert ((weights > 0) == Stored(case).used).all()


@CASES
def test_slack_covers_norm_projection_and_both_sums(case):
    one = Stored(case)
    v = one.norm + one.zeta
    skew = max(0.0, 1 - one.norm**-2)
    derived = 2 * one.zeta * v + (gamma_of(one.p + 1) + skew) * v**2 + 4 * U
    assert near(one.stage.slack, derived)


@CASES
def test_orders_are_norms_of_hadamard_powers(case):
    one = Stored(case)
    gram = one.across @ one.across.T
    for k, (outside, error, binomial, *columns) in enumerate(one.remainder.orders, start=1):
        matrix = one.delta[:, None] * gram**k * one.delta
        sigma = np.sqrt(np.linalg.eigvalsh(matrix)[-1])
        assert near(outside, one.gamma * sigma ** (1 / k) * (1 - 1e-5))
        assert near(error, np.sqrt((one.delta**2).sum()) ** (1 / k) * (1 - 1e-5))
        assert near(binomial, math.comb(one.degree, k))
        assert 1 <= sum(columns) < 1 + 2.0**-16


@CASES
def test_eta_covers_each_rounding_of_an_argument(case):
    one = Stored(case)
    S, v = one.longest_projected, one.norm + one.zeta
    stored = np.linalg.norm(
        one.machine.support_vectors - one.machine.support_vectors.astype(np.float32), axis=1
    ).max()
    along = np.linalg.norm(one.along, axis=1).max()
    arithmetic = 4 * U * (1 + gamma_of(one.p)) * S * v
    parts = S * one.zeta + gamma_of(one.p) * S * v + along + stored + arithmetic
    assert near(one.remainder.per_length, one.gamma * parts * (1 - 1e-5))
    assert near(one.remainder.per_deviation, one.gamma * one.longest * (1 - 1e-5))
    assert float(one.remainder.minimum) >= 2 * U * abs(one.coef0)
    assert float(one.remainder.minimum) < 4 * U * abs(one.coef0) + 1e-30
    assert near(one.remainder.largest_per_length, one.gamma * S * v * (1 - 1e-5))


@CASES
def test_what_is_lost_covers_additions_and_one_subtraction_a_kernel(case):
    one = Stored(case)
    roundings = one.exact.n_blocks + one.exact.lanes + case.max_touched
    assert float(one.stage.lost) >= gamma_of(roundings) * (1 + 1e-3)
    assert float(one.stage.lost) < 2 * gamma_of(roundings + one.exact.n_groups + 60) * 1.001


@CASES
def test_rounding_covers_the_first_sum_and_what_is_taken_off_again(case):
    one = Stored(case)
    most = one.roundings + one.degree + 5
    unit = float(one.remainder.scale) * np.sqrt((one.delta**2).sum()) * (1 - 1e-5)
    assert float(one.stage.rounding) >= 2 * gamma_of(most) * unit
    assert float(one.stage.rounding) < 2 * gamma_of(2 * most + 12) * unit


@CASES
def test_minimum_is_at_least_the_exact_sums_and_covers_underflow(case):
    one = Stored(case)
    intercept = abs(float(one.exact.intercept[0]))
    most_underflow = (one.beta.sum() + len(one.beta)) * (one.degree + 4) * 2.0**-126
    derived = float(one.exact.minimum[0]) + U * intercept + most_underflow
    assert near(one.stage.minimum, derived)
    weight_roundings = 2 * (one.degree - 1) + 4
    assert float(one.stage.share_minimum) >= len(one.beta) * weight_roundings * 2.0**-126


def state(**values: float) -> SubspaceState:
    """Return a state with some values, 0 elsewhere."""
    names = ("running", "share", "open", "whole", "fixed", "error", "moved")
    return SubspaceState(*(np.float32([values.get(name, 0.0)]) for name in names))


TERMS = [
    ({"share": 2.0, "open": 8.0}, lambda one: 4.0 * one.unit**one.degree),
    ({"share": 2.0, "whole": 8.0}, lambda one: 4.0 * np.sqrt(lost(one)) * one.unit**one.degree),
    ({"fixed": 3.0}, lambda one: 3.0),
    ({"error": 5.0}, lambda one: 5.0),
    ({"moved": 1e8}, lambda one: 2e8 * U),
    ({"running": 1e8}, lambda one: 3e8 * U),
    ({"share": 1e-30}, lambda one: np.sqrt(1e-30 * float(one.stage.share_minimum))),
]


def lost(one: Stored) -> float:
    return gamma_of(one.exact.n_blocks + one.exact.lanes)


@pytest.mark.parametrize("values", [values for values, _ in TERMS], ids=str)
@CASES
def test_each_part_of_the_state_widens_the_radius(case, values):
    one = Stored(case)
    derived = next(f for own, f in TERMS if own is values)(one)
    assert float(one.stage.radius(state(**values))[0]) >= derived * (1 - 1e-6)


@CASES
def test_a_negative_rest_of_weights_counts_as_none(case):
    one = Stored(case)
    negative, none = (state(share=1.0, open=v, whole=1.0) for v in (-1.0, 0.0))
    assert one.stage.radius(negative)[0] == one.stage.radius(none)[0]


@CASES
def test_the_fixed_part_is_rounding_of_the_largest_sum_that_the_weights_allow(case):
    one = Stored(case)
    whole, top, length = (np.float32([v]) for v in (9.0, 0.25, 2.0))
    derived = float(one.stage.rounding) * float(one.remainder.largest(length)[0]) * 6.0
    fixed = float(one.stage.fixed(whole, top, length)[0])
    assert derived + float(one.stage.minimum) <= fixed * (1 + 1e-6)
    assert fixed < 1.01 * derived + float(one.stage.minimum)
