"""Estimators whose kernel is a function: scikit-learn's own, intersection, Matern and more.

For tests of kernels that have no name in scikit-learn, and of reading them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from kmcompile import readers
from kmcompile.kernels import Intersection, Matern, RationalQuadratic
from kmcompile.model.kernel_machine import KernelMachine


def intersection_kernel(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return sum_j min(x_j, y_j), which scikit-learn does not have."""
    return np.minimum(np.asarray(X)[:, None], np.asarray(Y)[None]).sum(axis=2)


def matern_kernel(X: np.ndarray, Y: np.ndarray, gamma: float, degree: int) -> np.ndarray:
    """Return what scikit-learn's Matern of nu = degree + 1/2 gives, as a function."""
    z = gamma * cdist(X, Y)
    return (1, 1 + z, 1 + z + z * z / 3)[degree] * np.exp(-z)


def rational_quadratic_kernel(
    X: np.ndarray, Y: np.ndarray, gamma: float, alpha: float
) -> np.ndarray:
    """Return (1 + gamma |x - y|^2)^-alpha, scikit-learn's RationalQuadratic, as a function."""
    return (1 + gamma * cdist(X, Y, "sqeuclidean")) ** -alpha


OWN = {
    intersection_kernel: Intersection,
    matern_kernel: Matern,
    rational_quadratic_kernel: RationalQuadratic,
}
"""Functions that the readers do not know, and their kernels."""


def kernel_function(name: str, **parameters: float) -> Any:
    """Return the value of an estimator's `kernel`: a function, or a name in scikit-learn."""
    functions = {
        "cosine": pairwise.cosine_similarity,
        "laplacian": pairwise.laplacian_kernel,
        "chi2": pairwise.chi2_kernel,
        "additive_chi2": pairwise.additive_chi2_kernel,
        "intersection": intersection_kernel,
        "matern": matern_kernel,
        "rational_quadratic": rational_quadratic_kernel,
    }
    return partial(functions[name], **parameters) if parameters else functions[name]


def load_machine(estimator: Any) -> KernelMachine:
    """Return the machine of a fitted estimator, also of one with a kernel of `OWN`."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    given = getattr(last, "kernel", None)
    make = OWN.get(getattr(given, "func", given)) if callable(given) else None
    if make is None:
        return readers.load_model(estimator)
    last.kernel = pairwise.laplacian_kernel
    machine = readers.load_model(estimator)
    last.kernel = given
    return replace(machine, kernel=make(**getattr(given, "keywords", {})))
