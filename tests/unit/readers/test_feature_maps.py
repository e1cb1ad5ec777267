"""Nystroem and RBFSampler before linear machines: one kernel machine with the same decisions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from kmcompile.errors import InputError
from kmcompile.kernels import Fourier, Poly, Rbf, Sigmoid
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers import load_model
from kmcompile.steps import Affine, Extension

X, Y = load_iris(return_X_y=True)
BINARY = (Y > 0).astype(int)
U64 = 2.0**-53


def decisions(machine: KernelMachine) -> np.ndarray:
    """Return the machine's values in float64, shape (n, n_decisions)."""
    values = machine.kernel.values(machine.support_vectors, machine.prepare(X))
    return values @ decision_coefficients(machine).T + machine.intercept


def own(model: Any) -> np.ndarray:
    """Return scikit-learn's."""
    answer = model.decision_function if hasattr(model, "decision_function") else model.predict
    return answer(X).reshape(len(X), -1)


def check(model: Any) -> KernelMachine:
    """Compare the values: with n vectors each float64 product rounds n^(3/2) times at most."""
    machine = load_model(model)
    values = machine.kernel.values(machine.support_vectors, machine.prepare(X))
    n = machine.n_support_vectors
    magnitude = np.abs(values).max() * np.abs(model[-1].coef_).sum() * _map_size(model)
    error = 64 * n * U64 * (magnitude + np.abs(machine.intercept).max() + 1)
    assert np.abs(decisions(machine) - own(model)).max() <= error
    return machine


def _map_size(model: Any) -> float:
    """Return the largest row sum of what multiplies the kernel values before the weights."""
    size = 1.0
    for _, step in model.steps[:-1]:
        if isinstance(step, Nystroem):
            size *= np.abs(step.normalization_).sum(axis=1).max()
        elif size > 1 and hasattr(step, "scale_"):
            size /= np.abs(step.scale_).min()
        elif size > 1 and hasattr(step, "components_"):
            size *= np.abs(step.components_).sum(axis=1).max()
    return size


def nystroem(**arguments: Any) -> Nystroem:
    return Nystroem(n_components=20, random_state=0, **arguments)


MODELS = {
    "classes": [StandardScaler(), nystroem(), LinearSVC()],
    "logistic": [nystroem(gamma=0.3), LogisticRegression()],
    "ridge": [StandardScaler(), nystroem(kernel="poly", degree=2), RidgeClassifier()],
    "descent": [StandardScaler(), RBFSampler(gamma=0.3, n_components=30), SGDClassifier()],
    "between": [nystroem(), StandardScaler(), PCA(5, whiten=True), LinearSVC()],
    "sampled between": [RBFSampler(n_components=30), MaxAbsScaler(), PCA(8), LinearSVC()],
    "picked": [
        nystroem(),
        ColumnTransformer([("some", StandardScaler(), [3, 1, 3, 7])]),
        LinearSVC(),
    ],
}
for _steps in MODELS.values():
    for _step in _steps:
        if "random_state" in _step.get_params():
            _step.set_params(random_state=0)


@pytest.mark.parametrize("target", [Y, BINARY], ids=["classes", "binary"])
@pytest.mark.parametrize("steps", MODELS.values(), ids=MODELS)
def test_a_map_and_a_linear_classifier_are_one_kernel_machine(steps, target):
    model = make_pipeline(*steps).fit(X, target)
    machine = check(model)
    assert "is one machine: a sum of" in machine.notes[-1]
    assert machine.kind == type(model[-1]).__name__


@pytest.mark.parametrize(
    "regressor", [LinearSVR(random_state=0), Ridge()], ids=lambda model: type(model).__name__
)
def test_a_map_and_a_linear_regressor_are_one_kernel_machine(regressor):
    check(make_pipeline(StandardScaler(), nystroem(), regressor).fit(X, X[:, 0] * 2))


def test_a_map_and_a_binary_linear_svc_of_vectors_are_one_kernel_machine():
    model = make_pipeline(nystroem(), SVC(kernel="linear")).fit(X, BINARY)
    assert load_model(model).zero_is_positive
    assert np.abs(decisions(load_model(model)) - own(model)).max() <= 2.0**-30


def test_coefficients_of_repeated_components_are_exact_and_rounded_once():
    """Of equal components normalization_ has large numbers that cancel."""
    some = np.repeat(X[::40], 3, axis=0)
    labels = np.repeat(Y[::40], 3)
    between = StandardScaler()
    steps = (Nystroem(gamma=0.3, n_components=len(some)), between, LinearSVC(random_state=0))
    model = make_pipeline(*steps).fit(some, labels)
    machine = load_model(model)
    assert machine.n_support_vectors == len(np.unique(some, axis=0))
    mapped, linear = model[0], model[-1]
    for p, (row, b) in enumerate(zip(linear.coef_, linear.intercept_, strict=True)):
        w = [Fraction(c) * Fraction(1 / s) for c, s in zip(row, between.scale_, strict=True)]
        shift = sum(c * Fraction(o) for c, o in zip(w, between.mean_, strict=True))
        assert machine.intercept[p] == float(Fraction(b) - shift)
        for vector, beta in zip(machine.support_vectors, machine.dual_coef[p], strict=True):
            equal = np.flatnonzero((mapped.components_ == vector).all(axis=1))
            terms = (c * Fraction(m) for i in equal for c, m in _column(w, mapped, i))
            assert beta == float(sum(terms))


