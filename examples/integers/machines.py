"""The machines of the table, trained in seconds with the parameters that tuning found.

Data sets come from `$KMCOMPILE_DATA` or `../shared/data`, digits from scikit-learn. Real-valued
features are standardised; C and gamma are of a three-fold search over a grid.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
N_TEST = 10_000

Machine = tuple[Any, np.ndarray]
"""A fitted estimator and its test samples, float64, as it was trained with."""


def stored(name: str) -> tuple[np.ndarray, ...]:
    """Return a stored set: X and y of training and test."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    return X.astype(np.float64), y, X_test.astype(np.float64), y_test


def mnist() -> Machine:
    """Return 8 against 3, the first 4,000 training digits of the two, pixels as shares of 255."""
    X, y, X_test, y_test = stored("mnist")
    train, test = np.isin(y, (3, 8)), np.isin(y_test, (3, 8))
    model = SVC(C=10, gamma=0.02).fit(X[train][:4000] / 255, y[train][:4000])
    return model, X_test[test] / 255


def digits() -> Machine:
    """Return scikit-learn's ten digits of 8 x 8 pixels of 17 greys, as shares of 16."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, _ = train_test_split(X / 16, y, test_size=0.3, random_state=0, stratify=y)
    return SVC().fit(X, y), X_test


def letter() -> Machine:
    """Return 26 letters, features of 0 .. 15 as they are, the first 10,000 training samples."""
    X, y, X_test, _ = stored("letter")
    return SVC(C=10, gamma=0.05).fit(X[:10_000], y[:10_000]), X_test


def standardised(name: str, n_train: int, **parameters: float) -> Machine:
    """Return a machine of real-valued features and up to 10,000 test samples, both drawn."""
    X, y, X_test, _ = stored(name)
    rng = np.random.default_rng(0)
    if len(X_test) > N_TEST:
        X_test = X_test[np.sort(rng.permutation(len(X_test))[:N_TEST])]
    train = rng.permutation(len(X))[:n_train]
    model = make_pipeline(StandardScaler(), SVC(cache_size=500, **parameters))
    return model.fit(X[train], y[train]), X_test


MACHINES: dict[str, Callable[[], Machine]] = {
    "mnist-8-3": mnist,
    "digits": digits,
    "ijcnn1": lambda: standardised("ijcnn1", 15_000, C=100, gamma=0.0136),
    "phoneme": lambda: standardised("phoneme", 3026, C=10, gamma=2),
    "checkerboard": lambda: standardised("checkerboard", 900, C=1000, gamma=1.5),
    "satimage": lambda: standardised("satimage", 3548, C=10, gamma=3 / 36),
    "shuttle": lambda: standardised("shuttle", 15_000, C=100, gamma=1 / 9),
    "letter": letter,
}
