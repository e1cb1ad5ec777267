"""From a subspace and weights to a subspace certificate whose constants hold in the C."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.exits.certified.hadamard import largest_eigenvalues
from kmcompile.kernels import Polynomial
from kmcompile.kernels.remainder import PolyRemainder
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array, lane_blocks
from kmcompile.numeric.rounding import (
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    bound_constant,
    bound_constants,
    gamma_factor,
    stored_error,
)
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, InnerProducts, Nonzeros
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate

_UP = 1 + 1e-6
"""Covers float64's rounding of norms, sums and eigenvalues, with a large margin."""


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """A subspace (rows V^), the vectors' coordinates in it as stored, and upper bounds on both.

    Parameters
    ----------
    products : InnerProducts
        The rows V^ of the subspace.
    projected : ndarray of shape (n_slots, p), float64
        The coordinates s^, float32 values: a support vector s is nearly V^T s^.
    delta : ndarray of shape (n_slots,), float64
        Weight of each slot's error; positive, and so large that no beta / delta exceeds 1.
    beta : ndarray of shape (n_slots,), float64
        Upper bound on the trained |beta| of each slot; 0 for a padding slot.
    eigenvalues : ndarray of shape (degree,), float64
        Largest eigenvalue of [delta_i <r_i, r_j>^k delta_j], for k = 1 .. degree.
    norm : float
        |V^|_2.
    zeta : float
        gamma_n |V^|_F: the error of z^ relative to |x|.
    longest, longest_projected, along : float
        Largest |s_i|, largest |s^_i|, and largest |P (s_i - V^T s^_i)|.
    """

    products: InnerProducts
    projected: Float64Array
    delta: Float64Array
    beta: Float64Array
    eigenvalues: Float64Array
    norm: float
    zeta: float
    longest: float
    longest_projected: float
    along: float

    @classmethod
    def of(
        cls, program: Program, directions: Float64Array, delta: Float64Array, degree: int
    ) -> Subspace:
        """Return the subspace with the given directions and a program's vectors in it.

        Parameters
        ----------
        directions : ndarray of shape (p, n_features), float64
            Orthonormal rows.
        delta : ndarray of shape (n_slots,), float64
            Weights of the slots' errors, up to a common factor.
        """
        exact = program.ends.exact
        assert isinstance(exact, ExactSum)
        vectors = exact.columns().T.astype(np.float64)
        beta = np.abs(exact.slot_decisions()[:, 0].astype(np.float64))
        beta = np.where(beta > 0, beta * (1 + 2 * UNIT_ROUNDOFF) + SMALLEST_NORMAL, 0.0)
        delta = delta * (beta / delta).max()
        products = _products(program, directions, vectors)
        V = products.matrix(vectors.shape[1])
        solved = np.linalg.lstsq(V.T, vectors.T, rcond=None)[0].T
        projected: Float64Array = solved.astype(np.float32).astype(np.float64)
        basis: Float64Array = np.linalg.qr(V.T)[0]
        inside = vectors @ basis
        across = (vectors - inside @ basis.T)[beta > 0]
        # A feature that no row uses adds no rounding error.
        n_seen = int(np.count_nonzero(np.abs(V).sum(axis=0)))
        return cls(
            products=products,
            projected=projected,
            delta=delta,
            beta=beta,
            eigenvalues=largest_eigenvalues(across, delta[beta > 0], degree),
            norm=float(np.linalg.norm(V, 2)) * _UP,
            zeta=gamma_factor(n_seen) * float(np.linalg.norm(V)) * _UP,
            longest=_longest(vectors),
            longest_projected=_longest(projected),
            along=_longest(inside - (projected @ V) @ basis) + 1e-12 * _longest(vectors),
        )

    @property
    def delta_length(self) -> float:
        """Norm |delta|_2 over the slots that have a coefficient."""
        return float(np.sqrt((self.delta[self.beta > 0] ** 2).sum())) * _UP

    @property
    def reach(self) -> float:
        """Upper bound on |z^| / |x|."""
        return self.norm + self.zeta


def _products(program: Program, directions: Float64Array, vectors: Float64Array) -> InnerProducts:
    """Return the products with the directions, over features that are nonzero in some vector."""
    if any(isinstance(stage, Nonzeros) for stage in program.stages):
        return InnerProducts.of_rows(directions, skip_zeros=True)
    seen = np.flatnonzero(np.abs(vectors).sum(axis=0))
    if len(seen) == vectors.shape[1]:
        return InnerProducts.of_rows(directions, skip_zeros=False)
    return InnerProducts.of_rows(directions[:, seen], skip_zeros=False, columns=seen)


