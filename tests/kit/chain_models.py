"""Small models of every task, with every kernel, on real data of few, many and sparse features."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR, OneClassSVM

from kmcompile.kernels import AdditiveChi2, Intersection, Kernel
from kmcompile.model.kernel_machine import Task

N_TRAINED = 60

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": -0.5},
    "linear": {"kernel": "linear"},
    "intersection": {"kernel": laplacian_kernel},  # for its coefficients: scikit-learn has none
    "additive_chi2": {"kernel": laplacian_kernel},  # so that every task has it
}
ADDITIVE: dict[str, Kernel] = {"intersection": Intersection(), "additive_chi2": AdditiveChi2()}
"""Kernels that take the place of the fitted one."""


@cache
def fitted(task: Task, kernel: str, data: str, break_ties: bool) -> tuple[Any, np.ndarray]:
    """Return a fitted estimator and inputs that it has not seen, float32."""
    X, y = samples(task, data)
    X, y = X[:N_TRAINED], y[:N_TRAINED]
    parameters = KERNELS[kernel]
    if task is Task.REGRESSION:
        model: Any = SVR(C=float(y.std()), epsilon=float(y.std()) / 8, **parameters).fit(X, y)
    elif task is Task.ONE_CLASS:
        model = OneClassSVM(nu=0.3, **parameters).fit(X)
    elif task is Task.ONE_VS_REST:
        model = OneVsRestClassifier(SVC(C=5.0, **parameters)).fit(X, y)
    else:
        model = SVC(C=5.0, break_ties=break_ties, **parameters).fit(X, y)
    return model, samples(task, data)[0][N_TRAINED:].astype(np.float32)


@cache
def samples(task: Task, data: str) -> tuple[np.ndarray, np.ndarray]:
    """Return real inputs, each feature from 0 to about 1 in steps, and labels or values.

    Of two classes where there is one sign, otherwise of four or, with few features, three. The
    values of the regressions are those of diabetes or, with zeros among the features, the digits.
    """
    if task is Task.REGRESSION and data != "sparse":
        X, y = load_diabetes(return_X_y=True)
        X = X[:, [2, 8]] if data == "few" else X
        X = np.rint((X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) * 128) / 128
        return X, y
    if data == "few":
        X, y = load_iris(return_X_y=True)
        X = X[:, 2:] / 8
        kept = y > 0 if task.has_one_sign else y >= 0
    else:
        X, y = load_digits(return_X_y=True)
        if data == "many":
            X = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(X), 16)
        X = X / 16
        X = np.where(X > 0.6, X, 0.0) if data == "sparse" else X
        kept = np.isin(y, (3, 8) if task.has_one_sign else (1, 3, 8, 9))
    X, y = X[kept], y[kept]
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]
