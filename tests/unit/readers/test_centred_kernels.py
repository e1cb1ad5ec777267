"""A KernelCenterer before a machine of a precomputed kernel is an intercept."""

import numpy as np
import pytest
from float64_decisions import U, decisions_and_bounds
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

from kmcompile import compile_model, precomputed_machine
from kmcompile.errors import InputError
from kmcompile.model.coefficients import decision_coefficients

GAMMA = 0.05
LOADERS = {"breast_cancer": load_breast_cancer, "wine": load_wine}


def _trained(estimator, loader=load_wine):
    X, y = loader(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, other = X[::2], X[1::2]
    model = make_pipeline(KernelCenterer(), estimator)
    model.fit(rbf_kernel(train, gamma=GAMMA), y[::2])
    return model, train, other


def _machine(model, train):
    return precomputed_machine(model, train[model[-1].support_], "rbf", gamma=GAMMA)


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR])
def test_the_decision_is_that_of_the_pipeline(kind, name):
    model, train, other = _trained(kind(kernel="precomputed"), LOADERS[name])
    if kind is not SVR:
        model[-1].decision_function_shape = "ovo"
    machine = _machine(model, train)
    matrix = rbf_kernel(other, train, gamma=GAMMA)
    wanted = model.predict(matrix) if kind is SVR else model.decision_function(matrix)
    found, bound = decisions_and_bounds(machine, other)
    # The pipeline also subtracts two means from each kernel value, and takes one over all samples.
    centring = (len(train) + 4) * U * 2 * np.abs(decision_coefficients(machine)).sum(axis=1)
    allowed = 2 * bound + machine.intercept_error + centring
    assert (np.abs(found.reshape(wanted.shape) - wanted) <= allowed.reshape(wanted.shape)).all()
    assert np.abs(machine.intercept - model[-1].intercept_).max() > machine.intercept_error > 0


def test_its_program_answers_as_the_pipeline():
    model, train, other = _trained(SVC(kernel="precomputed"))
    compiled = compile_model(_machine(model, train), test_data=other.astype(np.float32))
    labels = compiled.predict(other.astype(np.float32))
    assert (labels == model.predict(rbf_kernel(other, train, gamma=GAMMA))).all()


def test_coefficients_whose_sum_is_not_0_are_refused():
    model, train, _ = _trained(OneClassSVM(kernel="precomputed"))
    with pytest.raises(InputError, match=r"have the sum .*, must have 0; train it without"):
        _machine(model, train)


def test_one_centerer_is_all_that_may_stand_before_it():
    X, y = load_wine(return_X_y=True)
    twice = make_pipeline(KernelCenterer(), KernelCenterer(), SVC(kernel="precomputed"))
    twice.fit(rbf_kernel(X), y)
    with pytest.raises(InputError, match="KernelCenterer, KernelCenterer, must be one KernelCente"):
        precomputed_machine(twice, X[twice[-1].support_], "rbf")


def test_a_damaged_index_is_refused():
    model, train, _ = _trained(SVC(kernel="precomputed"))
    machine = train[model[-1].support_]
    model[-1].support_[0] = len(train)
    with pytest.raises(InputError, match=rf"support_ has {len(train)}, must be below the"):
        precomputed_machine(model, machine, "rbf", gamma=GAMMA)


def test_compile_model_names_precomputed_machine():
    model, _, _ = _trained(SVC(kernel="precomputed"))
    with pytest.raises(InputError, match="precomputed_machine"):
        compile_model(model)
    with pytest.raises(InputError, match="precomputed_machine"):
        compile_model(model[0])