def lower_subspace(
    machine: KernelMachine, program: Program, subspace: Subspace, unit: float, max_touched: int
) -> SubspaceCertificate:
    """Return the stage; `SubspaceCertificate` and `PolyRemainder` derive its constants.

    A trained vector differs from its stored one by `stored_error`, which is part of eta. beta
    differs by 2^-24 of itself, or by the smallest normal number where beta is subnormal.

    Parameters
    ----------
    machine : KernelMachine
        Binary, after the passes, with a polynomial kernel of degree 2 or more.
    program : Program
        The exact program, without early exits.
    subspace : Subspace
    unit : float
        The unit U: a typical |gamma <s, x> + coef0| of the terms that matter.
    max_touched : int
    """
    exact, kernel = program.ends.exact, machine.kernel.polynomial
    assert isinstance(exact, ExactSum)
    beta, delta, v = subspace.beta, subspace.delta, subspace.reach
    n_slots, d, p = exact.n_slots, kernel.degree, subspace.products.n_rows
    longest = exact.n_blocks + exact.lanes + exact.n_groups
    scale = unit**d
    slack = 2 * subspace.zeta * v + 8 * UNIT_ROUNDOFF
    slack += (gamma_factor(p + 2) + max(0.0, 1 - subspace.norm**-2)) * v**2 * 1.01
    rounding = 2 * gamma_factor(longest + 2 * d + 12) * scale * subspace.delta_length
    underflow = (beta.sum() + n_slots) * (2 * d + 8) * (1 + scale) * SMALLEST_NORMAL
    constant = float(exact.minimum[0]) + 2 * UNIT_ROUNDOFF * abs(float(exact.intercept[0]))
    stored = stored_error(machine.support_vectors, machine.support_vectors.astype(np.float32))
    return SubspaceCertificate(
        remainder=_remainder(kernel, unit, subspace, stored),
        products=subspace.products,
        vectors=lane_blocks(subspace.projected, exact.lanes),
        weights=np.where(beta > 0, bound_constants((beta / delta) ** 2), np.float32(0.0)),
        max_touched=max_touched,
        slack=bound_constant(slack * _UP),
        remainder_factor=bound_constant(scale * (1 + 2 * gamma_factor(2 * d + 12)) * _UP),
        lost=bound_constant(2 * gamma_factor(longest + 2 * d + 12 + max_touched)),
        share_minimum=bound_constant(n_slots * (4 * d + 8) * SMALLEST_NORMAL),
        rounding=bound_constant(rounding * _UP),
        error_factor=bound_constant(1 + 2 * gamma_factor(max_touched + 8)),
        moved_factor=bound_constant(4 * UNIT_ROUNDOFF),
        result_error=bound_constant(8 * UNIT_ROUNDOFF),
        minimum=bound_constant(constant + underflow),
    )


def _longest(rows: Float64Array) -> float:
    return float(np.sqrt((rows**2).sum(axis=1).max())) * _UP


def _remainder(kernel: Polynomial, unit: float, subspace: Subspace, stored: float) -> PolyRemainder:
    """Return the remainder's constants.

    The computed u^ differs from gamma' <s_i, x> + coef0' - gamma' <r_i, x'> by at most the sum of

    - gamma' |s^_i| zeta |x^|, as z^ is off V^ x^ by at most zeta |x^|;
    - gamma' gamma_p |s^_i| |z^|, the sum of t^, |z^| <= (|V^|_2 + zeta) |x^| = v |x^|;
    - gamma' (|P (s_i - V^T s^_i)| + |s_i - stored s_i|) |x^|, gamma' |s_i| |x - x^|;
    - 5 u gamma' |t^| + 3 u |coef0'| for gamma', coef0', product and addition;
    - underflow of n products in each of the p sums of z^, of p products in the sum t^, and of u^.

    The 1e-12 |s_i| in `along` covers the rounding in float64.

    Parameters
    ----------
    stored : float
        Largest distance between a trained vector and its stored value.
    """
    d, u = kernel.degree, UNIT_ROUNDOFF
    gamma, coef0 = abs(kernel.gamma) / unit, kernel.coef0 / unit
    p, n = subspace.products.n_rows, subspace.products.n_used
    S, v = subspace.longest_projected, subspace.reach
    total = (1 + gamma_factor(p)) * S * v
    per_length = S * subspace.zeta + gamma_factor(p) * S * v + subspace.along + stored
    tiny = 2 * SMALLEST_NORMAL * (gamma * (S * n * math.sqrt(p) + p) + 4)
    k = np.arange(1, d + 1)
    orders = np.column_stack(
        [
            gamma * (np.sqrt(subspace.eigenvalues) * _UP) ** (1 / k),
            subspace.delta_length ** (1 / k),
            [float(math.comb(d, order)) for order in k],
            np.array(shares(d)),
        ]
    )
    return PolyRemainder(
        gamma=np.float32(kernel.gamma / unit),
        coef0=np.float32(coef0),
        scale=np.float32(unit**d),
        degree=d,
        orders=np.where(orders == 0, np.float32(0.0), bound_constants(orders * _UP)),
        per_length=bound_constant(gamma * (per_length + 5 * u * total) * _UP),
        per_deviation=bound_constant(gamma * (subspace.longest + stored) * _UP),
        minimum=bound_constant(3 * u * abs(coef0) + tiny),
        largest_per_length=bound_constant(gamma * total * _UP),
        largest_minimum=bound_constant(abs(coef0) * _UP + tiny),
    )


def shares(degree: int) -> list[tuple[float, float, float]]:
    """Return, for y^(d - k), k = 1 .. d, a bound: factors of y^(d - 1), y^m, 1; m = (d - 1) // 2.

    Examples
    --------
    >>> shares(3)
    [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    >>> shares(5)[1]
    (0.5, 0.5, 0.0)
    """
    top, middle = degree - 1, (degree - 1) // 2
    rows = []
    for exponent in range(top, -1, -1):
        if exponent >= middle:
            part = (exponent - middle) / (top - middle)
            rows.append((part, 1 - part, 0.0))
        else:
            part = exponent / middle
            rows.append((0.0, part, 1 - part))
    return [row if degree > 2 else (row[0], 0.0, row[1] + row[2]) for row in rows]
