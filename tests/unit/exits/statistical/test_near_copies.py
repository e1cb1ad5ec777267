"""Near copies are told from samples that are merely near, on made and on real data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from kmcompile.exits.statistical.near_copies import Groups, groups_of
from kmcompile.numeric.arrays import Float32Array

NOISES = (1e-6, 1e-5, 1e-4, 1e-3)
MOST_LOST = 0.05
"""Of independent samples: what calibration lets pass without counting groups once."""


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def bases(d: int, n: int = 200) -> np.ndarray:
    """Return independent samples whose features have very different scales and offsets."""
    return rng(d).normal(size=(n, d)) * 10.0 ** (np.arange(d) % 5 - 2) + np.arange(d)


def copied(base: np.ndarray, times: int, noise: float) -> tuple[Float32Array, np.ndarray]:
    """Return noisy copies in any order, as float32, and which sample each copies."""
    source = rng(1).permutation(np.repeat(np.arange(len(base)), times))
    moved = rng(2).normal(size=(len(source), base.shape[1])) * noise * base.std(axis=0)
    return (base[source] + moved).astype(np.float32), source


def assert_groups_are(groups: Groups, source: np.ndarray) -> None:
    """Compare with the groups of what each sample copies."""
    _, first, inverse = np.unique(source, return_index=True, return_inverse=True)
    assert np.array_equal(groups.first, first[inverse])


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("times", [2, 7, 50])
@pytest.mark.parametrize("d", [3, 40])
def test_copies_with_noise_are_one_group_each(d: int, times: int, noise: float) -> None:
    X, source = copied(bases(d, max(20, 400 // times)), times, noise if d > 3 else noise / 10)
    assert_groups_are(groups_of(X), source)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_iris, load_wine])
@pytest.mark.parametrize("noise", NOISES[:-1])
def test_copies_of_real_samples_count_once(load: Callable[[], object], noise: float) -> None:
    base = load().data[:150]
    X, _ = copied(base, 7, noise)
    n_base = len(groups_of(base.astype(np.float32)).firsts)
    assert len(groups_of(X).firsts) <= n_base / (1 - MOST_LOST)


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_copies_of_a_part_are_found_among_the_others(share: float) -> None:
    base = bases(8, 300)
    n_copied = int(share * len(base))
    X, source = copied(base, 4, 1e-5)
    kept = np.flatnonzero(source < n_copied)
    alone = base[n_copied:].astype(np.float32)
    groups = groups_of(np.concatenate([X[kept], alone]))
    assert_groups_are(groups, np.concatenate([source[kept], np.arange(n_copied, len(base))]))


def rounded_text(X: np.ndarray) -> np.ndarray:
    return np.array([[float(f"{value:.5g}") for value in row] for row in X])


WRITTEN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "float32": lambda X: X.astype(np.float32),
    "five digits": rounded_text,
    "one feature scaled": lambda X: X * np.r_[1 + 1e-4, np.ones(X.shape[1] - 1)],
    "noise in one feature": lambda X: (
        X + np.eye(X.shape[1])[2] * rng(3).normal(size=(len(X), 1)) * 1e-3
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_samples_written_twice_are_copies_however_they_were_written(name: str) -> None:
    base = bases(8)
    X = np.concatenate([base, WRITTEN[name](base)]).astype(np.float32)
    assert_groups_are(groups_of(X), np.tile(np.arange(len(base)), 2))


def independent() -> dict[str, np.ndarray]:
    """Return independent samples that are as near to each other as such samples get."""
    make, n = rng(4), 1500
    curve = make.uniform(size=(n, 1))
    centres = make.normal(size=(40, 4))
    return {
        "a line": make.normal(size=(n, 1)),
        "a curve": np.hstack([np.sin(7 * curve), np.cos(3 * curve), curve**2]),
        "a plane": make.uniform(size=(n, 2)),
        "far values": make.standard_t(1.5, size=(n, 4)),
        "one wild value": np.r_[make.normal(size=(n - 1, 5)), np.full((1, 5), 1e30)],
        "a mixture": centres[make.integers(0, 40, n)] + 0.05 * make.normal(size=(n, 4)),
        "a random walk": np.cumsum(make.normal(size=(n, 6)), axis=0),
        "many zeros": make.lognormal(size=(n, 20)) * (make.uniform(size=(n, 20)) < 0.3),
        "one column twelve times": np.repeat(make.normal(size=(n, 3)), 4, axis=1),
        "a constant column": np.hstack([make.normal(size=(n, 3)), np.full((n, 1), 7.0)]),
        "counts beside a number": np.c_[make.integers(0, 5, (n, 3)), make.normal(size=n)],
        "one hot beside a number": np.c_[np.eye(40)[make.integers(0, 40, n)], make.normal(size=n)],
        "two decimals": np.round(make.normal(size=(n, 3)), 2),
    }


@pytest.mark.parametrize("name", independent())
def test_independent_samples_are_no_copies(name: str) -> None:
    X = np.unique(independent()[name].astype(np.float32), axis=0)
    assert len(groups_of(X).firsts) > (1 - MOST_LOST) * len(X)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_iris, load_wine])
def test_real_samples_are_no_copies(load: Callable[[], object]) -> None:
    X = load().data.astype(np.float32)
    n_different = len(np.unique(X, axis=0))
    assert n_different >= len(X) - 1  # iris has one twice
    assert len(groups_of(X).firsts) == n_different


def test_samples_on_a_grid_repeat_only_what_they_equal() -> None:
    X = rng(5).integers(0, 8, size=(1000, 3)).astype(np.float32)
    assert len(groups_of(X).firsts) == len(np.unique(X, axis=0))


def test_groups_are_the_same_every_time_and_follow_the_order_of_the_samples() -> None:
    X, source = copied(bases(12), 7, 1e-4)
    assert np.array_equal(groups_of(X).first, groups_of(X.copy()).first)
    order = rng(6).permutation(len(X))
    assert_groups_are(groups_of(X[order]), source[order])


@pytest.mark.parametrize("X", [np.zeros((0, 3)), np.ones((1, 3)), np.ones((5, 3)), np.eye(3)])
def test_few_samples_have_groups_too(X: np.ndarray) -> None:
    groups = groups_of(X.astype(np.float32))
    assert len(groups.firsts) == len(np.unique(X, axis=0))
