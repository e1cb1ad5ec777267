"""Items 13 and 15 to 18 of reliability.md for each kind of machine, against scikit-learn."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

from kit.emitted import Emitted, emit_model
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.merge_duplicate_vectors import merge_duplicate_vectors
from kmcompile.program.interpreter import Status, interpret
from kmcompile.verify.probabilities import probabilities_of

X, Y = load_wine(return_X_y=True)
X = X[:, :6].astype(np.float32).astype(np.float64)

MACHINES: dict[str, Any] = {
    "one_class": OneClassSVM(nu=0.2, gamma=0.1),
    "svr": SVR(gamma=0.1),
    "nu_svr": NuSVR(kernel="poly", degree=2, gamma=0.1, coef0=1.0),
    "one_vs_rest": OneVsRestClassifier(SVC(gamma=0.1)),
    "calibrated": CalibratedClassifierCV(OneVsRestClassifier(SVC(gamma=0.1)), ensemble=False, cv=3),
}


def fitted(name: str, *steps: Any, data: np.ndarray = X, labels: np.ndarray = Y) -> Any:
    """Return a fitted pipeline with the machine of a name."""
    return make_pipeline(*steps, copy.deepcopy(MACHINES[name])).fit(data, labels)


def check(model: Any, queries: np.ndarray) -> Emitted:
    """Hold what the program says against scikit-learn, within its bounds and float64's."""
    emitted = emit_model(model)
    machine = emitted.machine
    answers = interpret(emitted.program, queries.astype(np.float32))
    assert (answers.results["status"] == Status.OK).all()
    reference = evaluate(machine, queries)
    bounds, slack = answers.bounds.astype(np.float64), 2 * reference.error  # of both float64 sums
    if machine.task is Task.REGRESSION:
        assert (
            np.abs(answers.decisions[:, 0] - model.predict(queries)) <= (bounds + slack)[:, 0]
        ).all()
        return emitted
    if machine.log_odds:
        error = np.abs(answers.probabilities - model.predict_proba(queries)).max(axis=1)
        rounded = slack.max(axis=1) / 2 + 16 * 2.0**-53
        assert (error <= answers.probability_bounds + rounded).all()
    else:
        theirs = model.decision_function(queries).reshape(len(queries), -1)
        assert (np.abs(answers.decisions - theirs) <= bounds + slack).all()
    labels = np.array(machine.classes)[answers.results["label"]]
    certified = answers.results["certified"]
    assert (labels == model.predict(queries))[certified].all()
    return emitted


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), RobustScaler()], ids=str)
def test_constant_features_are_scaled_as_scikit_learn_does(scaler, name):
    """reliability 18: zero-variance scaler."""
    constant = X.copy()
    constant[:, 2] = 5.0
    others = constant.copy()
    others[:, 2] = 5.25  # not what it was in training
    check(fitted(name, scaler, data=constant), np.concatenate([constant, others])[::3])


@pytest.mark.parametrize("name", MACHINES)
def test_whitening_is_that_of_scikit_learn(name):
    """reliability 18: PCA with whitening, also of data of less than full rank."""
    check(fitted(name, StandardScaler(), PCA(4, whiten=True)), X[::3])
    flat = X.copy()
    flat[:, 5] = flat[:, 4]
    check(fitted(name, StandardScaler(), PCA(whiten=True), data=flat), flat[::3])


@pytest.mark.parametrize("name", MACHINES)
def test_duplicate_vectors_are_merged_and_change_nothing(name):
    """reliability 16: duplicate SVs merged."""
    model = fitted(name, StandardScaler(), data=np.tile(X, (2, 1)), labels=np.tile(Y, 2))
    emitted = check(model, X[::3])
    machine = emitted.machine
    merged = merge_duplicate_vectors(machine)
    distinct = {tuple(row) for row in machine.support_vectors}
    assert merged.n_support_vectors == len(distinct)
    before, after = evaluate(machine, X), evaluate(merged, X)
    assert (np.abs(before.decisions - after.decisions) <= before.error + after.error).all()


def libsvm_estimators(model: Any) -> Iterator[Any]:
    """Yield the estimators of LIBSVM inside a model."""
    last = model[-1]
    if hasattr(last, "calibrated_classifiers_"):
        last = last.calibrated_classifiers_[0].estimator
    yield from getattr(last, "estimators_", [last])


@pytest.mark.parametrize("name", MACHINES)
def test_sparse_and_dense_vectors_give_the_same_bytes(name):
    """reliability 15: sparse support vectors: same C bytes as dense."""
    zeros = np.maximum(StandardScaler().fit_transform(X), 0.0)
    dense = fitted(name, data=zeros)
    thin = copy.deepcopy(dense)
    for estimator in libsvm_estimators(thin):
        for field in ("support_vectors_", "dual_coef_", "_dual_coef_"):
            array = getattr(estimator, field)
            stored = sparse.csr_matrix(np.ones_like(array))  # every element, as scikit-learn
            stored.data[:] = array.ravel()
            setattr(estimator, field, stored)
        estimator._sparse = True
    assert emit_model(thin).files == emit_model(dense).files


@pytest.mark.parametrize("calibrated", [False, True])
def test_equal_decisions_of_classes_are_not_certified(calibrated):
    """reliability 17: ties of one-vs-rest machines, on a model symmetric in its classes."""
    corners = np.tile(np.eye(3), (6, 1))
    labels = np.tile(np.arange(3), 6)
    model: Any = OneVsRestClassifier(SVC(gamma=0.5, C=5.0))
    if calibrated:
        model = CalibratedClassifierCV(model, ensemble=False, cv=2)
    emitted = emit_model(model.fit(corners, labels))
    equal = np.full((5, 3), np.arange(5)[:, None] / 4, dtype=np.float32)
    answers = interpret(emitted.program, equal)
    assert not answers.results["certified"].any()
    spread = np.ptp(evaluate(emitted.machine, equal).decisions, axis=1)
    reach = 2 * answers.bounds.max(axis=1)
    assert (spread <= reach).all()  # symmetric but for the solver's rounding
    if calibrated:
        error = np.abs(answers.probabilities - np.float32(1) / np.float32(3)).max(axis=1)
        assert (error <= answers.probability_bounds + spread / 2).all()


def test_platt_s_probabilities_are_not_those_of_a_calibrated_machine():
    """reliability 13: SVC(probability=True) has those of its own sigmoid, and is noted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it is deprecated
        model = SVC(probability=True, random_state=0).fit(X, Y == 1)
    emitted = emit_model(model)
    assert any("the label is decided by the decision" in note for note in emitted.machine.notes)
    assert emitted.program.probability.is_scaled
    calibrated = CalibratedClassifierCV(model, ensemble=False, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        calibrated.fit(X, Y == 1)
    own = emit_model(calibrated)
    reference = evaluate(own.machine, X)
    told = probabilities_of(own.machine, reference.decisions)
    rounded = reference.error[:, 0] / 2 + 16 * 2.0**-53
    assert (np.abs(told - calibrated.predict_proba(X)).max(axis=1) <= rounded).all()
