"""Lowering of the slopes of decisions over a box: the constants of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.lower.box_polynomial import Growths, rows
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import FLOAT32
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.tolerance.poly_slopes import PolySlopes
from kmcompile.program.stages.tolerance.rbf_slopes import RbfSlopes

_ROUNDED = 1 + 1e-9
"""Covers the float64 roundings of these constants."""

_FEW_COLUMNS = 0.9
"""Largest share of the features for which a list of them pays."""


def rbf_slopes(exact: ExactSum, gamma: float, t: Float64Array, bends: Float64Array) -> RbfSlopes:
    """Return the slopes of an rbf machine; `RbfSlopes` derives the constants."""
    assert isinstance(exact.kernel, RbfFloat32)
    theta = 2 * gamma * t * _ROUNDED
    length = float(np.sqrt((theta**2).sum())) * _ROUNDED
    off = float(exact.kernel.vector_error)
    rho = _reaches(exact, theta) + length * off
    bound = FLOAT32.bound_constant
    underflow = exact.n_slots * exact.n_features * (1 + float(theta.max()))
    return RbfSlopes(
        **_shared(exact, theta, rho, bends, underflow),
        per_bound=bound(float(rho.max())),
        per_weight=bound(length * off),
        per_deviation=bound(length),
        rounding=bound(FLOAT32.gamma_factor(exact.n_blocks + exact.lanes + 8)),
    )


def poly_slopes(
    exact: ExactSum, machine: KernelMachine, t: Float64Array, grown: Growths
) -> PolySlopes:
    """Return the slopes of a machine of degree 2 or more; `PolySlopes` derives the constants."""
    kernel = machine.kernel.polynomial
    p = kernel.degree
    theta = p * abs(kernel.gamma) * t * _ROUNDED
    # Trained vectors differ from the stored ones by a rounding.
    rho = _reaches(exact, theta) * (1 + 2 * FLOAT32.unit_roundoff)
    sizes = np.abs(decision_coefficients(machine))
    reached = sizes @ (np.abs(machine.support_vectors) @ theta) * (1 + 1e-6)
    v = kernel.gamma * (machine.support_vectors @ grown.centre) + kernel.coef0
    q = float(np.sqrt((v**2).mean())) or 1.0
    per_bound = (p - 1) / (p * q) * float(rho.max()) * (1 + 1e-6) if p > 2 else 0.0
    largest = (1 + float(sizes.max())) * (1 + float(np.abs(machine.support_vectors).max()))
    underflow = exact.n_slots * exact.n_features * (1 + float(theta.max())) * largest * p
    bound, bounds = FLOAT32.bound_constant, FLOAT32.bound_constants
    return PolySlopes(
        **_shared(exact, theta, rho, grown.bends[:, 0], underflow),
        per_bound=bound(per_bound),
        rounding=bound(FLOAT32.gamma_factor(exact.n_blocks + exact.lanes + p + 12)),
        growths=rows(grown.bends),
        per_argument=bounds((p - 1) * q ** (p - 2) * reached),
    )


def _reaches(exact: ExactSum, theta: Float64Array) -> Float64Array:
    """Return sum_i theta_i |s_ji| of the stored vectors, shape (n_slots,)."""
    reaches: Float64Array = (theta @ np.abs(exact.columns().astype(np.float64))) * _ROUNDED
    return reaches


def _shared(
    exact: ExactSum,
    theta: Float64Array,
    rho: Float64Array,
    bends: Float64Array,
    underflow: float,
) -> dict[str, Any]:
    """Return the constants that do not depend on the kernel; `underflow` counts products."""
    n_slots, n_features = exact.n_slots, exact.n_features
    return {
        "scales": FLOAT32.bound_constants(theta),
        "columns": _columns(exact),
        "reaches": FLOAT32.bound_constants(rho),
        "bends": FLOAT32.bound_constants(bends),
        "final": FLOAT32.bound_constant(1 + 2 * FLOAT32.gamma_factor(n_slots + n_features + 64)),
        "least": FLOAT32.bound_constant(max(underflow * 4 * FLOAT32.smallest_normal, 2.0**-100)),
    }


def _columns(exact: ExactSum) -> np.ndarray | None:
    """Return the features that some vector has, or None where these are nearly all."""
    seen = np.flatnonzero(exact.columns().any(axis=1))
    fits = exact.n_features <= 0x10000
    return seen if fits and len(seen) <= _FEW_COLUMNS * exact.n_features else None
