"""reliability.md, items 9 to 14 and 18: models that can't be what they claim."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest
import scipy.sparse
from model_files import FITTED, STEPS, Call, X, Y, refused, write
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

from kmcompile.errors import InputError
from kmcompile.readers import Reading, load_model


def _saved(model, tmp_path):
    return write(tmp_path, pickle.dumps(model, 4))


def _poisoned(value, poison):
    """Return `value` with one number replaced, or None if it holds no float."""
    if isinstance(value, float | np.floating) or type(value) is float:
        return poison
    if scipy.sparse.issparse(value):
        result = value.copy()
        result.data[-1] = poison
        return result
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        result = value.copy()
        result.flat[-1] = poison
        return result
    return None


UNUSED = {
    *("tol", "C", "nu", "epsilon", "cache_size", "class_weight_", "gamma", "intercept_scaling"),
    *("var_", "n_samples_seen_", "data_min_", "data_max_", "data_range_", "max_abs_", "tol"),
    *("explained_variance_ratio_", "singular_values_", "noise_variance_", "_probA", "_probB"),
    *(
        "l1_ratio",
        "alpha",
        "eta0",
        "power_t",
        "validation_fraction",
        "t_",
        "_expanded_class_weight",
    ),
    *("L_", "y_train_", "log_marginal_likelihood_value_"),
    *("means_", "priors_", "xbar_", "scalings_"),
}
"""Attributes that neither scikit-learn's predict nor kmcompile looks at."""


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", FITTED)
def test_numbers_that_are_not_finite_are_refused(kind, poison, tmp_path):
    """reliability 9: in vectors, coefficients, intercept, gamma, coef0."""
    found = set()
    for name, value in vars(FITTED[kind]).items():
        changed = _poisoned(value, poison)
        if changed is None or name in UNUSED:
            continue
        model = copy.copy(FITTED[kind])
        setattr(model, name, changed)
        message = refused(_saved(model, tmp_path), name.strip("_"), "must be finite")
        assert str(poison) in message
        found.add(name)
    assert found & {"intercept_", "dual_coef_", "alpha_"}


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@pytest.mark.parametrize("step", STEPS[:-1], ids=str)
def test_scalers_that_are_not_finite_are_refused(step, poison, tmp_path):
    """reliability 9: in scalers and PCA."""
    model = make_pipeline(step, SVC()).fit(X, Y)
    fitted, found = model.steps[0][1], 0
    for name, value in list(vars(fitted).items()):
        changed = _poisoned(value, poison)
        if changed is None or name in UNUSED:
            continue
        setattr(fitted, name, changed)
        refused(_saved(model, tmp_path), f"{type(step).__name__}.{name}", "must be finite")
        setattr(fitted, name, value)
        found += 1
    assert found


@pytest.mark.parametrize(
    ("name", "change", "word"),
    [
        ("support_vectors_", lambda a: a[:, :-1], "n_features_in_ is 4, must be 3"),
        ("support_vectors_", lambda a: a[:-1], "support_ has shape"),
        ("support_vectors_", lambda a: a[:0], "support_vectors_ is empty, must be 1 or more"),
        ("dual_coef_", lambda a: a[:, :-1], "dual_coef_ has shape"),
        ("dual_coef_", lambda a: 2 * a, "dual_coef_ differs from _dual_coef_"),
        ("_intercept_", lambda a: -a, "intercept_ differs from _intercept_"),
        ("intercept_", lambda a: a[:-1], "intercept_ has shape (2,), must be of shape (3,)"),
        ("_n_support", lambda a: a[::-1] * 2, "_n_support adds up to"),
        ("_n_support", lambda a: a.astype(float), "_n_support is an array of shape (3,)"),
        ("support_", lambda a: a[:-1], "support_ has shape"),
        ("classes_", lambda a: a[:1], "classes_ has 1 class, must be 2 or more"),
        ("classes_", lambda a: a * 0, "classes_ has a class twice"),
        ("classes_", lambda a: np.array([b"a", b"b", b"c"]), "must be text, integers"),
        ("classes_", lambda a: np.array(["a", "\ud800", "b"], dtype=object), "must be text"),
        ("classes_", lambda a: a + np.nan, "classes_ has nan"),
        ("n_features_in_", lambda a: a + 1, "n_features_in_ is 5, must be 4"),
        ("shape_fit_", lambda a: (150, 7), "shape_fit_ does not fit"),
        ("_sparse", lambda a: None, "_sparse is None, must be True or False"),
        ("degree", lambda a: 2.5, "degree is 2.5, must be an integer"),
        ("degree", lambda a: -1, "degree is -1, must be an integer from 0"),
        ("degree", lambda a: 10**5000, "degree is an integer of"),
        ("coef0", lambda a: "1", "coef0 is '1', must be a number"),
        ("coef0", lambda a: 10**400, "coef0 is an integer of 1329 bits, must be finite"),
        ("_gamma", lambda a: np.array(0.0), "gamma is 0.0, must be > 0; retrain"),
        ("decision_function_shape", lambda a: "all", "must be ovr or ovo"),
    ],
)
def test_inconsistent_models_name_field_value_and_remedy(name, change, word, tmp_path):
    """reliability 10 and 12: file, field, found, allowed, next step."""
    model = copy.deepcopy(FITTED["SVC"])
    setattr(model, name, change(getattr(model, name)))
    path = _saved(model, tmp_path)
    assert ";" in refused(path, word)


