"""Features, labels and values at random: ordinary and degenerate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

Rng = np.random.Generator


def random_features(rng: Rng, n: int, d: int) -> tuple[np.ndarray, str]:
    """Return features, and what they are."""
    X = rng.normal(size=(n, d))
    X[:, 0] += 2 * rng.integers(2, size=n)
    kind = str(rng.choice(list(_DATA)))
    return _DATA[kind](rng, X), kind


def _of_size(size: float) -> Callable[[Rng, np.ndarray], np.ndarray]:
    return lambda rng, X: X * size


def _constant_columns(rng: Rng, X: np.ndarray) -> np.ndarray:
    X[:, rng.random(X.shape[1]) < 0.6] = 10.0 ** rng.uniform(-6, 6) * rng.choice([-1, 0, 1])
    return X


def _one_large_feature(rng: Rng, X: np.ndarray) -> np.ndarray:
    X[:, int(rng.integers(X.shape[1]))] *= 10.0 ** rng.uniform(-30, 30)
    return X


def _duplicates(rng: Rng, X: np.ndarray) -> np.ndarray:
    few = max(1, len(X) // 4)
    return X[rng.integers(few, size=len(X))] * (1 + rng.choice([0, 1e-7], size=(len(X), 1)))


_DATA: Mapping[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "ordinary": _of_size(1.0),
    "ordinary again": _of_size(1.0),
    "positive": lambda rng, X: np.abs(X),
    "whole": lambda rng, X: np.round(np.abs(X) * 40),
    "bytes": lambda rng, X: np.round(np.clip(np.abs(X) * 40, 0, 255)),
    "sparse": lambda rng, X: np.where(rng.random(X.shape) < 0.8, 0.0, np.abs(X)),
    "of any size": lambda rng, X: X * 10.0 ** rng.uniform(-12, 12),
    "huge": _of_size(1e30),
    "tiny": _of_size(1e-30),
    "subnormal": _of_size(1e-42),
    "far from 0": lambda rng, X: X + 10.0 ** rng.uniform(0, 9),
    "of many scales": lambda rng, X: X * 10.0 ** rng.uniform(-9, 9, size=X.shape[1]),
    "one large or small feature": _one_large_feature,
    "constant columns": _constant_columns,
    "one value": lambda rng, X: np.full_like(X, 10.0 ** rng.uniform(-8, 8) * rng.choice([-1, 1])),
    "zeros": lambda rng, X: np.zeros_like(X),
    "duplicates": _duplicates,
    "a line": lambda rng, X: X[:, :1] * rng.normal(size=X.shape[1]),
}


def two_random_classes(rng: Rng, X: np.ndarray) -> np.ndarray:
    return random_classes(rng, X, 2)


def random_classes(rng: Rng, X: np.ndarray, most: int = 6) -> np.ndarray:
    """Return labels, of which each occurs; sometimes one sample a class, sometimes text."""
    k = int(min(len(X), most, rng.choice([2, 2, 2, 3, 4, 6])))
    score = X[:, 0] / (np.abs(X[:, 0]).max() or 1.0) + 0.1 * rng.normal(size=len(X))
    y = np.argsort(np.argsort(score)) * k // len(X)
    return np.array(["a", "b", "c", "d", "e", "f"])[y] if rng.random() < 0.3 else y


def random_values(rng: Rng, X: np.ndarray) -> np.ndarray:
    """Return values of a regression, sometimes all the same."""
    score = X[:, 0] / (np.abs(X[:, 0]).max() or 1.0) + 0.1 * rng.normal(size=len(X))
    if rng.random() < 0.1:
        score[:] = 0.5
    return np.asarray(score * 10.0 ** rng.choice([0, 0, 0, -20, -6, 6, 20]))
