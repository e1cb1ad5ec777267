"""The sections of a pair's sum are added strictly from first to last, for any number of queries."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kmcompile.program.stages.sums.pair_sum import SECTION, PairSum


def one_by_one(products: np.ndarray) -> np.ndarray:
    total = np.zeros(products.shape[1], dtype=products.dtype)
    for start in range(0, len(products), SECTION):
        section = np.zeros_like(total)
        for product in products[start : start + SECTION]:
            section += product
        total += section
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_queries", [1, 2, 33])
@pytest.mark.parametrize("n", [0, 1, SECTION, 5 * SECTION + 3])
def test_sections_are_added_from_first_to_last(n: int, n_queries: int, dtype: type) -> None:
    rng = np.random.default_rng(n)
    values = (rng.normal(size=(50, n_queries)) * 10.0 ** rng.integers(-4, 4, size=(50, 1))).astype(
        dtype
    )
    vectors, coef = rng.integers(50, size=n), rng.normal(size=n).astype(dtype)
    stage = SimpleNamespace(entry_vectors=vectors, coefficients=coef)
    added = PairSum._added(stage, values, slice(0, n))
    expected = one_by_one(values[vectors] * coef[:, None])
    assert np.array_equal(added.view(np.uint8), expected.view(np.uint8))
