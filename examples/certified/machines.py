"""The data sets of the table with their machines, which are trained once and kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
CACHE = Path.home() / ".cache" / "kmcompile-certified"

GRID = {"svc__C": [1, 10, 100, 1000], "svc__gamma": [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]}
N_GRID, N_TRAIN, N_TEST = 3000, 10_000, 10_000
N_DIGITS = 4000

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Set:
    """A machine with samples to choose its exits by, and those that it is asked.

    Parameters
    ----------
    samples : ndarray of shape (n, n_features), float32
        Training samples that the machine has not seen; where it has seen all, these.
    test : ndarray of shape (n, n_features), float32
    """

    name: str
    model: Any
    samples: np.ndarray
    test: np.ndarray


def breast_cancer(_: str) -> Split:
    """Return scikit-learn's breast cancer data, two parts of five for the test."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    return X, y, X_test, y_test


def moons(_: str) -> Split:
    """Return scikit-learn's moons, half for the test."""
    X, y = make_moons(2000, noise=0.25, random_state=0)
    return X[:1000], y[:1000], X[1000:], y[1000:]


def stored(name: str) -> Split:
    """Return a stored set, of two classes as "satimage-3-4", of one as "satimage-1-rest"."""
    base, *classes = name.split("-")
    with np.load(DATA / f"{base}.npz") as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    parts = [_chosen(X.reshape(len(X), -1), y, classes), _chosen(X_test, y_test, classes)]
    if base == "mnist":  # in the official order, as the NSV paper has it
        return (*parts[0], *parts[1])
    return (*_shuffled(*parts[0], seed=0), *_shuffled(*parts[1], seed=1))


def _shuffled(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order], y[order]


def _chosen(X: np.ndarray, y: np.ndarray, classes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    X = X.reshape(len(X), -1)
    if not classes:
        return X, y
    if classes[1] == "rest":
        return X, y == int(classes[0])
    rows = np.isin(y, [int(c) for c in classes])
    return X[rows], y[rows]


SOURCES: dict[str, Callable[[str], Split]] = {"breast_cancer": breast_cancer, "moons": moons}


def load(name: str, folder: Path) -> Set:
    """Return a set with its machine, which is trained if `folder` does not hold it."""
    X, y, X_test, _ = SOURCES.get(name, stored)(name)
    X, X_test = X.astype(np.float32), X_test[:N_TEST].astype(np.float32)
    digits = name.startswith("mnist")
    if digits:
        X, X_test = X / np.float32(255), X_test / np.float32(255)
    train = slice(N_DIGITS if digits else N_TRAIN)
    path = folder / f"{name}.joblib"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        joblib.dump(_fitted(X[train], y[train], digits), path)
    fresh = X[train.stop :]
    return Set(name, joblib.load(path), fresh if len(fresh) else X, X_test)


def _fitted(X: np.ndarray, y: np.ndarray, digits: bool) -> Any:
    if digits:
        cosine = SVC(kernel="poly", degree=9, gamma=1, coef0=0, C=1, cache_size=500)
        return make_pipeline(Normalizer(), cosine).fit(X, y)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(cache_size=500)), GRID, cv=3)
    return search.fit(X[:N_GRID], y[:N_GRID]).best_estimator_.fit(X, y)
