"""The nearest of a growing set of points, beside all distances at once."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.training import nearest_so_far
from kmcompile.training.condensing import condense
from kmcompile.training.nearest_so_far import NearestSoFar


def squared_distances(X: np.ndarray, points: np.ndarray) -> np.ndarray:
    return ((X[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)


@pytest.mark.parametrize("block_values", [1, 100, 1 << 19])
@pytest.mark.parametrize("whole", [False, True])
def test_nearest_and_second_are_those_of_all_distances(
    whole: bool, block_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_so_far, "_BLOCK_VALUES", block_values)
    random = np.random.default_rng(0)
    X = random.random((60, 12))
    X = np.round(2 * X) if whole else X  # whole numbers: many equal distances
    found = NearestSoFar(X)
    added = np.zeros(60, dtype=bool)
    for part in np.split(random.permutation(60)[:30], [1, 2, 12]):
        found.add(np.sort(part))
        added[part] = True
        rows = np.flatnonzero(added)
        squared = squared_distances(X, X[rows])
        ordered = np.sort(squared, axis=1)
        assert np.array_equal(found.squared, ordered[:, 0])
        assert np.array_equal(found.nearest, rows[squared.argmin(axis=1)])
        if len(rows) > 1:
            assert (np.abs(found.second - ordered[:, 1]) <= found.slack).all()
            equal = np.flatnonzero(~added & (ordered[:, 1] == ordered[:, 0]))
            assert np.isin(equal, found.close(added)).all()
        else:
            assert np.isinf(found.second).all()


def test_no_points_change_nothing() -> None:
    found = NearestSoFar(np.eye(12))
    found.add(np.empty(0, dtype=np.int64))
    assert np.isinf(found.squared).all()


@pytest.mark.parametrize("whole", [False, True])
def test_condensed_points_give_every_point_its_leaf(whole: bool) -> None:
    random = np.random.default_rng(1)
    X = random.random((300, 12))
    X = np.round(X) if whole else X
    leaves = random.integers(4, size=300)
    chosen = condense(X, leaves, np.array([5, 9]))
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    nearest = chosen[squared_distances(X, X[chosen]).argmin(axis=1)]
    assert np.array_equal(leaves[nearest], leaves[first[inverse.ravel()]])
