"""The sets of `falk_sets.py`: files of `$KMCOMPILE_DATA` or `../shared/data`, and made-up ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from falk import DATA, Split, checkerboard

N_GENERATED = 100_000
N_MILLION = 1_000_000
NOISE = 0.058
MEDIANS = ("cpusmall", "cadata", "kin8nm")
"""Regressions: the class is whether the target is above the median of the training samples."""


def spirals(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of two spirals around the origin, and the spiral of each."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    turns = 3.0 * np.sqrt(random.random(n))
    angle = 2 * np.pi * turns + np.pi * y
    X = (turns / 3.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + random.normal(scale=0.04, size=(n, 2)), y


Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
GENERATED: dict[str, Callable[[], Parts]] = {
    "spirals": lambda: (*spirals(N_GENERATED, 0), *spirals(N_GENERATED, 1)),
    "spirals_million": lambda: (*spirals(N_MILLION, 0), *spirals(N_GENERATED, 1)),
    "checkerboard": lambda: (*checkerboard(N_GENERATED, 0, 0), *checkerboard(N_GENERATED, 0, 1)),
    "checkerboard_noise": lambda: (
        *checkerboard(N_GENERATED, NOISE, 0),
        *checkerboard(N_GENERATED, NOISE, 1),
    ),
}
FILES = ("ijcnn1", "letter", "covtype_bin", "a9a", "skin", *MEDIANS)


def split_of(name: str) -> Split:
    """Return the samples of a set, scaled to [0, 1] by the training samples; ijcnn1 as it is."""
    if name in GENERATED:
        parts = GENERATED[name]()
    else:
        data = np.load(DATA / f"{name}.npz")
        parts = tuple(data[part] for part in ("X_train", "y_train", "X_test", "y_test"))
    X, y, X_test, y_test = parts
    if name in MEDIANS:
        median = np.median(y)
        y, y_test = (y > median).astype(int), (y_test > median).astype(int)
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    if name == "ijcnn1":
        low, high = np.zeros_like(low), np.ones_like(high)
    width = np.where(high > low, high - low, 1.0)
    X, X_test = (np.float32((part - low) / width).astype(np.float64) for part in (X, X_test))
    return Split(X, y, X_test, y_test)
