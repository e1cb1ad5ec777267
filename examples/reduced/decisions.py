"""Weights fitted to decisions on samples instead of to normals (RSS 2004, section 3.2, e_x)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcompile.errors import UsageError
from kmcompile.model.coefficients import decision_coefficients, with_decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.pools import Pool, joint_pools

RIDGE = 1e-6
"""Default weight of the squared change of each weight, in shares of the mean K(x, s)^2."""


def with_fitted_decisions(
    reduced: KernelMachine,
    original: KernelMachine,
    X: Float64Array,
    ridge: float = RIDGE,
    pools: Sequence[Pool] | None = None,
) -> KernelMachine:
    """Return the reduced machine with weights that give the original's decisions on samples.

    They minimise the mean of (f_p(x) - f^_p(x))^2 and a small multiple of how far they are from
    those they were, which decides where there are few samples. |W - W^| bounds the difference for
    all inputs; this is smaller for inputs like the samples. The intercepts stay.

    Parameters
    ----------
    reduced, original : KernelMachine
        Of the same decisions.
    X : ndarray of shape (n_samples, n_features), float64
        Raw samples, at least one.
    ridge : float
        Positive.
    pools : sequence of Pool, optional
        Of the reduced machine. Default: `joint_pools`.

    Raises
    ------
    UsageError
        There are no samples.
    """
    if len(X) == 0:
        raise UsageError("weights cannot be fitted to 0 samples")
    values, _ = reduced.kernel.fast_values(reduced.support_vectors, reduced.prepare(X))
    apart = evaluate(original, X).decisions - evaluate(reduced, X).decisions
    moments, wanted = values.T @ values / len(X), values.T @ apart / len(X)
    added = ridge * moments.diagonal().mean()
    spread = decision_coefficients(reduced).copy()
    for pool in joint_pools(reduced) if pools is None else pools:
        if len(pool.vectors) == 0:
            continue
        ridged = moments[np.ix_(pool.vectors, pool.vectors)] + added * np.eye(len(pool.vectors))
        change = np.linalg.solve(ridged, wanted[np.ix_(pool.vectors, pool.decisions)])
        spread[np.ix_(pool.decisions, pool.vectors)] += change.T
    return with_decision_coefficients(reduced, spread)
