"""The constants of the bound of a replay in integers, from distances in the feature space."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.lower.feature_space import VectorPairs, distance
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import FLOAT64, UNIT_ROUNDOFF_64


@dataclass(frozen=True, slots=True, eq=False)
class ReplayErrors:
    """Constants of the bound on the error of a decision (`FineSum`), not yet rounded up.

    Parameters
    ----------
    minimum, per_deviation : ndarray of shape (n_decisions,), float64
    """

    minimum: Float64Array
    per_deviation: Float64Array


def replay_errors(
    machine: KernelMachine,
    pairs: VectorPairs,
    moved: float,
    coefficients: Float64Array,
    each: float,
    unit: float,
) -> ReplayErrors:
    """Return the constants of an rbf machine's error bound.

    - Stored vectors: the stored machine is within apart_p + length_p sqrt(2 gamma) |x - X| of the
      trained one (`kmcompile.lower.feature_space`). Rounding a vector s in a pass by d moves phi(s)
      by at most sqrt(2 gamma) d.
    - gamma was rounded twice: 2 u z exp(-z) < u for every z, relative to |beta|. Another u is
      for coefficients that a pass has added up, and `intercept_error`.
    - `each` covers the function and the sums, and 4 n of the smallest normal numbers underflows.

    Parameters
    ----------
    pairs : VectorPairs
        The trained vectors with the stored ones.
    moved : float
        Bound on how far a pass has moved a vector.
    coefficients : ndarray of shape (n_decisions, n_sv), float64
        Those that are stored.
    each : float
        Bound on the error of kernels and sums per sum of |coefficients|.
    unit : float
        What deviations are in units of.
    """
    beta = decision_coefficients(machine)
    far = distance(pairs, beta, coefficients)
    root = math.sqrt(2 * pairs.gamma) * (1 + 1e-12)
    of_beta, of_stored = (np.abs(c).sum(axis=1) * (1 + 1e-9) for c in (beta, coefficients))
    minimum = far.apart + of_beta * (root * moved + 2 * UNIT_ROUNDOFF_64) + of_stored * each
    minimum += machine.intercept_error + FLOAT64.smallest_normal * 4 * beta.shape[1]
    return ReplayErrors(minimum, far.length * root * unit)
