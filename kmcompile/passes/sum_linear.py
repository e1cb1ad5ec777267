"""Turn the support vectors of a linear machine into one weight vector for each decision."""

from __future__ import annotations

import numpy as np

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array


def sum_linear(machine: KernelMachine) -> tuple[Float64Array, Float64Array]:
    """Return w_p = sum_i beta_pi s_i of a linear machine and the error of that sum.

    Returns
    -------
    weights : ndarray of shape (n_decisions, n_features), float64
    error : ndarray of shape (n_decisions,), float64
        Bound on the Euclidean norm of the error: gamma_n of float64 (Higham, eq. 3.5).
    """
    coefficients = decision_coefficients(machine)
    weights = coefficients @ machine.support_vectors
    magnitude = np.abs(coefficients) @ np.abs(machine.support_vectors)
    error = (machine.n_support_vectors + 2) * 2.0**-53 * np.sqrt((magnitude**2).sum(axis=1))
    return weights, error * (1 + 1e-9)
