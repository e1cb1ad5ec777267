"""The normals W_p of a machine's hyperplanes in feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Kernel
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.decision_sums import DecisionSums
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array

_BLOCK_VALUES = 1 << 22


def require_positive_definite(kernel: Kernel) -> None:
    """Raise InputError unless the kernel is an inner product in a feature space.

    Bounds by distances in feature space use the Cauchy-Schwarz inequality. Without such a
    space, |W|^2 and |phi(x)|^2 can be negative, and an interval from these "bounds" can miss f.
    """
    if kernel.positive_definite:
        return
    parameters = ", ".join(f"{key} = {value:g}" for key, value in kernel.parameters().items())
    raise InputError(
        f"the {kernel.name} kernel with {parameters} is not positive definite: distances in "
        f"feature space prove nothing; use rbf, linear, or poly with gamma > 0 and coef0 >= 0"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Normals:
    """W_p = sum_i beta_pi phi(s_i), so that f_p(x) = <W_p, phi(x)> + b_p.

    Parameters
    ----------
    kernel : Kernel
        Positive definite.
    vectors : ndarray of shape (n_sv, n_features), float64
    coefficients : ndarray of shape (n_decisions, n_sv), float64
    products : ndarray of shape (n_sv, n_decisions), float64
        <W_p, phi(s_j)>.
    squares : ndarray of shape (n_decisions,), float64
        |W_p|^2.
    sums : DecisionSums
        Products with the coefficients.
    """

    kernel: Kernel
    vectors: Float64Array
    coefficients: Float64Array
    products: Float64Array
    squares: Float64Array
    sums: DecisionSums

    @classmethod
    def of(cls, machine: KernelMachine) -> Normals:
        """Return the normals of a machine.

        Raises
        ------
        InputError
            The kernel is not positive definite.
        """
        require_positive_definite(machine.kernel)
        vectors, coefficients = machine.support_vectors, decision_coefficients(machine)
        products = np.empty((len(vectors), len(coefficients)))
        sums = DecisionSums(machine)
        rows = max(1, _BLOCK_VALUES // len(vectors))
        for start in range(0, len(vectors), rows):
            part = slice(start, start + rows)
            values, _ = machine.kernel.fast_values(vectors, vectors[part])
            products[part] = sums.of(values)
        squares = np.maximum((coefficients.T * products).sum(axis=0), 0.0)
        return cls(machine.kernel, vectors, coefficients, products, squares, sums)

    def product(self, Z: Float64Array) -> Float64Array:
        """Return <W_p, phi(z)>, shape (n_z, n_decisions)."""
        values, _ = self.kernel.fast_values(self.vectors, Z)
        return self.sums.of(values)
