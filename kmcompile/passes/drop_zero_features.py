"""Leave out features that are 0 in every support vector, for kernels of inner products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.fold_selections import fold_selections
from kmcompile.passes.vectors_behind import vectors_behind
from kmcompile.steps import Affine, Normalization, SeenFeatures

_SCALED = 2
"""Least multiply-adds of a scaled feature: its factor and its square."""

_COPIED = 2
"""Most multiply-adds of a copied feature: the copy and its square."""


def drop_zero_features(machine: KernelMachine) -> KernelMachine:
    """Return the machine with a Selection of the features that some support vector has.

    A feature adds s_j x_j to <s, x>, which is 0 for every x_j where s_j is 0, so the function is
    the same. Kernels of other sums keep such features: there |s_j - x_j| depends on x_j. The
    Selection stands before the scalers at the end, whose other numbers go. Every feature of the raw
    input is still checked, so that inputs with NaN in a feature that is left out are refused.

    The Selection copies the features that stay. The machine stays as it is where these copies cost
    more operations than one product less for each vector and, for scaled features, no scaling.
    Behind a Normalization nothing is copied: it computes only the features that stay.

    A reduced machine keeps the features of the trained machine's vectors, too: the distance of both
    machines is multiplied by sqrt(K(x, x)), and a feature that neither has changes no decision.
    """
    if not machine.kernel.of_inner_product:
        return machine
    seen = np.flatnonzero((vectors_behind(machine) != 0).any(axis=0))
    n_features = machine.support_vectors.shape[1]
    steps = list(machine.preprocessing)
    first = len(steps)
    while first and isinstance(steps[first - 1], Affine):
        first -= 1
    scalers = [step for step in steps[first:] if isinstance(step, Affine)]
    is_linear = machine.kernel.is_linear  # its vectors become a row for each decision
    products = machine.n_decisions if is_linear else machine.n_support_vectors
    saved = (n_features - len(seen)) * (products + _SCALED * len(scalers))
    normalized = first > 0 and isinstance(steps[first - 1], Normalization)
    if len(seen) == 0 or saved <= (0 if normalized else _COPIED * len(seen)):
        return machine
    kept = [
        Affine(step.offset[seen], step.factor[seen], step.offset_error[seen], step.factor_error)
        for step in scalers
    ]
    selection = SeenFeatures(tuple(seen.tolist()), n_features)
    dropped = replace(
        machine,
        support_vectors=machine.support_vectors[:, seen],
        preprocessing=(*steps[:first], selection, *kept),
    )
    return dropped if normalized else fold_selections(dropped)
