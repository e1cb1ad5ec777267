"""Bounds on polynomial decisions over a box of inputs, by the slope of the sum at its middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from kmcompile.kernels.poly import PolyFloat32
from kmcompile.numeric.arrays import BoundArray, Float32Array, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar import power
from kmcompile.program.laid import Layout
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.tolerance.box_distance import growth
from kmcompile.program.stages.tolerance.box_slopes import AtX, BoxSlopes


@dataclass(frozen=True, slots=True, eq=False)
class PolySlopes(BoxSlopes):
    """Bounds on f(x + d) for all |d_i| <= t_i, of a sum of powers v_j^p, v_j = gamma <s_j, x> + c.

    With w_j = beta_j v_j^(p - 1),

        f(x + d) = f(x) + p gamma <d, G> + R,   G = sum_j w_j s_j.

    R is the sum of the orders m >= 2 of d. About a fixed centre z, with x = z + y,

        R = sum_(m >= 2) sum_k p! / (m! k! (p - m - k)!) gamma^(m + k)
            sum_j beta_j v_j(z)^(p - m - k) <s_j, d>^m <s_j, y>^k,

    where each sum over the vectors, signs included, is a form in d and y whose largest value over
    the box and over |y| = 1 is bounded when the program is made
    (`kmcompile/lower/box_polynomial.py`). So |R| is at most a polynomial in D >= |x - z| of degree
    p - 2: `bends` is its constant, `growths` has its other coefficients.

    Rounding. v^_j is off by at most r, the kernel's own bound of the error of v, which holds for
    the deviation of x, too. |v^(p - 1) - v^^(p - 1)| <= (p - 1) r u^(p - 2), u = |v^| + r, by the
    mean value theorem. For p > 2, u^(p - 2) <= u^(p - 1) / q + q^(p - 2) with any q > 0. The
    decision's bound B is at least sum_j |beta_j| p r u_j^(p - 1). So the errors of the weights add
    (p - 1) / (p q) max(rho) B + (p - 1) q^(p - 2) r sum_j |beta_j| rho_j: `per_bound` and
    `per_argument`. The stored s_j and beta_j, the power and the sums round by gamma_N sum_j |w_j|
    rho_j, N = blocks + lanes + p + 12.

    The numbers of a query are r, and D.

    Parameters
    ----------
    growths : ndarray of shape (n_decisions, degree - 2), float32
        Highest power first.
    """

    growths: Annotated[
        BoundArray,
        Layout(
            "What box_bends grows by with the distance's powers: [decision][power]",
            ("N_DECISIONS", ""),
            name="box_bend_growths",
            where="growths.size",
        ),
    ]
    per_argument: Annotated[
        BoundArray,
        Layout(
            "What a slope is off per error of gamma <s, x> + coef0: [decision]",
            ("N_DECISIONS",),
            name="box_errors",
        ),
    ]

    template: ClassVar[str] = "poly"
    order_in_c: ClassVar[tuple[str, ...]] = (
        *("scales", "columns", "reaches", "bends", "per_argument"),
    )
    of_factors: ClassVar[str] = "(gamma <s_i, x> + coef0)^(degree - 1)"
    of_scales: ClassVar[str] = "degree gamma"

    def factors(self, total: RealArray, exact: ExactSum) -> Float32Array:
        """Return v^(p - 1)."""
        kernel = exact.kernel
        assert isinstance(kernel, PolyFloat32)
        factors: Float32Array = power.power(kernel.argument(total), kernel.degree - 1)
        return factors

    def kept(self, name: str) -> str:
        """Return the C of the factor of a lane."""
        power_of = f"{name}_{power.power_view(self.growths.shape[1] + 1).function}"
        return f"{power_of}(\n            {name}_kernel_argument(total[lane]))"

    def numbers(
        self, batch: Batch, exact: ExactSum, distance: Float32Array | None
    ) -> tuple[Float32Array, Float32Array]:
        """Return r and D."""
        kernel = exact.kernel
        assert isinstance(kernel, PolyFloat32) and distance is not None
        return kernel.argument_error(batch.length, batch.received), distance

    def fixed(
        self, at: AtX, p: int, exact: ExactSum, share: Float32Array, total: Float32Array
    ) -> Float32Array:
        """Return the bound of R and of all errors."""
        bound = at.bound[:, p]
        bend = self.bends[p] + growth(at.second, self.growths[p])
        of_weights = bound * self.per_bound + at.first * self.per_argument[p]
        of_sums = share * self.rounding + self.least
        fixed: Float32Array = (bound + bend) + (of_weights + of_sums)
        return fixed

    def beside(self, at: AtX, p: int, exact: ExactSum) -> None:
        """Return None: all of the slope is in the sum."""
        return None
