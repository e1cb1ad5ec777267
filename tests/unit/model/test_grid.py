"""Which data lie on an integer grid: what is found is exact, and nothing is found by accident."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

from kmcompile.kernels import Rbf
from kmcompile.model.grid import LARGEST_CODE, float32_factor, grid_factor, integer_grid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import Affine, Clip

RNG = np.random.default_rng(11)
CODES = RNG.integers(0, 256, size=(60, 9))


def machine_of(vectors: np.ndarray, *steps: Affine | Clip) -> KernelMachine:
    """Return a machine with these vectors."""
    m, n = vectors.shape
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(0.5),
        support_vectors=vectors,
        dual_coef=np.ones((1, m)),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=n,
        preprocessing=steps,
    )


def largest_error(vectors: np.ndarray, grid: tuple[np.ndarray, float]) -> float:
    """Return the largest distance of a vector from its integers, in their units."""
    codes = (vectors - grid[0]) * grid[1]
    return float(np.sqrt(((codes - np.rint(codes)) ** 2).sum(axis=1)).max())


@pytest.mark.parametrize(
    ("values", "factor"),
    [
        (CODES, 1.0),
        (CODES / 255, 255.0),
        (CODES / 127.5 - 1, 255.0),
        (CODES / 100, 100.0),
        (CODES * 0.01, 100.0),
        (CODES / 4, 4.0),
        (CODES * 16, 1 / 16),
        (CODES * (3.3 / 4096), 4096 / 3.3),
        (CODES + 1e6, 1.0),
        (np.round(CODES * 0.01 + 1e6, 2), 100.0),
        (np.round(CODES * 0.1 + 0.3, 1), 10.0),
        (np.add.outer(np.arange(5) * 0.1, np.arange(7) * 0.1), 10.0),
        (RNG.integers(-32768, 32768, size=(50, 3)), 1.0),
        (np.column_stack([CODES, np.full(60, 7.1)]), 10.0),
        (CODES * (CODES > 128), 1.0),
        (np.zeros((3, 3)), 1.0),
        (np.array([[5.0, 10.0], [15.0, 5.0]]), 1.0),
        (np.array([[3.0, 6.0, 250.0]]), 1.0),
        (np.array([[-1.0, 1.0], [1.0, -1.0]]), 1.0),
    ],
)
def test_the_factor_of_data_on_a_grid(values, factor):
    found = grid_factor(np.asarray(values, dtype=np.float64))
    # Whole factors and their reciprocals are exact; another one is a quotient of two sums.
    whole = factor == round(factor) or 1 / factor == round(1 / factor)
    assert abs(found - factor) <= (0.0 if whole else 2.0**-50 * factor)


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=(200, 5)),
        np.round(RNG.normal(size=(200, 5)), 6),
        (CODES / 255).astype(np.float32),
        np.column_stack([RNG.normal(size=60), CODES]),
        1e6 + RNG.normal(size=(5, 1)),
        np.array([[0.5137]]),
        RNG.normal(size=(1, 4)),
        load_breast_cancer().data,
    ],
)
def test_real_data_have_no_factor(values):
    assert grid_factor(np.asarray(values, dtype=np.float64)) is None


def test_few_real_numbers_have_no_factor():
    """Two or three numbers have a common divisor to many digits, but no whole factor."""
    for n in (1, 2, 3, 5, 8, 12):
        assert all(grid_factor(RNG.normal(size=(n, 1))) is None for _ in range(200))


@settings(max_examples=200)
@given(
    st.integers(-LARGEST_CODE, LARGEST_CODE),
    st.integers(0, LARGEST_CODE),
    st.sampled_from([1.0, 255.0, 100.0, 4.0, 3.0, 1 / 7, 1024 / 3.3]),
    st.sampled_from([0.0, 17.0, 1e5]),
    st.integers(0, 1000),
)
def test_what_is_found_makes_integers_of_the_vectors(low, spread, factor, added, seed):
    rng = np.random.default_rng(seed)
    vectors = (rng.integers(low, low + spread + 1, size=(12, 4)) + added) / factor
    grid = integer_grid(machine_of(vectors))
    if grid is not None:
        assert largest_error(vectors, grid) < 1e-6
        assert np.abs((vectors - grid[0]) * grid[1]).max() <= LARGEST_CODE + 1e-6


@pytest.mark.parametrize("factor", [1 / 255, 0.02, -3.0])
def test_the_grid_is_that_of_the_raw_input(factor):
    offset = RNG.normal(size=9) * 40
    step = Affine(offset, np.full(9, factor))
    vectors = step.apply(CODES.astype(np.float64))
    grid = integer_grid(machine_of(vectors, step))
    assert grid is not None
    assert largest_error(vectors, grid) < 1e-6
    assert np.array_equal(np.rint((vectors - grid[0]) * grid[1]), CODES)


def test_a_column_far_from_0_is_moved_by_whole_codes():
    vectors = CODES / 4 + np.array([1e5] + [0.0] * 8)
    grid = integer_grid(machine_of(vectors))
    assert grid is not None and grid[1] == 4.0
    assert np.array_equal(grid[0] * 4.0, np.rint(grid[0] * 4.0))
    assert largest_error(vectors, grid) == 0.0


@pytest.mark.parametrize("step", [Affine(np.zeros(9), np.arange(1.0, 10.0)), Clip(0.0, 1.0, 9)])
def test_other_preprocessing_has_no_grid(step):
    assert integer_grid(machine_of(CODES.astype(np.float64), step)) is None


def test_more_than_16_bits_are_no_grid():
    assert integer_grid(machine_of(np.array([[0.0], [1.0], [65536.0]]))) is None


def test_digits_are_whole_numbers():
    assert grid_factor(load_digits().data) == 1.0
    assert grid_factor(load_digits().data / 16) == 16.0


def test_data_divided_in_float32() -> None:
    """float32(k / n) is no grid in float64; that every value is one says so."""
    codes = np.random.default_rng(0).integers(0, 256, size=(50, 30))
    for n in (255, 100, 1000):
        values = (codes.astype(np.float32) / np.float32(n)).astype(np.float64)
        assert grid_factor(values) is None
        assert float32_factor(values) == n


def test_real_data_in_float32_are_no_grid() -> None:
    """Random float32 numbers have no such factor, however few digits they have."""
    rng = np.random.default_rng(1)
    for values in (rng.random((50, 30)), rng.standard_normal((50, 30)) * 100):
        assert float32_factor(values.astype(np.float32).astype(np.float64)) is None
