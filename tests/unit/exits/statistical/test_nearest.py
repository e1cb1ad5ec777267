"""Nearest vectors as they are made for a machine: directions, sizes, and what tests see."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_cases import Case, digits, mnist_pair

from kmcompile.exits.statistical.fits import estimates_of
from kmcompile.exits.statistical.nearest import nearest_vectors, principal_directions, totals
from kmcompile.numeric.arrays import lane_blocks
from kmcompile.program.interpreter import classify
from kmcompile.program.stages import NearestVectors

CASES = [("rbf", 2), ("poly", 2), ("sigmoid", 2), ("rbf", 10)]


def stage_of(case: Case, levels: tuple[int, ...], steps: list[int], paper: bool) -> NearestVectors:
    return nearest_vectors(case.exact, levels, np.array(steps, int), case.skip_zeros, np.inf, paper)


def sums_of(case: Case) -> np.ndarray:
    """Return the program's own exact sums, within `case.errors` of the real ones."""
    return case.samples.decisions


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_directions_are_the_uncentred_principal_ones_of_the_vectors(
    kernel: str, n_classes: int
) -> None:
    exact, n = digits(kernel, n_classes).exact, 12
    directions = principal_directions(exact, n)
    assert np.abs(directions @ directions.T - np.eye(n)).max() < 64 * 64 * 2.0**-52
    used = (exact.slot_decisions() != 0).any(axis=1)
    vectors = exact.columns().T.astype(np.float64)[used]
    sizes = np.linalg.svd(vectors, compute_uv=False)
    found = np.sqrt(((vectors @ directions.T) ** 2).sum(axis=0))
    # Eigenvalues of the squares carry the unit of the largest one (Weyl).
    assert (np.abs(found**2 - sizes[:n] ** 2) <= 64 * 64 * 2.0**-52 * sizes[0] ** 2).all()
    assert (np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1) > 0).all()


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_control_variate_is_the_exact_sum_in_all_dimensions(kernel: str, n_classes: int) -> None:
    case = digits(kernel, n_classes)
    stage = stage_of(case, (16, case.exact.n_features), [], paper=False)
    values = estimates_of(stage, case.program.ends, case.x).values
    # Orthonormal rows and projections are rounded to float32, which moves a total as storing
    # vectors and input does in the exact sum; kernels and sums have that sum's bound.
    assert (np.abs(values[-1] - sums_of(case)) <= 8 * case.errors).all()
    assert (np.abs(values[0] - sums_of(case)) > 8 * case.errors).any()


@pytest.mark.parametrize("paper", [False, True])
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_all_touched_vectors_give_the_exact_sum(kernel: str, n_classes: int, paper: bool) -> None:
    if paper and n_classes > 2:
        pytest.skip("the paper's scheme is for two classes")
    case = digits(kernel, n_classes)
    steps = [1, case.exact.n_vectors]
    stage = stage_of(case, (12,), steps, paper)
    values = estimates_of(stage, case.program.ends, case.x).values[-1]
    assert (np.abs(values - sums_of(case)) <= 4 * case.errors).all()


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_error_falls_as_vectors_are_touched(kernel: str, n_classes: int) -> None:
    case = digits(kernel, n_classes)
    steps = [8, 32, 128]
    values = estimates_of(stage_of(case, (12,), steps, False), case.program.ends, case.x).values
    errors = [np.abs(v - sums_of(case)).mean() for v in values]
    assert errors == sorted(errors, reverse=True)


def test_more_dimensions_are_a_better_estimate() -> None:
    case = mnist_pair()
    stage = stage_of(case, (4, 16, 64), [], paper=False)
    values = estimates_of(stage, case.program.ends, case.x).values
    errors = [np.abs(v - sums_of(case)).mean() for v in values]
    assert errors == sorted(errors, reverse=True)


def test_padding_is_never_touched() -> None:
    case = digits("rbf", 10)
    stage = stage_of(case, (12,), [4], paper=False)
    beta = case.exact.slot_decisions()
    assert (stage.weights[(beta == 0).all(axis=1)] == 0).all()
    assert (stage.weights > 0).sum() == case.exact.n_vectors


@pytest.mark.parametrize("paper", [False, True])
def test_stage_decides_nothing_as_it_is_made(paper: bool) -> None:
    case = digits("rbf", 2)
    program = case.with_stages(stage_of(case, (12,), [4, 32], paper))
    assert (classify(program, case.X)[0]["stage"] == 1).all()


@pytest.mark.parametrize("distance", [False, True])
def test_totals_are_inner_products_or_squared_distances(distance: bool) -> None:
    x = mnist_pair().x[:50].astype(np.float64)
    s = mnist_pair().exact.columns().T[:40].astype(np.float64)
    if distance:
        expected = ((x[:, None] - s[None]) ** 2).sum(axis=2)
    else:
        expected = (x[:, None] * s[None]).sum(axis=2)
    size = (x**2).sum(axis=1)[:, None] + (s**2).sum(axis=1)
    assert (np.abs(totals(distance, x, s) - expected) <= 4 * x.shape[1] * 2.0**-52 * size).all()
    assert totals(True, x, x).min() >= 0


def test_blocks_hold_row_after_row() -> None:
    rows = digits("rbf", 2).x[:24].astype(np.float64)
    blocks = lane_blocks(rows, 8)
    assert blocks.shape == (3, 64, 8)
    assert all(np.array_equal(blocks[i // 8, :, i % 8], rows[i]) for i in range(24))
