"""Machines of digits for every task, with samples that they were not trained on."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR, OneClassSVM

TRAINED = 700

_ESTIMATORS: dict[str, Any] = {
    "binary": lambda: SVC(C=10, gamma=0.001),
    "one_vs_one": lambda: SVC(C=10, gamma=0.001),
    "one_vs_rest": lambda: OneVsRestClassifier(SVC(C=10, gamma=0.001)),
    "one_class": lambda: OneClassSVM(nu=0.2, gamma=0.001),
    "regression": lambda: SVR(C=10, gamma=0.001, epsilon=0.5),
}
TASKS = tuple(_ESTIMATORS)
_POLY = {"kernel": "poly", "gamma": 0.001, "coef0": 1.0, "C": 10.0}
_ESTIMATORS |= {
    "cubic": lambda: SVC(degree=3, **_POLY),
    "quartic": lambda: OneVsRestClassifier(SVC(degree=4, **_POLY)),
    "line": lambda: SVR(degree=1, **_POLY),
}
POLYNOMIALS = ("cubic", "quartic", "line")


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return all digits, shape (1797, 64), float32, and their labels."""
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


@cache
def estimator(task: str) -> Any:
    """Return the fitted estimator of a task, trained on the first 700 digits."""
    X, y = digits()
    target = y > 4 if task == "binary" else y
    return _ESTIMATORS[task]().fit(X[:TRAINED], target[:TRAINED])


def held_out() -> np.ndarray:
    """Return the other digits."""
    return digits()[0][TRAINED:]
