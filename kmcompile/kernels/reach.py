"""The reach of a query in feature space: bounds that hold for all of its kernel values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.chi2 import Chi2Float32
from kmcompile.kernels.exponential import ExponentialFloat32
from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.kernels.laplacian import LaplacianFloat32
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, bound_constant, gamma_factor
from kmcompile.numeric.scalar import exp_negative, power


class Reach(ABC):
    """Bounds on K(x, x) and on the error of a kernel value, for a positive definite kernel.

    The bounds are those of a lowered kernel whose context has no `sum_error`. `vector_error` is 0
    if the stored vectors are taken as exact.
    """

    name: ClassVar[str]
    """Name of the template in `templates/bound_sequence/`."""

    kernels: ClassVar[tuple[type[Float32Kernel], ...]]
    """The lowered kernels whose reach this is."""

    @abstractmethod
    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return upper bounds on K(x, x) and on |K^(z, x) - K(z, x)| for the exact input x.

        Returns
        -------
        square, error : ndarray of shape (n_queries,), float32
        """


@dataclass(frozen=True, slots=True, eq=False)
class RbfReach(Reach):
    """The reach for rbf: K(x, x) = 1, and the largest error of `RbfFloat32`.

    k^ (per_value + per_z z) with k^ <= exp(-z) (1 + tau): exp(-z) <= 1 and z exp(-z) <= 1 / e, so
    per_value + per_z / e is an upper bound; `per_z` here has 1 / e and 1 + tau in it. With
    widen = 1 + z_error cutoff + shift it is value_error + widen (shift + per_z). Where the
    kernel's own bound is not usable (widen > 2) the error is 1, since 0 < k <= 1.

    Where zeros are skipped and squared distances expanded, `RbfFloat32` has a further error in
    `shift`, per_reach (m + 2) X (X + 2 Z), with m the nonzero features of x, X >= |x| and Z the
    longest |z|.

    Parameters
    ----------
    shift, shift_minimum, widest, per_z, value_error : float32
        `widest` is z_error cutoff.
    per_reach, twice_length : float32
        Of the expanded distance, as in `RbfFloat32`; per_reach is 0 where there is none.
    """

    shift: np.float32
    shift_minimum: np.float32
    widest: np.float32
    per_z: np.float32
    value_error: np.float32
    per_reach: np.float32
    twice_length: np.float32

    name: ClassVar[str] = "rbf_reach"
    kernels: ClassVar[tuple[type[Float32Kernel], ...]] = (RbfFloat32,)

    @classmethod
    def of_kernel(cls, kernel: RbfFloat32) -> RbfReach:
        """Return the reach of a lowered kernel, for exact vectors."""
        errors = _largest_errors(kernel)
        return cls(
            kernel.shift, kernel.shift_minimum, *errors, kernel.per_reach, kernel.twice_length
        )

    @property
    def expands(self) -> bool:
        """Whether the squared distances are expanded."""
        return bool(self.per_reach > 0)

    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return 1 and the largest error, for each query."""
        growth = self.shift * batch.deviation * batch.deviation + self.shift_minimum
        if self.expands:
            roundings = (np.count_nonzero(batch.x, axis=1) + 2).astype(np.float32)
            reach = batch.length * (batch.length + self.twice_length)
            growth = growth + (self.per_reach * roundings) * reach
        return _of_unit_length(self, growth)


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialReach(Reach):
    """The reach for laplacian and chi2: K(x, x) = 1, and the largest error of `ExponentialFloat32`.

    As for rbf (`RbfReach`), with another `shift`: slope deviation + shift_minimum.

    Parameters
    ----------
    slope, shift_minimum, widest, per_z, value_error : float32
        `widest` is z_error cutoff.
    """

    slope: np.float32
    shift_minimum: np.float32
    widest: np.float32
    per_z: np.float32
    value_error: np.float32

    name: ClassVar[str] = "exponential_reach"
    kernels: ClassVar[tuple[type[Float32Kernel], ...]] = (LaplacianFloat32, Chi2Float32)

    @classmethod
    def of_kernel(cls, kernel: ExponentialFloat32) -> ExponentialReach:
        """Return the reach of a lowered kernel, for exact vectors."""
        return cls(kernel.slope, kernel.shift_minimum, *_largest_errors(kernel))

    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return 1 and the largest error, for each query."""
        return _of_unit_length(self, self.slope * batch.deviation + self.shift_minimum)


