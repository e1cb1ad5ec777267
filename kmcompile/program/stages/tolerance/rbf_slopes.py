"""Bounds on rbf decisions over a box of inputs, by the slope of the sum at its middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Bound, Float32Array, RealArray, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.tolerance.box_slopes import OUTWARD, AtX, BoxSlopes


@dataclass(frozen=True, slots=True, eq=False)
class RbfSlopes(BoxSlopes):
    """Bounds on f(x + d) for all |d_i| <= t_i, of a sum of rbf kernels.

    With w_j = beta_j K(s_j, x), so that sum_j w_j = f(x) - b,

        f(x + d) = f(x) + 2 gamma <d, G> + R,   G = sum_j w_j s_j - (f(x) - b) x.

    R is the product of W with phi(x + d) - phi(x) - phi'(x) d in feature space. With u = gamma
    |d|^2, the squares of these three are 1, 1 and 2 u; the first and the second have the product
    exp(-u), the first and the third 2 u exp(-u), the second and the third 0. So the square of the
    vector is 2 + 2 u - 2 exp(-u) - 4 u exp(-u), which increases with u and is at most 3 u^2:
    |R| <= |W| sqrt(3) gamma |t|^2, `bends`. It needs no sum over the vectors, whose second
    derivatives cancel each other where |W| is small beside sum_j |w_j|.

    Rounding. f^ and K^ are the sum's, with |f^ - f| <= B, which bounds sum_j |w_j - w^_j|, too:
    w^_j = beta^_j K^_j of the stored coefficient; so w_j s_j takes B times the largest rho. A
    stored s_j is off by at most e: |theta| e sum_j |w_j|. In (f - b) x, f is off by B, the stored b
    by 2^-24 |b|, x by the deviation delta: B tau + 2^-22 |b| tau + (|f^ - b^| + B) |theta| delta,
    tau = sum_i theta_i |x_i|. The products and additions of G_i round by at most gamma_N (sum_j
    |w_j| |s_ji| + |f - b| |x_i|), N = blocks + lanes + 8: gamma_N (sum_j |w_j| rho_j + |f - b|
    tau) in all.

    The numbers of a query are tau, and |theta| delta, which the deviation of x adds to it.

    Parameters
    ----------
    per_bound : float32
        The largest rho.
    per_weight : float32
        |theta| e.
    per_deviation : float32
        |theta|.
    rounding : float32
        gamma_N.
    """

    per_weight: Bound
    per_deviation: Bound

    template: ClassVar[str] = "rbf"
    of_factors: ClassVar[str] = "K(s_i, x) of the sum's vectors"
    of_scales: ClassVar[str] = "2 gamma"

    def factors(self, total: RealArray, exact: ExactSum) -> Float32Array:
        """Return K(s_j, x) as the sum has it."""
        kernel: Float32Array = exact.kernel.value(total)
        return kernel

    def kept(self, name: str) -> str:
        """Return the C of the factor of a lane."""
        return "value[lane]"

    def numbers(
        self, batch: Batch, exact: ExactSum, distance: Float32Array | None
    ) -> tuple[Float32Array, Float32Array]:
        """Return tau, and what the deviation of x adds to it."""
        extent = np.zeros(len(batch), dtype=np.float32)
        for feature, scale in zip(batch.x.T, self.scales, strict=True):
            extent += scale * magnitude(feature)
        return extent, self.per_deviation * batch.received

    def fixed(
        self, at: AtX, p: int, exact: ExactSum, share: Float32Array, total: Float32Array
    ) -> Float32Array:
        """Return the bound of R and of all errors."""
        bound, extent, moved = at.bound[:, p], at.first, at.second
        size, b = magnitude(self.beside(at, p, exact)), exact.intercept[p]
        of_weights = bound * self.per_bound + total * self.per_weight
        of_sums = (share + size * extent) * self.rounding
        of_x = (size + bound) * moved
        of_f = (bound + magnitude(b) * OUTWARD) * extent + self.least
        errors = (of_weights + of_sums) + (of_x + of_f)
        fixed: Float32Array = (bound + self.bends[p]) + errors
        return fixed

    def beside(self, at: AtX, p: int, exact: ExactSum) -> Float32Array:
        """Return f - b."""
        whole: Float32Array = at.decision[:, p] - exact.intercept[p]
        return whole
