"""Measure the kernel's space in units in which the support vectors are integers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.steps import Affine


def to_code_units(
    machine: KernelMachine, offset: Float64Array, factor: float
) -> tuple[KernelMachine, float]:
    """Return a machine of (x - offset) * factor, the same function of the raw input.

    gamma |s - x|^2 = (gamma / factor^2) |factor (s - x)|^2, and without an offset
    gamma <s, x> = (gamma / factor^2) <factor s, factor x>. With a homogeneous kernel the
    coefficients are divided by the factor. The second result bounds the rounding of a vector in
    float64, as a Euclidean norm in the new units; that of a coefficient is 2^-53, relatively.

    Parameters
    ----------
    machine : KernelMachine
        Its preprocessing is at most one scaler.
    offset : ndarray of shape (n_features,), float64
        Offset in the kernel's space; 0 for a kernel of inner products.
    factor : float
        Factor of all features; there is only one, since the kernel has one gamma. Above 0 for a
        homogeneous kernel.
    """
    homogeneous = machine.kernel.homogeneous
    kernel = machine.kernel if homogeneous else machine.kernel.in_code_units(factor)
    assert kernel is not None
    assert kernel.of_distance or not offset.any()
    assert factor > 0 or not homogeneous, "K(c s, c x) is c K(s, x) for c > 0 only"
    step = Affine(offset, np.full_like(offset, factor), np.zeros_like(offset), 0.0)
    vectors = (machine.support_vectors - offset) * factor
    moved = replace(
        machine,
        kernel=kernel,
        support_vectors=vectors,
        dual_coef=machine.dual_coef / factor if homogeneous else machine.dual_coef,
        preprocessing=(*machine.preprocessing, step),
        routing=machine.routing and machine.routing.moved(offset, factor),
    )
    rounded = 2.0**-51 * abs(factor) * (np.abs(machine.support_vectors) + np.abs(offset))
    return fold_scalers(moved), float(np.sqrt((rounded**2).sum(axis=1)).max())
