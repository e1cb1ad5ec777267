"""The centres of expansions: means of likely inputs, in float32."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.certified.expansion_tree import _split


def test_no_part_is_empty_where_rounding_makes_means_alike() -> None:
    samples = np.array([[1.0], [1.0 + 1e-12], [1.0 + 1e-12]])
    parts = list(_split(samples, np.arange(3), 4))
    assert [mean.tolist() for mean, _ in parts] == [[1.0]] * 4
    assert [cell.tolist() for _, cell in parts] == [[0, 1, 2]] * 4


def test_parts_hold_the_samples_nearest_to_their_mean() -> None:
    samples = np.array([[0.0], [0.5], [8.0], [8.5]])
    parts = {mean.item(): cell.tolist() for mean, cell in _split(samples, np.arange(4), 2)}
    assert parts == {0.25: [0, 1], 8.25: [2, 3]}
