"""KernelRidge and the mean of a GaussianProcessRegressor become machines with their values."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, minmax_scale

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

X, Y = (part[:150] for part in load_diabetes(return_X_y=True))
X = minmax_scale(X)
NEW = X[1:] * 0.75 + X[:-1] * 0.25


def assert_predicts(model, tmp_path, magnitude=0.0):
    """Assert scikit-learn's values: both are within `error` of the real number.

    `magnitude` is what scikit-learn's own sum has beside the machine's terms.
    """
    machine = load_model(model)
    reference = evaluate(machine, NEW)
    bound = 2 * (reference.error + 1e-12 * magnitude)
    assert np.all(np.abs(reference.decisions - model.predict(NEW).reshape(-1, 1)) <= bound)
    assert (machine.task, machine.classes) == (Task.REGRESSION, ())
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    assert load_model(path).sha256 == machine.sha256
    return machine


RIDGES = [
    KernelRidge(),
    KernelRidge(kernel="rbf"),
    KernelRidge(kernel="rbf", gamma=2.0, alpha=0.01),
    KernelRidge(kernel="poly", degree=2),
    KernelRidge(kernel="polynomial", degree=3.0, coef0=0.5),
    KernelRidge(kernel="sigmoid", gamma=0.1),
    KernelRidge(kernel="laplacian"),
    KernelRidge(kernel="chi2", gamma=0.5),
    KernelRidge(kernel="cosine"),
    KernelRidge(kernel=Matern(0.7, nu=1.5)),
    KernelRidge(kernel=Matern([0.5 + j / 9 for j in range(X.shape[1])], nu=2.5)),
    KernelRidge(kernel=ConstantKernel(2.0) * Matern(0.7, nu=2.5) + ConstantKernel(0.5)),
    KernelRidge(kernel=RBF(0.7)),
    KernelRidge(kernel=RationalQuadratic(0.7, 0.4)),
    KernelRidge(kernel=ConstantKernel(2.0) * RationalQuadratic(1.3, 20) + ConstantKernel(0.5)),
]


@pytest.mark.parametrize("model", RIDGES, ids=str)
def test_kernel_ridge_has_scikit_learns_values(model, tmp_path):
    machine = assert_predicts(model.fit(X, Y), tmp_path)
    assert machine.kind == "KernelRidge"
    assert machine.n_support_vectors == len(X)


def test_kernel_ridge_of_a_column_or_of_sparse_inputs_is_the_same(tmp_path):
    plain = assert_predicts(KernelRidge(kernel="rbf").fit(X, Y), tmp_path)
    column = load_model(KernelRidge(kernel="rbf").fit(X, Y[:, None]))
    np.testing.assert_array_equal(column.dual_coef, plain.dual_coef)
    sparse = KernelRidge(kernel="rbf").fit(scipy.sparse.csr_matrix(X), Y)
    np.testing.assert_array_equal(load_model(sparse).support_vectors, X)


@pytest.mark.parametrize(
    ("model", "target", "words"),
    [
        (KernelRidge(kernel="precomputed"), Y, "kernel is 'precomputed', must be linear"),
        (KernelRidge(), np.column_stack([Y, Y]), "trained on 2 targets, must be 1; train one"),
        (KernelRidge(kernel=lambda a, b: a @ b), Y, "kernel is of type"),
        (KernelRidge(kernel=ConstantKernel(2.0)), Y, "kernel is constant, must have a kernel"),
        (KernelRidge(kernel=Matern(nu=0.7)), Y, "nu is 0.7, must be 0.5, 1.5, 2.5 or infinity"),
        (GaussianProcessRegressor(optimizer=None), np.column_stack([Y, Y]), "on 2 targets"),
    ],
    ids=["precomputed", "targets", "function", "constant", "nu", "process"],
)
def test_what_cannot_be_compiled_is_refused(model, target, words):
    fitted = model.fit(X @ X.T if model.kernel == "precomputed" else X, target)
    with pytest.raises(InputError, match=words):
        load_model(fitted)


def test_a_rational_quadratic_kernel_has_one_length():
    fitted = KernelRidge(kernel=RationalQuadratic(0.7, 0.4)).fit(X, Y)
    fitted.kernel.length_scale = np.full(X.shape[1], 0.7)
    with pytest.raises(InputError, match="length_scale has several numbers, must be one"):
        load_model(fitted)


KERNELS = [
    None,
    RBF(0.5),
    ConstantKernel(2.0) * RBF(0.5) + WhiteKernel(0.1),
    ConstantKernel(2.0) * (RBF(np.full(X.shape[1], 0.5)) + WhiteKernel(0.1)),
    ConstantKernel(0.5) * RBF(1.0) + ConstantKernel(3.0) + WhiteKernel(0.1),
    DotProduct(0.5) + WhiteKernel(0.1),
    WhiteKernel(0.1) + ConstantKernel(0.3) * Exponentiation(DotProduct(1.0), 2),
    PairwiseKernel(1.0, metric="laplacian") + WhiteKernel(0.1),
    Matern(0.7, nu=0.5),
    ConstantKernel(2.0) * Matern(0.7, nu=1.5) + WhiteKernel(0.1),
    Matern(np.full(X.shape[1], 0.5), nu=2.5) + ConstantKernel(3.0),
    Matern(0.7, nu=np.inf),
    RationalQuadratic(0.7, 0.4),
    ConstantKernel(2.0) * RationalQuadratic(1.3, 7.0) + WhiteKernel(0.1),
]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_gaussian_process_has_scikit_learns_mean(kernel, normalize, tmp_path):
    is_tuned = kernel is KERNELS[2]
    options = {} if is_tuned else {"optimizer": None}
    model = GaussianProcessRegressor(kernel, alpha=1e-3, normalize_y=normalize, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    terms = model.kernel_(NEW, model.X_train_) @ np.abs(model.alpha_)
    magnitude = np.ravel(model._y_train_std)[0] * terms + abs(np.ravel(model._y_train_mean)[0])
    assert_predicts(model, tmp_path, magnitude[:, None])


def test_a_pipeline_ends_with_a_kernel_regressor(tmp_path):
    process = GaussianProcessRegressor(RBF(np.full(X.shape[1], 2.0)), optimizer=None, alpha=0.1)
    for last in (process, KernelRidge(kernel="cosine")):
        machine = assert_predicts(make_pipeline(StandardScaler(), last).fit(X, Y), tmp_path)
        assert len(machine.preprocessing) == 2


def own_kernel(a, b, **given):
    return float(a @ b)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (Matern(nu=0.7), "nu is 0.7, must be 0.5, 1.5, 2.5 or infinity"),
        (ExpSineSquared(), "kernel_ has sklearn.gaussian_process.kernels.ExpSine"),
        (RBF(1.0) + DotProduct(), "kernel_ is a sum of two kernels"),
        (RBF(1.0) * DotProduct(), "kernel_ is a product of two kernels"),
        (RBF(1.0) ** 2, "kernel_ has a power of"),
        (ConstantKernel(1.0) + WhiteKernel(), "kernel_ is constant, must have a kernel"),
        pytest.param(
            PairwiseKernel(metric=own_kernel), "kernel is .*, must be linear", id="own_kernel"
        ),
    ],
    ids=str,
)
def test_other_covariances_are_refused(kernel, words):
    model = GaussianProcessRegressor(kernel, optimizer=None, alpha=1e3).fit(X, Y)
    with pytest.raises(InputError, match=words):
        load_model(model)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, 1e-200, "1", None, np.zeros(3)])
def test_a_length_scale_that_is_none_is_refused(value):
    model = GaussianProcessRegressor(RBF(1.0), optimizer=None, alpha=1.0).fit(X, Y)
    model.kernel_ = copy.copy(model.kernel_)
    model.kernel_.length_scale = value
    with pytest.raises(InputError, match=r"kernel_: RBF\.length_scale"):
        load_model(model)


def test_kernels_in_themselves_are_refused():
    model = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(), optimizer=None).fit(X, Y)
    model.kernel_.k1 = model.kernel_
    with pytest.raises(InputError, match="kernel_ is nested too deep"):
        load_model(model)


def test_unfitted_kernel_regressors_are_refused():
    for model, name in [(KernelRidge(), "dual_coef_"), (GaussianProcessRegressor(), "alpha_")]:
        with pytest.raises(InputError, match=rf"is not fitted \({name} is missing\); call fit"):
            load_model(model)
