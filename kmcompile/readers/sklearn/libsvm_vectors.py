"""The kernel and the support vectors of scikit-learn's LIBSVM estimators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.kernels import Kernel
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import describe, record_of
from kmcompile.readers.scipy_sparse import is_sparse
from kmcompile.readers.sklearn.gaussian_process_kernel import is_covariance
from kmcompile.readers.sklearn.kernel_functions import function_kernel, is_function
from kmcompile.readers.sklearn.kernels import through
from kmcompile.readers.sklearn.libsvm_kernel import libsvm_kernel
from kmcompile.steps import Step

_TRAINED = "_BaseLibSVM__Xfit"
"""The attribute with all training inputs, present if the kernel is a function."""


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """The kernel and the vectors of the decision values' sums.

    Parameters
    ----------
    n_features : int
        Number of features of the estimator's input.
    steps : tuple of Step
        Steps that a kernel function applies to inputs.
    kernel : Kernel
    support_vectors : ndarray of shape (n_sv, n_kernel_features), float64
        The vectors after the steps.
    """

    n_features: int
    steps: tuple[Step, ...]
    kernel: Kernel
    support_vectors: Float64Array


def read_expansion(fields: Fields) -> Expansion:
    """Return kernel and vectors after checking the attributes that describe them.

    Raises
    ------
    InputError
        The kernel cannot be compiled, or the attributes are damaged.
    """
    given = fields.get("kernel")
    if is_function(given):
        return _of_function(fields, given)
    kernel = libsvm_kernel(fields)
    support_vectors = fields.array("support_vectors_", (None, None))
    n_sv, width = support_vectors.shape
    if n_sv == 0:
        raise fields.error("support_vectors_", "is empty", "1 or more", "retrain the model")
    fields.counts("support_", n_sv)
    if fields.flag("_sparse"):
        _check_full(fields, "dual_coef_")
        _check_full(fields, "_dual_coef_")
    fields.require_width(width)
    shape_fit: Any = fields.get("shape_fit_")
    match shape_fit:
        case (_, int() as columns) if columns == width:
            return Expansion(width, (), kernel, support_vectors)
    raise fields.error("shape_fit_", "does not fit", f"(samples, {width})")


def _of_function(fields: Fields, kernel: Any) -> Expansion:
    """Return the expansion for a kernel function: `support_` indexes the training inputs."""
    if not is_covariance(kernel):
        function_kernel(kernel, 1)  # whether it can be compiled
    fields.require_fitted("support_")
    inputs = _training_inputs(fields)
    n_samples, width = inputs.shape
    steps, image = function_kernel(kernel, width)
    shape_fit: Any = fields.get("shape_fit_")
    match shape_fit:
        case (int() as rows, int() as columns) if (rows, columns) == inputs.shape:
            pass
        case _:
            raise fields.error("shape_fit_", "does not fit", f"({n_samples}, {width})")
    n_sv = fields.array("dual_coef_", (None, None)).shape[1]
    if n_sv == 0:
        raise fields.error("support_", "is empty", "1 or more", "retrain the model")
    support = fields.counts("support_", n_sv)
    if max(support) >= n_samples:
        raise fields.error("support_", f"has {max(support)}", f"below the {n_samples} samples")
    return Expansion(width, steps, image, through(steps, inputs[list(support)]))


def _training_inputs(fields: Fields) -> Float64Array:
    value = fields.get(_TRAINED)
    if not (isinstance(value, np.ndarray) or is_sparse(value)):
        allowed = "an array: a kernel that is a function keeps it as it came"
        raise fields.error(
            "the training input", f"is {describe(value)}", allowed, "train it on a numpy array"
        )
    inputs = fields.array(_TRAINED, (None, None))
    if inputs.shape[1] == 0:
        raise fields.error(_TRAINED, "has no features", "1 or more", "retrain the model")
    return inputs


def _check_full(fields: Fields, name: str) -> None:
    """Check that a sparse array stores every element: LIBSVM reads its `data` as dense."""
    values, shape = record_of(fields.get(name)).attributes.get("data"), fields.raw_array(name).shape
    if isinstance(values, np.ndarray) and values.size != math.prod(shape):
        raise fields.error(name, f"stores {values.size} values", f"full, {shape}")