def _column(w: list[Fraction], mapped: Nystroem, i: int) -> zip[tuple[Fraction, float]]:
    return zip(w, mapped.normalization_[:, i], strict=True)


PARAMETERS = [
    ({}, Rbf(0.25)),
    ({"gamma": 0.5}, Rbf(0.5)),
    ({"kernel_params": {"gamma": 2.0}}, Rbf(2.0)),
    ({"kernel_params": {"gamma": 2.0}, "gamma": 0.5}, Rbf(0.5)),
    ({"kernel": "sigmoid"}, Sigmoid(0.25, 1.0)),
    ({"kernel": "sigmoid", "coef0": 0.5, "gamma": 0.01}, Sigmoid(0.01, 0.5)),
    ({"kernel": "polynomial"}, Poly(0.25, 1.0, 3)),
    ({"kernel": "poly", "degree": 2, "coef0": 0.0}, Poly(0.25, 0.0, 2)),
]


@pytest.mark.parametrize(("arguments", "kernel"), PARAMETERS, ids=str)
def test_parameters_are_those_that_scikit_learn_takes(arguments, kernel):
    model = make_pipeline(nystroem(**arguments), LinearSVC(random_state=0)).fit(X, BINARY)
    assert check(model).kernel == kernel


@pytest.mark.parametrize("kernel", ["laplacian", "chi2", "additive_chi2", "cosine", "linear"])
def test_other_kernels_of_nystroem_are_read(kernel):
    check(make_pipeline(nystroem(kernel=kernel), LinearSVC(random_state=0)).fit(X, BINARY))


def test_a_sampler_s_offset_is_a_feature_of_the_vectors():
    sampler = RBFSampler(n_components=7, random_state=0)
    machine = load_model(make_pipeline(StandardScaler(), sampler, LinearSVC()).fit(X, BINARY))
    assert machine.kernel == Fourier()
    assert [type(step) for step in machine.preprocessing] == [Affine, Extension]
    np.testing.assert_array_equal(machine.support_vectors[:, -1], sampler.random_offset_)


def test_scalers_between_are_folded_as_in_rational_numbers():
    """Of numbers that float64 holds, nothing is rounded."""
    model = make_pipeline(RBFSampler(n_components=2, random_state=0), StandardScaler(), Ridge())
    model.fit(X, X[:, 0])
    scaler, ridge = model[1], model[2]
    scaler.mean_, scaler.scale_ = np.array([0.5, -2.0]), np.array([0.25, 4.0])
    ridge.coef_, ridge.intercept_ = np.array([3.0, 8.0]), 1.0
    machine = load_model(model)
    weights = [Fraction(3) / Fraction(1, 4), Fraction(8) / 4]
    assert machine.dual_coef.tolist() == [[float(w) for w in weights]]
    assert machine.intercept[0] == 1 - (weights[0] / 2 + weights[1] * -2)


class Subclass(Nystroem):
    """May map in another way."""


def own_kernel(x, y):
    return float(np.dot(x, y))


REFUSED = [
    ([nystroem(), SVC()], "is a kernel of kernels, must be before a linear machine"),
    ([nystroem(), SVR()], "is a kernel of kernels"),
    ([nystroem(), SVC(kernel="linear")], "has weights for pairs of classes"),
    ([nystroem(), MinMaxScaler(clip=True), LinearSVC()], "is not linear (clip to [0, 1])"),
    ([nystroem(), Normalizer(), LinearSVC()], "is not linear (normalize by l2)"),
    ([nystroem(), RBFSampler(), LinearSVC()], "has Nystroem and RBFSampler"),
    ([nystroem(kernel=own_kernel), LinearSVC()], "Nystroem.kernel is"),
    ([Subclass(n_components=5), LinearSVC()], "Subclass"),
]


@pytest.mark.parametrize(("steps", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_is_no_kernel_machine_is_refused(steps, words):
    model = make_pipeline(*steps).fit(X, Y)
    with pytest.raises(InputError) as caught:
        load_model(model)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3


def test_an_unfitted_map_is_refused():
    model = make_pipeline(nystroem(), LinearSVC()).fit(X, Y)
    model.steps[0] = ("nystroem", nystroem())
    with pytest.raises(InputError, match="Nystroem is not fitted"):
        load_model(model)
