"""Vectors shared out over leaves: no other shares leave a smaller largest error."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from kit.reductions import TASKS, left_of, small_machine
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.passes.reduction.shares import errors_left, shared_out


@pytest.mark.parametrize("task", TASKS)
def test_the_errors_are_those_of_the_selection(task):
    chosen = pursue(small_machine(task, n=12), 12, "orthogonal_least_squares")
    errors = errors_left(chosen)
    assert len(errors) == len(chosen) + 1
    assert (np.diff(errors) <= 0).all()
    # Squares are differences: their rounding errors are a share of |W|^2.
    off = np.sqrt(1e-12 * chosen.squares.max())
    for n, error in enumerate(errors):
        assert abs(error - np.sqrt(left_of(chosen, n).max())) <= off


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_error_left_is_the_smallest(seed):
    rng = np.random.default_rng(seed)
    errors = [np.sort(rng.random(size))[::-1] for size in rng.integers(1, 6, size=4)]
    most = sum(len(own) - 1 for own in errors)
    for n in range(most + 3):
        shares = shared_out(errors, n)
        assert shares.sum() == min(n, most)
        left = max(own[share] for own, share in zip(errors, shares, strict=True))
        others = product(*(range(len(own)) for own in errors))
        assert left == min(
            max(own[share] for own, share in zip(errors, other, strict=True))
            for other in others
            if sum(other) <= n
        )
