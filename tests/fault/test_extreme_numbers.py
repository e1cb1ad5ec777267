"""reliability 9 and 10: finite numbers and claimed shapes with which arithmetic overflows."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kmcompile.errors import InputError
from kmcompile.passes.merge_duplicate_vectors import merge_duplicate_vectors
from kmcompile.readers import load_model
from kmcompile.readers.pickles.numpy_values import (
    Dtype,
    make_array_from_buffer,
    make_empty_array,
    set_array_state,
)

X = np.arange(24.0).reshape(8, 3) / 10
Y = np.arange(8) % 2


def process(**attributes):
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(X, Y)
    vars(model).update(attributes)
    return model


def mapped():
    model = make_pipeline(Nystroem(n_components=5, random_state=0), Ridge()).fit(X, Y)
    model[0].normalization_ = np.diag(np.full(5, 1e308))
    model[1].coef_ = np.full(5, 1e300)
    return model


def sparse():
    """The differences of indptr are positive only in 64 bits."""
    model = SVC(kernel="linear").fit(X, Y)
    wrapped = [0, 2**62 - 1, -(2**63), -1]
    matrix = csr_matrix(model.support_vectors_)
    matrix.indptr = np.array(wrapped + [matrix.nnz] * (matrix.shape[0] - 3), dtype=np.int64)
    model.support_vectors_ = matrix
    return model


MODELS = {
    "a sum": process(alpha_=np.full(8, 1e308)),
    "a square": process(kernel_=RBF(1e200)),
    "a square that is 0": process(kernel_=RBF(1e-200)),
    "a square of an array": process(kernel_=RBF(np.array([1e200]))),
    "an offset's square": process(kernel_=DotProduct(1e200)),
    "a product of matrices": mapped(),
    "differences of a sparse matrix": sparse(),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_overflows_is_refused_without_a_warning(model):
    with warnings.catch_warnings(), pytest.raises(InputError, match=r"must be finite|length|fit"):
        warnings.simplefilter("error")
        load_model(copy.deepcopy(model))


LARGE = 2**39


@pytest.mark.parametrize("shape", [(0, LARGE, LARGE), (LARGE, LARGE, LARGE, 0)])
def test_empty_arrays_of_enormous_shapes_are_refused(shape):
    """reliability 3: numpy would raise errors of its own."""
    dtype = Dtype(np.dtype(np.float64))
    with pytest.raises(InputError, match="shape of an array must have lengths that take at most"):
        make_array_from_buffer((b"", dtype, shape, "C"))
    with pytest.raises(InputError, match="shape of an array must have lengths that take at most"):
        set_array_state(make_empty_array(()), (1, shape, dtype, False, b""))


def test_coefficients_of_equal_vectors_that_overflow_are_refused():
    machine = load_model(SVC(kernel="linear").fit(X, Y))
    same = replace(
        machine,
        support_vectors=np.ones((3, 3)),
        dual_coef=np.full((1, 3), 1e308),
    )
    with pytest.raises(InputError, match="must be finite"):
        merge_duplicate_vectors(same)
