"""reliability.md, item 10: every attribute, changed in every way."""

from __future__ import annotations

import copy
import operator

import numpy as np
import pytest
import scipy.sparse
from model_files import COLUMNS, FITTED, META, STEPS, X, Y
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kmcompile.errors import InputError
from kmcompile.readers import load_model


def _tampered(value):
    """Yield values of other types, shapes and contents."""
    yield from (None, "text", [], {}, -1, 2**70, np.zeros((0,)), np.zeros((2, 3, 4)))
    yield np.array(["a", "b"], dtype=object)
    if isinstance(value, np.ndarray) and value.ndim:
        yield value[:-1]
        yield value[:0]
        yield value[None]
        yield value.astype(complex) if value.dtype.kind == "f" else value.astype(np.float64)
        yield np.concatenate([value, value])
        yield -value if value.dtype.kind in "if" else value[::-1]
        if value.ndim == 2:
            yield value[:, :-1]
            yield value.T
    if scipy.sparse.issparse(value):
        yield value[:-1]
        yield value[:, :-1]
        yield value.tocsc()
        yield value.toarray()[:, :-1]
        for name in ("data", "indices", "indptr", "_shape"):
            for other in (None, np.zeros(3), np.array([2**62, -1]), (2**40, 2**40), (1, 2)):
                changed = value.copy()
                setattr(changed, name, other)
                yield changed
    if isinstance(value, tuple):
        yield value[::-1]
        yield (*value, 1)
        yield tuple(np.zeros((2, 2)) for _ in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value + 1


MEANINGFUL = {"kernel", "degree", "coef0", "_gamma", "classes_", "support_vectors_", "coef_"}
MEANINGFUL |= {"decision_function_shape", "break_ties", "fit_status_", "probability"}
MEANINGFUL |= {"intercept_", "whiten", "clip", "norm", "feature_range", "with_mean", "scale_"}
MEANINGFUL |= {"transformers_", "transformer_weights", "normalization_", "kernel_params"}
MEANINGFUL |= {"gamma", "coef0", "random_weights_", "random_offset_"}
MEANINGFUL |= {"gamma", "X_fit_", "dual_coef_", "X_train_", "alpha_", "kernel_", "k1", "k2"}
MEANINGFUL |= {"_y_train_mean", "_y_train_std", "constant_value", "length_scale"}
MEANINGFUL |= {"threshold", "best_threshold_", "a_", "b_", "response_method", "_kwargs"}
MEANINGFUL |= {"center_", "mean_", "min_", "components_", "explained_variance_", "_n_support"}
"""Attributes of which another consistent value is another model."""


def _check_tampering(target, model, expected, tmp_path):
    """Every changed attribute is refused, or is one that makes no difference."""
    for name, value in list(vars(target).items()):
        for changed in _tampered(value):
            setattr(target, name, changed)
            try:
                machine = load_model(model)
            except InputError as error:
                assert len(str(error).splitlines()) <= 3
            else:
                assert machine.sha256 == expected or name in MEANINGFUL, (name, changed)
        delattr(target, name)
        try:
            machine = load_model(model)
        except InputError:
            pass
        else:
            assert machine.sha256 == expected, name
        setattr(target, name, value)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FITTED)
def test_tampering_with_any_field_is_refused_or_harmless(kind, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = copy.deepcopy(FITTED[kind])
    _check_tampering(model, model, load_model(model).sha256, tmp_path)


@pytest.mark.parametrize("path", ["kernel_", "kernel_.k1", "kernel_.k1.k1", "kernel_.k1.k2"])
def test_tampering_with_any_field_of_a_covariance_is_refused_or_harmless(path, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = copy.deepcopy(FITTED["GaussianProcessRegressor"])
    target = operator.attrgetter(path)(model)
    _check_tampering(target, model, load_model(model).sha256, tmp_path)


@pytest.mark.few
@pytest.mark.parametrize("kind", META)
def test_tampering_with_any_field_around_an_estimator_is_refused_or_harmless(kind, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = copy.deepcopy(META[kind])
    _check_tampering(model, model, load_model(model).sha256, tmp_path)


INSIDE = {
    "GridSearchCV": ["best_estimator_"],
    "OneVsRestClassifier": ["label_binarizer_"],
    "CalibratedClassifierCV": [
        "calibrated_classifiers_.0",
        "calibrated_classifiers_.0.calibrators.0",
    ],
    "TunedThreshold": ["_curve_scorer"],
    "TransformedTarget": ["transformer_"],
}


@pytest.mark.few
@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in INSIDE.items() for path in paths]
)
def test_tampering_with_any_field_inside_is_refused_or_harmless(kind, path, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = copy.deepcopy(META[kind])
    target = model
    for name in path.split("."):
        target = target[int(name)] if name.isdigit() else getattr(target, name)
    _check_tampering(target, model, load_model(model).sha256, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("step", [*STEPS, COLUMNS], ids=lambda step: type(step).__name__)
def test_tampering_with_any_transformer_field_is_refused_or_harmless(step, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = make_pipeline(copy.deepcopy(step), SVC()).fit(X, Y)
    _check_tampering(model.steps[0][1], model, load_model(model).sha256, tmp_path)


MAPS = [
    Nystroem(kernel="poly", n_components=7, kernel_params={"gamma": 0.5}, random_state=0),
    RBFSampler(n_components=7, random_state=0),
]


@pytest.mark.parametrize("feature_map", MAPS, ids=lambda step: type(step).__name__)
def test_tampering_with_any_field_of_a_feature_map_is_refused_or_harmless(feature_map, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = make_pipeline(copy.deepcopy(feature_map), LinearSVC(random_state=0)).fit(X, Y)
    _check_tampering(model.steps[0][1], model, load_model(model).sha256, tmp_path)


@pytest.mark.parametrize("step", [StandardScaler(with_mean=False), MaxAbsScaler(), Normalizer()])
def test_claimed_features_cost_no_memory(step):
    """reliability 10: n_features_in_ is only a number."""
    model = make_pipeline(StandardScaler(with_std=False, with_mean=False), step, SVC()).fit(X, Y)
    for index in (0, 1):
        model.steps[index][1].n_features_in_ = 2**31 - 1
        with pytest.raises(InputError, match=r"must be|SVC is for 4 features, the steps"):
            load_model(model)
