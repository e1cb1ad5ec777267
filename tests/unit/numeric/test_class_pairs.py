"""Pairs of classes that a leaf's classes settle."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.numeric.class_pairs import settled_decisions


@pytest.mark.parametrize("n_present", [1, 2, 3, 5])
def test_all_pairs_have_the_winner_of_the_own_pairs(n_present: int):
    n_classes = 5
    rng = np.random.default_rng(n_present)
    first, second = np.triu_indices(n_classes, 1)
    for _ in range(200):
        present = np.zeros(n_classes, dtype=bool)
        present[rng.choice(n_classes, n_present, replace=False)] = True
        own = present[first] & present[second]
        decisions = settled_decisions(present)
        decisions[own] = rng.normal(size=own.sum())
        winners = np.where(decisions > 0, first, second)
        of_own = np.bincount(winners[own], minlength=n_classes)
        expected = np.where(present, of_own, -1).argmax()  # of equal votes the first class
        assert np.bincount(winners, minlength=n_classes).argmax() == expected
