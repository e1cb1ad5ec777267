"""Estimators whose kernel is a function of scikit-learn: the training inputs are the vectors."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest
import scipy.sparse
from function_names import function_name
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import pairwise
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn_agreement import assert_agrees, fitted

from kmcompile.errors import InputError
from kmcompile.readers import load_model
from kmcompile.readers.pickles.reader import read_pickle
from kmcompile.readers.sklearn.pipeline import read_sklearn

X, Y = load_iris(return_X_y=True)
KERNELS = [
    pairwise.laplacian_kernel,
    pairwise.chi2_kernel,
    pairwise.rbf_kernel,
    pairwise.cosine_similarity,
    pairwise.polynomial_kernel,
    functools.partial(pairwise.sigmoid_kernel, gamma=0.01, coef0=-1.0),
    pairwise.linear_kernel,
    functools.partial(pairwise.laplacian_kernel, gamma=1.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=function_name)
@pytest.mark.parametrize("make", [SVC, functools.partial(NuSVC, nu=0.2), SVR, OneClassSVM])
def test_decision_values_are_those_of_scikit_learn(make, kernel):
    model = fitted(make(kernel=kernel), X[:100], Y[:100])
    assert_agrees(model, X)
    read = read_sklearn(read_pickle(pickle.dumps(model)))
    assert read.sha256 == load_model(model).sha256


@pytest.mark.parametrize("kernel", [pairwise.laplacian_kernel, pairwise.cosine_similarity])
def test_many_classes_and_a_pipeline_agree(kernel):
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(MinMaxScaler(), SVC(kernel=kernel)).fit(X, y)
    machine = load_model(pipeline)
    assert machine.n_classes == 3
    scaled = pipeline[0].transform(X)
    inner = load_model(pipeline[1])
    assert [str(s) for s in machine.preprocessing[1:]] == [str(s) for s in inner.preprocessing]
    assert np.array_equal(machine.prepare(X).shape, inner.prepare(scaled).shape)
    assert_agrees(pipeline[1], scaled)


def test_sparse_and_float32_training_inputs_are_read():
    sparse = fitted(NuSVR(kernel=pairwise.laplacian_kernel), scipy.sparse.csr_matrix(X), Y)
    dense = fitted(NuSVR(kernel=pairwise.laplacian_kernel), X, Y)
    machines = load_model(sparse), load_model(dense)
    assert np.array_equal(machines[0].support_vectors, machines[1].support_vectors)
    assert_agrees(fitted(SVC(kernel=pairwise.rbf_kernel), X.astype(np.float32), Y), X)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("support_", np.array([150, 0], dtype=np.int32), "support_ has 150, must be below"),
        ("support_", np.array([-1, 0], dtype=np.int32), "support_ has -1"),
        ("_BaseLibSVM__Xfit", X[:9], r"shape_fit_ does not fit, must be \(9, 4\)"),
        ("_BaseLibSVM__Xfit", X.tolist(), "the training input is of type builtins.list"),
        ("_BaseLibSVM__Xfit", X[:, :0], "has no features"),
        ("_BaseLibSVM__Xfit", np.full_like(X, np.nan), "is nan, must be finite"),
        ("shape_fit_", (150,), "shape_fit_ does not fit"),
    ],
)
def test_damaged_estimators_are_refused(name, value, word):
    model = copy.deepcopy(fitted(OneClassSVM(kernel=pairwise.rbf_kernel, nu=0.01), X, None))
    model.dual_coef_ = model._dual_coef_ = model.dual_coef_[:, :2]
    model.support_ = model.support_[:2]
    setattr(model, name, value)
    with pytest.raises(InputError, match=word):
        load_model(model)


def test_negative_vectors_of_chi2_are_refused():
    model = copy.deepcopy(fitted(SVR(kernel=pairwise.chi2_kernel), X, Y))
    model._BaseLibSVM__Xfit = X - 1.0
    with pytest.raises(InputError, match=r"support_vectors\[\d+, \d\] is -.*, must be 0 or more"):
        load_model(model)
