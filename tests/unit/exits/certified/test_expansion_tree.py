"""The centres of expansions: means of likely inputs, in float32."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.certified.expansion_tree import _split


def test_no_part_is_empty_where_rounding_makes_means_alike() -> None:
    samples = np.array([[1.0], [1.0 + 1e-12], [1.0 + 1e-12]])
    parts = list(_split(samples, np.zeros(3), np.arange(3), 4))
    assert [mean.tolist() for mean, _ in parts] == [[1.0]] * 4
    assert [cell.tolist() for _, cell in parts] == [[0, 1, 2]] * 4


def test_parts_hold_the_samples_nearest_to_their_mean() -> None:
    samples = np.array([[0.0], [0.5], [8.0], [8.5]])
    sides = np.zeros(4)
    parts = {mean.item(): cell.tolist() for mean, cell in _split(samples, sides, np.arange(4), 2)}
    assert parts == {0.25: [0, 1], 8.25: [2, 3]}


def test_samples_of_other_labels_are_told_apart() -> None:
    """The labels meet where the samples lie densest, away from the widest gap."""
    samples, labels = np.array([[0.0], [2.0], [2.5], [3.5]]), np.array([0, 0, 1, 1])
    of_sides = [
        sorted(mean.item() for mean, _ in _split(samples, sides, np.arange(4), 2))
        for sides in (np.zeros(4), labels)
    ]
    assert of_sides[0][0] == 0.0
    assert of_sides[1] == [1.0, 3.0]
