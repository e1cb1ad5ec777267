"""The example of divide-and-conquer prediction, on small made-up samples."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import kmcompile
from kmcompile.kernels.fourier import FourierFloat32
from kmcompile.kernels.rbf import RbfFloat32

_FOLDER = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "routed"
_EPS = np.finfo(float).eps


@pytest.fixture(scope="module", autouse=True)
def modules():
    """The example with its two neighbours, which it imports as a script does."""
    sys.path.insert(0, str(_FOLDER))
    names = ("baselines", "costs", "dcpred")
    try:
        yield [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(str(_FOLDER))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture
def baselines(modules):
    return modules[0]


@pytest.fixture
def costs(modules):
    return modules[1]


@pytest.fixture
def example(modules):
    return modules[2]


def test_the_rows_of_fastfood_have_lengths_of_gaussian_ones(baselines):
    X = np.zeros((1, 8))
    rows = baselines.Fastfood(64, 0.5).fit(X).projections_.T
    # S H G P H B / sqrt(d') makes |row|^2 a chi-squared draw of 8; the mean of 64 within four
    # deviations of sqrt(16 / 64).
    assert abs((rows**2).sum(axis=1).mean() - 8) < 4 * np.sqrt(16 / 64)


def test_nystroem_has_the_kernel_of_its_centres(baselines):
    X = np.random.default_rng(0).normal(size=(50, 3))
    features = baselines.KMeansNystroem(5, 0.3).fit(X)
    U = features.centres_
    kernel = baselines.rbf(U, U, 0.3)
    values = np.linalg.eigvalsh(kernel)
    mapped = features.transform(U)
    error = np.abs(mapped @ mapped.T - kernel).max()
    assert error <= 100 * _EPS * values[-1] / values[0]


def test_costs_are_sums_of_the_compilers_counts(costs):
    of_kernel = 10 + RbfFloat32.finish_operations + 3
    of_cosine = FourierFloat32.finish_operations + 3
    assert costs.nystroem(7, 10, 1) == 7 * of_kernel
    assert costs.fourier(7, 10, 1) == 7 * (10 + of_cosine)
    # 17 features are two blocks of 16: two transforms of 16 log2(16) additions, two diagonals.
    assert costs.fastfood(17, 10, 1) == 2 * (2 * 64 + 2 * 16) + 17 * of_cosine


@pytest.mark.parametrize("regression", [False, True])
def test_no_method_costs_more_than_the_budget(example, monkeypatch, regression):
    methods = dict(example.METHODS)
    for name, method in methods.items():
        few = method.candidates[:1] if name != "DC-Pred++" else ((1, 2, 1), (3, 2, 1))
        methods[name] = example.Method(few, method.make, method.cost)
    monkeypatch.setattr(example, "METHODS", methods)
    split = _split(example, regression)
    rows = list(example.curves(split, (1, 30)))
    assert [point is None for point in rows[0]] == [False, True, True, True, False]
    for budget, row in zip((1, 30), rows, strict=True):
        assert all(point.cost <= budget for point in row if point is not None)
    assert rows[1][-1].error < rows[1][0].error
    assert len(example.shown(rows[0], regression).split(" | ")) == 8


def test_the_counted_path_is_the_longest_one(costs, example):
    split = _split(example, True)
    model = example.DCPredRegressor(3, 2, polish=False, random_state=0).fit(split.X, split.y)
    d, sizes = split.d, np.diff(model.leaf_ends_, prepend=0)
    path = costs.depths(model) * (d + costs.COMPARISON)
    assert sorted(costs.depths(model)) == [1, 2, 2]
    of_leaf = sizes * (costs.landmark(d, 1) + 1) + d
    assert costs.routed(model) == (path + of_leaf).max()


def _split(example, regression):
    X = np.random.default_rng(1).uniform(-1, 1, size=(400, 4))
    y = X[:, 0] * X[:, 1]
    y = y if regression else np.where(y > 0, 1.0, -1.0)
    return example.Split(X[:300], y[:300], X[300:], y[300:], regression)
