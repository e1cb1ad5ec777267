"""Machines trained with kernel="precomputed": the vectors and the kernel are given by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.readers.sklearn.kernels import pairwise_kernel, through
from kmcompile.readers.sklearn.pipeline import read_sklearn


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
    record = record_of(model)
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
    return replace(
        machine, kernel=image, preprocessing=steps, n_features=width, rounded_vectors=rounded
    )
