"""Inputs and labels that the attacked machines learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons

from kit.shared_data import data_file


def _shifted() -> tuple[np.ndarray, np.ndarray]:
    """Return a sensor at 1000 +- 0.01, in steps that a float32 there can hold."""
    rng = np.random.default_rng(6)
    steps = rng.integers(-160, 160, size=(500, 3))
    noise = rng.normal(size=500) * 30
    return 1000.0 + steps * 2.0**-14, (steps[:, 0] * steps[:, 1] / 40 + noise > 0).astype(int)


def _line() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(7).uniform(-3, 3, size=(600, 1))
    return x, (np.sin(3 * x[:, 0]) + 0.3 * x[:, 0] > 0).astype(int)


def _pair_of_digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return X[chosen] / 16, y[chosen]


def _nine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :9], y


def stored(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs and labels of a file in `$KMCOMPILE_DATA`."""
    with np.load(data_file(name)) as file:
        every = max(1, len(file["y_train"]) // 4000)
        X, y = file["X_train"][::every].astype(float), file["y_train"][::every]
    if name == "mnist":
        chosen = np.isin(y, (0, 1))
        return X[chosen] / 256, y[chosen]
    return X, y


def _sixteenths() -> tuple[np.ndarray, np.ndarray]:
    X, y = _pair_of_digits()
    return X * 16, y


LOADERS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "line": _line,
    "moons": lambda: make_moons(800, noise=0.25, random_state=0),
    "shifted": _shifted,
    "nine": _nine,
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": _pair_of_digits,
    "sixteenths": _sixteenths,
    "ten_digits": lambda: load_digits(return_X_y=True),
}
