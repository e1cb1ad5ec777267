"""Estimators whose kernel is a function: scikit-learn's own, and the histogram intersection.

For tests of kernels that have no name in scikit-learn, and of reading them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import pairwise

from kmcompile import readers
from kmcompile.kernels import Intersection
from kmcompile.model.kernel_machine import KernelMachine


def intersection_kernel(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return sum_j min(x_j, y_j), which scikit-learn does not have."""
    return np.minimum(np.asarray(X)[:, None], np.asarray(Y)[None]).sum(axis=2)


def kernel_function(name: str, **parameters: float) -> Any:
    """Return the value of an estimator's `kernel`: a function, or a name in scikit-learn."""
    functions = {
        "cosine": pairwise.cosine_similarity,
        "laplacian": pairwise.laplacian_kernel,
        "chi2": pairwise.chi2_kernel,
        "additive_chi2": pairwise.additive_chi2_kernel,
        "intersection": intersection_kernel,
    }
    return partial(functions[name], **parameters) if parameters else functions[name]


def load_machine(estimator: Any) -> KernelMachine:
    """Return the machine of a fitted estimator, also of one with the intersection kernel."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if getattr(last, "kernel", None) is not intersection_kernel:
        return readers.load_model(estimator)
    last.kernel = pairwise.laplacian_kernel
    machine = readers.load_model(estimator)
    last.kernel = intersection_kernel
    return replace(machine, kernel=Intersection())
