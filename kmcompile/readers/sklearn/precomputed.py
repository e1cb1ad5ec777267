"""Machines trained with kernel="precomputed": the vectors and the kernel are given by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.readers.sklearn.kernels import pairwise_kernel, through
from kmcompile.readers.sklearn.pipeline import read_sklearn
from kmcompile.readers.sklearn.pipeline_steps import flattened

_SUM_LIMIT = 1e-12
"""Largest sum of a decision's coefficients, for 1 of the sum of their magnitudes, that is 0."""


def read_precomputed(
    model: object,
    support_vectors: Any,
    kernel: str,
    gamma: float | None,
    coef0: float | None,
    degree: int | None,
    alpha: float | None = None,
) -> KernelMachine:
    """Return the machine of a fitted estimator with the vectors and the kernel put in.

    `kmcompile.precomputed_machine` documents the arguments.
    """
    *before, record = flattened(record_of(model))
    trained = record.attributes.get("kernel")
    if not isinstance(trained, str) or trained != "precomputed":
        raise InputError(
            f"{record.name}.kernel is {describe(trained)}, must be 'precomputed'; give the "
            "estimator itself to compile_model"
        )
    fields = Fields(record, f"{record.name}.")
    fields.require_fitted("dual_coef_")
    n_sv = fields.raw_array("dual_coef_").shape[-1]
    given = {"support_vectors": np.asarray(support_vectors)}
    vectors = Fields(Record("", "", given)).array("support_vectors", (n_sv, None))
    width = vectors.shape[1]
    if not width:
        raise InputError("support_vectors has no features, must have 1 or more; give X[support_]")
    steps, image = pairwise_kernel(kernel, width, gamma, coef0, degree, alpha)
    vectors = through(steps, vectors)
    # As if trained with a linear kernel: everything but the kernel is read and checked alike.
    as_linear = {
        "kernel": "linear",
        "support_vectors_": vectors,
        "n_features_in_": vectors.shape[1],
        "shape_fit_": vectors.shape,
    }
    linear = Record(record.module, record.name, {**record.attributes, **as_linear})
    machine = read_sklearn(linear)
    rounded = bool(steps)
    machine = replace(
        machine, kernel=image, preprocessing=steps, n_features=width, rounded_vectors=rounded
    )
    return _centred(machine, before, fields) if before else machine


def _centred(machine: KernelMachine, before: list[Record], fields: Fields) -> KernelMachine:
    """Return the machine of a matrix that a KernelCenterer has centred.

    It subtracts from K(s_i, x) the mean over all samples of K(s_i, .), which it keeps, and a number
    that is the same for all i. Where the coefficients of a decision have the sum 0, this number
    makes no difference, and sum_i beta_i mean_i is subtracted from the intercept. A sum that is 0
    but for rounding is a part of the intercept's error, for kernels of at most 1; for others it
    counts as 0.
    """
    if [step.name for step in before] != ["KernelCenterer"]:
        names = ", ".join(step.name for step in before)
        raise InputError(f"before {machine.kind} stand {names}, must be one KernelCenterer")
    centerer = Fields(before[0], "KernelCenterer.")
    centerer.require_fitted("K_fit_rows_")
    means = centerer.array("K_fit_rows_", (None,))
    support = fields.counts("support_", machine.n_support_vectors)
    if max(support) >= len(means):
        raise fields.error("support_", f"has {max(support)}", f"below the {len(means)} samples")
    means = means[list(support)]
    decisions = decision_coefficients(machine)
    sums, sizes = decisions.sum(axis=1), np.abs(decisions).sum(axis=1)
    if np.any(np.abs(sums) > _SUM_LIMIT * sizes):
        raise InputError(
            f"the coefficients of a {machine.kind} behind a KernelCenterer have the sum "
            f"{np.abs(sums).max():.3g}, must have 0; train it without a KernelCenterer"
        )
    intercept = machine.intercept - decisions @ means
    rounded = np.abs(decisions) @ np.abs(means) + np.abs(intercept)
    error = 2 * (len(means) + 1) * UNIT_ROUNDOFF_64 * float(rounded.max())
    if machine.kernel.self_value == 1:
        of_all = 1 + abs(centerer.number("K_fit_all_"))
        error += float(np.abs(sums).max()) * of_all * (1 + 1e-9)
    return replace(machine, intercept=intercept, intercept_error=error)
