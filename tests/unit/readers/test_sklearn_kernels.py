"""Names of sklearn.metrics.pairwise give its kernel values; what has no image is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import pairwise_kernels

from kmcompile.errors import InputError
from kmcompile.kernels import Linear, Poly
from kmcompile.readers.sklearn.kernels import pairwise_kernel, through

X = load_iris().data / 8.0
VECTORS, QUERIES = X[::3], X[1::3]
N = X.shape[1]
STEEPEST = 64.0
"""Largest slope of the kernels below in a sum of terms: |x| <= 1.33, the values' in the sums."""
TOLERANCE = STEEPEST * (8 * N + 32) * 2.0**-53 * 4.0
"""Of either side: 8 n + 32 roundings of sums below 4, times the slope."""

GIVEN = [
    ("linear", {}),
    ("poly", {}),
    ("polynomial", {"gamma": 0.5, "coef0": -0.25, "degree": 2}),
    ("poly", {"coef0": 0, "degree": 4.0}),
    ("rbf", {}),
    ("rbf", {"gamma": 2}),
    ("sigmoid", {}),
    ("sigmoid", {"gamma": 0.5, "coef0": -1.0}),
    ("laplacian", {}),
    ("laplacian", {"gamma": 3.0}),
    ("chi2", {}),
    ("chi2", {"gamma": 0.125}),
    ("additive_chi2", {}),
    ("cosine", {}),
]


def values(name, vectors=VECTORS, queries=QUERIES, **given):
    steps, kernel = pairwise_kernel(name, vectors.shape[1], **given)
    return kernel.values(through(steps, vectors), through(steps, queries))


@pytest.mark.parametrize(("name", "given"), GIVEN, ids=str)
def test_values_are_those_of_scikit_learn(name, given):
    expected = pairwise_kernels(QUERIES, VECTORS, metric=name, **given)
    assert np.abs(values(name, **given) - expected).max() <= TOLERANCE


def test_what_a_kernel_does_not_have_is_ignored_as_in_scikit_learn():
    given = {"gamma": 2.0, "coef0": 5.0, "degree": 7}
    expected = pairwise_kernels(QUERIES, VECTORS, metric="laplacian", filter_params=True, **given)
    assert np.abs(values("laplacian", **given) - expected).max() <= TOLERANCE


def test_cosine_leaves_a_row_of_zeros():
    queries = np.vstack([np.zeros(N), np.full(N, 1e-300), QUERIES[:1]])
    expected = pairwise_kernels(queries, VECTORS, metric="cosine")
    assert np.abs(values("cosine", queries=queries) - expected).max() <= TOLERANCE


@pytest.mark.parametrize("coef0", [0.0, 0.5])
def test_normalized_poly_is_the_quotient_by_the_roots_of_both_own_values(coef0):
    gamma, degree = 2.0, 3

    def own(a, b):
        return np.sum(gamma * a * b, axis=-1) + coef0

    ratio = own(QUERIES[:, None], VECTORS[None]) / np.sqrt(
        own(QUERIES, QUERIES)[:, None] * own(VECTORS, VECTORS)
    )
    given = {"gamma": gamma, "coef0": coef0, "degree": degree}
    assert np.abs(values("normalized_poly", **given) - ratio**degree).max() <= TOLERANCE
    steps, kernel = pairwise_kernel("normalized_poly", N, **given)
    assert kernel == Poly(1.0, 0.0, degree)
    assert [str(step) for step in steps][-1] == "normalize by l2"
    assert len(steps) == (2 if coef0 else 1)


def test_intersection_is_the_sum_of_the_smaller_features():
    expected = np.minimum(QUERIES[:, None], VECTORS[None]).sum(axis=2)
    assert np.abs(values("intersection") - expected).max() <= TOLERANCE


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "poly", "sigmoid"])
@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "scale", True])
def test_a_gamma_that_no_kernel_has_is_refused(name, gamma):
    with pytest.raises(InputError, match=r"^KernelRidge\.gamma is .*, must be "):
        pairwise_kernel(name, 3, gamma=gamma, prefix="KernelRidge.")


@pytest.mark.parametrize("degree", [2.5, -1, 2**31, "3"])
def test_a_degree_that_is_not_whole_is_refused(degree):
    with pytest.raises(InputError, match=r"^degree is .*, must be "):
        pairwise_kernel("poly", 3, degree=degree)


@pytest.mark.parametrize("name", ["additive", "precomputed", "RBF", 3, None, np.dot])
def test_other_kernels_are_refused_and_the_remedy_is_told(name):
    with pytest.raises(InputError, match=r"^kernel is .*, must be linear, .*;\nretrain with one"):
        pairwise_kernel(name, 3)


def test_linear_has_no_parameters():
    assert pairwise_kernel("linear", 3, gamma=-1) == ((), Linear())
