"""Functions and objects of scikit-learn as kernels: the same alive and from a pickle."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest
from function_names import function_name
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.metrics import pairwise
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM
from sklearn_agreement import assert_agrees, fitted

from kmcompile.errors import InputError
from kmcompile.readers.pickles.reader import read_pickle
from kmcompile.readers.sklearn.kernel_functions import FUNCTIONS, function_kernel, is_function
from kmcompile.readers.sklearn.kernels import through

RNG = np.random.default_rng(5)
VECTORS, QUERIES = RNG.random((7, 3)), RNG.random((5, 3))
TOLERANCE = 64.0 * (8 * 3 + 32) * 2.0**-53 * 4.0
"""As in test_sklearn_kernels: features in [0, 1]."""

KERNELS = [getattr(pairwise, name) for name in FUNCTIONS] + [
    functools.partial(pairwise.laplacian_kernel, gamma=2.0),
    functools.partial(pairwise.polynomial_kernel, gamma=0.5, coef0=0.0, degree=2),
    functools.partial(pairwise.cosine_similarity),
    Matern(0.7, nu=1.5),
    1.0 * RationalQuadratic(0.5, alpha=3.0) + WhiteKernel(0.1),
    RBF([0.5, 1.0, 2.0]),
    2.0 * DotProduct(0.5),
]


def renamed(x, y):
    return x @ y.T


renamed.__name__, renamed.__module__ = "linear_kernel", pairwise.__name__


@pytest.mark.parametrize("kernel", KERNELS, ids=function_name)
@pytest.mark.parametrize("protocol", [None, 0, 2, 5])
def test_values_are_those_that_the_function_returns(kernel, protocol):
    given = kernel if protocol is None else read_pickle(pickle.dumps(kernel, protocol))
    assert is_function(given)
    steps, image = function_kernel(given, 3)
    values = image.values(through(steps, VECTORS), through(steps, QUERIES))
    assert np.abs(values - kernel(QUERIES, VECTORS)).max() <= TOLERANCE


@pytest.mark.parametrize(
    "kernel", [renamed, np.dot, pairwise.manhattan_distances, len], ids=function_name
)
def test_other_functions_are_refused(kernel):
    assert is_function(kernel)
    with pytest.raises(InputError, match=r"^kernel is a function \(.*\), must be linear, "):
        function_kernel(kernel, 3)


@pytest.mark.parametrize(
    "kernel",
    [
        functools.partial(pairwise.rbf_kernel, VECTORS),
        functools.partial(pairwise.rbf_kernel, degree=2),
        functools.partial(pairwise.cosine_similarity, dense_output=True),
    ],
)
def test_other_arguments_are_refused(kernel):
    with pytest.raises(InputError, match="with other arguments than"):
        function_kernel(kernel, 3)


@pytest.mark.parametrize("kernel", [2.0 * RBF(), RBF() + 1.0, ConstantKernel()], ids=str)
def test_an_object_with_a_factor_or_a_constant_is_refused(kernel):
    with pytest.raises(InputError, match="factor or a constant besides its kernel"):
        function_kernel(kernel, 3)


@pytest.mark.parametrize("estimator", [SVC(), NuSVC(nu=0.2), SVR(), OneClassSVM(nu=0.2)], ids=str)
@pytest.mark.parametrize("kernel", [RBF([0.5, 1.0, 2.0, 3.0]), RBF(2.0), DotProduct()], ids=str)
def test_an_estimator_with_an_object_gives_its_decisions(estimator, kernel):
    X, y = load_iris(return_X_y=True)
    assert_agrees(fitted(estimator.set_params(kernel=kernel), X[50:], y[50:]), X[::9])


@pytest.mark.parametrize(
    "kernel",
    [
        RationalQuadratic([[1.0], [1.0, 2.0]]),
        PairwiseKernel(metric="rbf", pairwise_kernels_kwargs=np.ones(3)),
    ],
    ids=["ragged", "array"],
)
def test_an_object_with_values_of_other_types_is_refused(kernel):
    with pytest.raises(InputError):
        function_kernel(kernel, 3)


@pytest.mark.parametrize("kernel", [DotProduct(0.0), PairwiseKernel(metric="linear")], ids=str)
def test_an_inner_product_alone_is_linear(kernel):
    assert str(function_kernel(kernel, 3)[1]) == "Linear()"


def test_a_partial_of_a_partial_is_one():
    inner = functools.partial(pairwise.laplacian_kernel, gamma=2.0)
    outer = functools.partial(inner, gamma=3.0)
    assert str(function_kernel(outer, 3)[1]) == "Laplacian(gamma=3.0)"


def test_a_damaged_partial_is_refused():
    value = read_pickle(pickle.dumps(functools.partial(pairwise.rbf_kernel)))
    for state in (None, (), (1, (), {}, None, 2), (pairwise.rbf_kernel, [], {}, None)):
        value.attributes["__state__"] = state
        with pytest.raises(InputError, match=r"damaged functools\.partial"):
            function_kernel(value, 3)
