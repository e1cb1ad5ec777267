"""The models of `make bench`: two classes, ten classes, and many features that are mostly zero."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[4] / "shared" / "data"))


@dataclass(frozen=True, eq=False)
class Model:
    """A machine and its queries.

    The features are scaled before the machine, because most peers take no Pipeline, and gamma is
    a number, because some take no "scale".

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
        Test samples as the C gets them.
    expected : ndarray of shape (n,), int
        Index of the class that scikit-learn's `predict` gives.
    """

    name: str
    svc: SVC
    X: np.ndarray
    expected: np.ndarray

    @classmethod
    def fitted(cls, name: str, svc: SVC, split: tuple[np.ndarray, ...]) -> Model:
        """Fit and ask scikit-learn; `split` is X, y and the test samples."""
        X, y, queries = split
        svc.fit(X, y)
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        labels = svc.predict(queries.astype(np.float64))
        return cls(name, svc, queries, np.searchsorted(svc.classes_, labels))


def bc() -> Model:
    """Return breast cancer, standardised, two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    scaler = StandardScaler().fit(X[:398])
    X = scaler.transform(X)
    return Model.fitted("bc", SVC(gamma=1 / 30), (X[:398], y[:398], X[398:]))


def digits() -> Model:
    """Return the ten digits of 8 x 8 pixels."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    gamma = float(1 / (64 * X[:1257].var()))
    return Model.fitted("digits", SVC(gamma=gamma), (X[:1257], y[:1257], X[1257:]))


def mnist83() -> Model:
    """Return digits 8 and 3 of 28 x 28 pixels, the first 4,000 of the training samples."""
    with np.load(DATA / "mnist.npz", allow_pickle=False) as file:
        train, test = (np.isin(file[key], (3, 8)) for key in ("y_train", "y_test"))
        X, y = file["X_train"][train][:4000], file["y_train"][train][:4000]
        queries = file["X_test"][test]
    X, queries = (part.reshape(len(part), -1) / 255.0 for part in (X, queries))
    return Model.fitted("mnist83", SVC(gamma=0.02, C=10), (X, y, queries))


MODELS: dict[str, Callable[[], Model]] = {"bc": bc, "digits": digits, "mnist83": mnist83}


def names_here() -> list[str]:
    """Return the models whose data are here."""
    return [name for name in MODELS if name != "mnist83" or (DATA / "mnist.npz").is_file()]
