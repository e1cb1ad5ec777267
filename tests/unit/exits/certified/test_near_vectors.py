"""The nearest vectors of many are those that sorting all distances gives, ties included."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.exits.certified.likely import _NEAREST, _nearest


def by_sorting(seen: np.ndarray, classes: np.ndarray, first: np.ndarray) -> np.ndarray:
    square = (seen**2).sum(axis=1)
    distance = square[first, None] + square - 2 * seen[first] @ seen.T
    distance[classes[first, None] != classes] = np.inf
    nearest = np.argsort(distance, axis=1, kind="stable")[:, : _NEAREST + 1]
    alike = np.take_along_axis(distance, nearest, axis=1) < np.inf
    return np.where(alike, nearest, first[:, None])


@pytest.mark.parametrize(("n", "n_features"), [(700, 3), (400, 20), (50, 1), (3, 2), (1, 2)])
def test_near_vectors_are_those_of_a_stable_sort(n: int, n_features: int) -> None:
    rng = np.random.default_rng(n)
    seen = rng.normal(size=(n, n_features))
    seen[::7] = seen[0]  # as many are equally near
    classes = rng.integers(0, 4, n)
    classes[:2] = 9  # fewer than are asked for
    first = rng.integers(n, size=300)
    expected = by_sorting(seen, classes, first)
    assert np.array_equal(_nearest(seen, classes, first), expected)
