"""Bound the error of a polynomial kernel from its values in a subspace, by one quadratic form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Bound, Float32Array, frozen
from kmcompile.numeric.scalar import power

LEAST_SHARE = np.float32(2.0**-60)
"""Added to the share of every order, so that no product with it underflows before t does."""

ORDER_COLUMNS = 6
"""Columns of a row of `orders`: outside, error, binomial, top, middle, low."""


@dataclass(frozen=True, slots=True, eq=False)
class PolyRemainder:
    """(gamma <s, x> + coef0)^d split into its value in a subspace and a remainder, by orders.

    Let U > 0 be a fixed number, u^_i = gamma' t^_i + coef0' as computed in float32 from the total
    t^_i in the subspace, gamma' = gamma / U, coef0' = coef0 / U, and e_i the real
    (gamma <s_i, x> + coef0) / U less u^_i, all rounding and the input's deviation included. Then

        K_i = U^d (u^_i + e_i)^d = U^d sum_k C(d, k) u^_i^(d - k) e_i^k .

    e_i = gamma' <r_i, x'> + n_i, where r_i and x' are the parts of s_i and x across the subspace
    and |n_i| <= eta is rounding. For any weights delta_i > 0, |delta o e^k|_2 is by Minkowski's
    inequality in l_2k at most E_k = (rho outside_k + eta error_k)^k with

        outside_k = gamma' sigma_k^(1/k), sigma_k^2 = largest eigenvalue of
                    [delta_i <r_i, r_j>^k delta_j], rho >= |x'|,
        error_k = |delta|_2^(1/k) .

    With g_i = (beta_i / delta_i)^2, y_i = u^_i^2, h_k = C(d, k) E_k and any set A of vectors,
    Cauchy-Schwarz twice gives

        |sum_A beta_i (K_i - U^d u^_i^d)| <= U^d sum_k h_k sqrt(sum_A g_i y_i^(d - k))
                                         <= U^d sqrt(T sum_A g_i sum_k h_k y_i^(d - k)),
        T = sum_k h_k .

    The second step is nearly an equality if U is a typical |u^| of the large terms. The powers
    of y between y^(d - 1), y^m, m = floor((d - 1) / 2), and 1 are bounded by those next to them:
    for e = l top + (1 - l) middle, y^e <= l y^top + (1 - l) y^middle (weighted means). So

        sum_k h_k y^(d - k) <= a y^(d - 1) + b y^m + c,

    a, b, c being the sums of h_k with the columns top, middle and low of `orders` (Higham's
    gamma_(2 d) of rounding is in the constants, which are rounded up by 2^-18).

    Parameters
    ----------
    gamma, coef0 : float32
        gamma', coef0'.
    scale : float32
        U^d.
    degree : int
        d, at least 2.
    orders : ndarray of shape (degree, 6), float32
        A row an order k = 1 .. d: outside_k, error_k, C(d, k), top, middle, low.
    per_length, per_deviation, minimum : float32
        eta = per_length |x| + per_deviation |dx| + minimum.
    largest_per_length, largest_minimum : float32
        |u^_i| <= largest_per_length |x| + largest_minimum.
    """

    gamma: np.float32
    coef0: np.float32
    scale: np.float32
    degree: int
    orders: Float32Array
    per_length: Bound
    per_deviation: Bound
    minimum: Bound
    largest_per_length: Bound
    largest_minimum: Bound

    name: ClassVar[str] = "poly_remainder"

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", frozen(self.orders, np.float32))
        if self.orders.shape != (self.degree, ORDER_COLUMNS):
            raise ValueError("a remainder has a row for each order")

    @property
    def top(self) -> int:
        """The exponent of the highest power of y."""
        return self.degree - 1

    @property
    def middle(self) -> int:
        """The exponent m of the middle power of y."""
        return (self.degree - 1) // 2

    @property
    def is_even(self) -> bool:
        """Whether the degree is even, so that d - 1 = 2 m + 1."""
        return self.degree % 2 == 0

    def shares(
        self, rho: Float32Array, length: Float32Array, deviation: Float32Array
    ) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array]:
        """Return T, a, b and c of each query, each of shape (n_queries,), float32."""
        eta = (self.per_length * length + self.per_deviation * deviation) + self.minimum
        sums = np.zeros((4, len(rho)), dtype=np.float32)
        for k, (outside, error, binomial, *columns) in enumerate(self.orders, start=1):
            base = rho * outside + eta * error
            share = binomial * base
            for _ in range(k - 1):
                share = share * base
            share = share + LEAST_SHARE
            sums[0] += share
            for column, factor in enumerate(columns, start=1):
                sums[column] += share * factor
        return sums[0], sums[1], sums[2], sums[3]

    def largest(self, length: Float32Array) -> Float32Array:
        """Return a bound on |u^_i| of each query."""
        return self.largest_per_length * length + self.largest_minimum

    def values(
        self, total: Float32Array, a: Float32Array, b: Float32Array, c: Float32Array
    ) -> tuple[Float32Array, Float32Array]:
        """Return U^d u^^d and a y^(d - 1) + b y^m + c for every total."""
        u = self.gamma * total + self.coef0
        y = u * u
        t = power.power(y, self.middle)
        top = a[:, None] * t
        if self.is_even:
            top = top * y
        share = (top + b[:, None]) * t + c[:, None]
        value = self.scale * (t * (y if self.is_even else u))
        return value, share

    @property
    def share_operations(self) -> int:
        """Multiply-adds of T, a, b and c."""
        return 4 + self.degree * (7 + self.degree // 2)

    @property
    def value_operations(self) -> int:
        """Multiply-adds of one value and its share of the bound: u, y, t, form and value."""
        return 2 + len(power.power_steps(self.middle)) + 2 + self.is_even + 2