def _largest_errors(
    kernel: RbfFloat32 | ExponentialFloat32,
) -> tuple[np.float32, np.float32, np.float32]:
    """Return `widest`, `per_z` and `value_error` of a kernel exp(-z)."""
    tau = exp_negative.RELATIVE_ERROR
    return (
        bound_constant(float(kernel.z_error) * float(exp_negative.CUTOFF)),
        bound_constant(float(kernel.z_error) * (1 + tau) / np.e),
        bound_constant(float(kernel.value_error) + float(np.exp(1.0 - exp_negative.CUTOFF))),
    )


def _of_unit_length(
    reach: RbfReach | ExponentialReach, growth: Float32Array
) -> tuple[Float32Array, Float32Array]:
    """Return 1 and the largest error of a kernel exp(-z); `growth` is its `shift`, if below 1."""
    one = np.float32(1.0)
    shift = np.minimum(growth, one)
    widen = reach.widest + shift + one
    error = reach.value_error + widen * (shift + reach.per_z)
    return np.ones_like(error), np.minimum(error, one)


@dataclass(frozen=True, slots=True, eq=False)
class PolyReach(Reach):
    """K(x, x) = (gamma |x|^2 + coef0)^degree and the error of `PolyFloat32` where it is largest.

    With X + delta >= |x| and Z >= |z|: |v| <= w = gamma (X + delta) Z + coef0, and the computed v
    is within r of it (`inner_product_error`), so the error is at most
    slope r (w + r)^(degree - 1) + value_error (w + r)^degree. Squares, products and powers are
    rounded up by a factor each.

    Parameters
    ----------
    gamma, coef0 : float32
        Rounded up.
    longest : float32
        Z.
    degree : int
    up : float32
    per_length, per_deviation, minimum, slope, value_error : float32
        Error constants of the kernel.
    """

    gamma: np.float32
    coef0: np.float32
    longest: np.float32
    degree: int
    up: np.float32
    per_length: np.float32
    per_deviation: np.float32
    minimum: np.float32
    slope: np.float32
    value_error: np.float32

    name: ClassVar[str] = "poly_reach"
    kernels: ClassVar[tuple[type[Float32Kernel], ...]] = (PolyFloat32,)

    @classmethod
    def of_kernel(
        cls, kernel: PolyFloat32, gamma: float, coef0: float, longest: float
    ) -> PolyReach:
        """Return the reach of a lowered polynomial kernel.

        Parameters
        ----------
        gamma, coef0 : float
            Trained parameters, with gamma > 0 and coef0 >= 0.
        longest : float
            Upper bound on |z| of every vector.
        """
        p = kernel.degree
        return cls(
            bound_constant(gamma),
            bound_constant(coef0),
            bound_constant(longest),
            p,
            bound_constant(1 + 2 * gamma_factor(3 * p + 8) + 8 * UNIT_ROUNDOFF),
            kernel.per_length,
            kernel.per_deviation,
            kernel.minimum,
            kernel.slope,
            bound_constant(float(kernel.value_error) + 4 * kernel.absolute_error),
        )

    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return the two bounds, which are infinite where they overflow."""
        with np.errstate(over="ignore"):
            return self._of(batch)

    def _of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        length = batch.length + batch.deviation
        r = self.per_length * batch.length + self.per_deviation * batch.deviation + self.minimum
        w = self.gamma * length * self.longest + self.coef0 + r
        square = power.power(self.gamma * length * length + self.coef0, self.degree) * self.up
        steepest = power.power(w, max(self.degree - 1, 0))
        error = self.slope * r * steepest + self.value_error * (steepest * w + np.float32(1.0))
        return square.astype(np.float32), (error * self.up).astype(np.float32)
