"""Upper bounds on eigenvalues of weighted Hadamard powers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kmcompile.exits.certified.hadamard import largest_eigenvalues


def real_rows() -> np.ndarray:
    """Return digits less their mean, shape (150, 64)."""
    X = load_digits().data[:150] / 16
    return X - X.mean(axis=0)


def eigenvalues(rows: np.ndarray, delta: np.ndarray, n_powers: int) -> np.ndarray:
    gram = rows @ rows.T
    weighted = [delta[:, None] * gram**k * delta for k in range(1, n_powers + 1)]
    return np.array([np.linalg.eigvalsh(matrix)[-1] for matrix in weighted])


@pytest.mark.parametrize("power", [0.0, 0.4, 3.0])
def test_no_eigenvalue_is_larger_than_its_bound(power):
    rows = real_rows()
    delta = np.random.default_rng(3).uniform(0.01, 1.0, size=len(rows)) ** power
    bounds, true = largest_eigenvalues(rows, delta, 9), eigenvalues(rows, delta, 9)
    assert (bounds >= true).all()


def test_bounds_of_the_first_and_of_even_powers_are_eigenvalues():
    """A power of even order has no negative entry: its spectral radius is the eigenvalue."""
    rows, delta = real_rows(), np.ones(150)
    bounds, true = largest_eigenvalues(rows, delta, 8), eigenvalues(rows, delta, 8)
    assert np.allclose(bounds[[0, 1, 3, 5, 7]], true[[0, 1, 3, 5, 7]], rtol=0.05)


def test_vectors_of_zeros_have_bounds_near_zero():
    assert (largest_eigenvalues(np.zeros((3, 2)), np.ones(3), 4) < 1e-300).all()