@pytest.mark.parametrize("gamma", [0.0, -0.5, np.float64(-0.0), 0])
@pytest.mark.parametrize("kernel", ["poly", "rbf", "sigmoid"])
def test_gamma_must_be_positive(kernel, gamma, tmp_path):
    """reliability 11: gamma <= 0."""
    model = SVC(kernel=kernel).fit(X, Y)
    model._gamma = gamma
    message = refused(_saved(model, tmp_path))
    assert message == f"model.pkl: gamma is {float(gamma)}, must be > 0; retrain the model"


@pytest.mark.parametrize("model", [SVC(), LinearSVC(), make_pipeline(StandardScaler(), SVC())])
def test_unfitted_estimators_are_refused(model, tmp_path):
    """reliability 12: outputs of an unfitted estimator."""
    refused(_saved(model, tmp_path), "is not fitted (classes_ is missing); call fit")


@pytest.mark.parametrize("model", [SVR(), OneClassSVM()], ids=str)
def test_unfitted_machines_without_labels_are_refused(model, tmp_path):
    """reliability 12: outputs of an unfitted estimator."""
    refused(_saved(model, tmp_path), "is not fitted (support_vectors_ is missing); call fit")


def test_models_without_support_vectors_or_with_one_class_are_refused(tmp_path):
    """reliability 12: no SV, one class."""
    model = copy.deepcopy(FITTED["binary"])
    model.support_vectors_ = model.support_vectors_[:0]
    refused(_saved(model, tmp_path), "support_vectors_ is empty")
    model = copy.deepcopy(FITTED["LinearSVC"])
    model.classes_ = model.classes_[:1]
    refused(_saved(model, tmp_path), "classes_ has 1 class, must be 2 or more; retrain")


def own_kernel(a, b):
    return a @ b.T


@pytest.mark.parametrize("kernel", [own_kernel, manhattan_distances, os.path.join])
def test_callable_kernels_are_refused_and_the_remedy_is_told(kernel, tmp_path):
    """reliability 14: in a file the function is only a name."""
    model = copy.deepcopy(FITTED["binary"])
    model.kernel = kernel
    path = _saved(model, tmp_path)
    refused(path, "kernel is a function", "retrain with one of these", kernel.__name__)
    with pytest.raises(InputError, match="SVC: kernel is a function"):
        load_model(model)
    with pytest.raises(InputError, match="SVC: kernel is a function"):
        load_model(SVC(kernel=own_kernel).fit(X, Y))


def test_precomputed_kernels_are_refused_and_the_remedy_is_told(tmp_path):
    """reliability 14: the kernel values of new inputs are not in the model."""
    model = SVC(kernel="precomputed").fit(X @ X.T, Y)
    refused(_saved(model, tmp_path), "kernel is 'precomputed'", "kmcompile.precomputed_machine")


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (RandomForestClassifier(2).fit(X, Y), "RandomForestClassifier is not supported"),
        (make_pipeline(PolynomialFeatures(), SVC()).fit(X, Y), "PolynomialFeatures"),
        (StandardScaler().fit(X), "must be one that predicts"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_estimators_are_refused_and_the_supported_listed(model, word, tmp_path):
    """reliability 12: what isn't supported says what is."""
    message = refused(_saved(model, tmp_path), word, "supported: SVC, NuSVC")
    with pytest.raises(InputError) as caught:
        load_model(model)
    assert word in str(caught.value)
    assert "\nsupported: " in message


def test_scale_that_is_zero_or_overflows_is_refused(tmp_path):
    """reliability 18: scikit-learn itself never leaves a scale of 0."""
    model = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    model.steps[0][1].scale_[1] = 0.0
    refused(_saved(model, tmp_path), "StandardScaler.scale_[1] is 0.0, must be > 0")
    model.steps[0][1].scale_[1] = 5e-324
    refused(_saved(model, tmp_path), "StandardScaler.scale_ is so small or large")


def test_trusted_files_that_fail_give_one_clear_error(tmp_path):
    """reliability 1: --trust-pickle runs the file's code, and reports what it raises."""
    path = write(tmp_path, pickle.dumps(Call(eval, "1 / 0")))
    with pytest.raises(InputError, match=r"model.pkl: cannot be unpickled \(ZeroDivisionError"):
        load_model(path, Reading(trust_pickle=True))
    path = write(tmp_path, b"cnowhere\nto be found\n.")
    with pytest.raises(InputError, match=r"\(ModuleNotFoundError"):
        load_model(path, Reading(trust_pickle=True))
