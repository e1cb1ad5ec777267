"""Labels are those of `predict` wherever the decision is beyond its bound, ties included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from kit.emitted import emit_model
from kit.lowered import lowered
from kit.shared_data import data_file
from kmcompile.model.reference import confident_votes, evaluate, labels_of
from kmcompile.program.interpreter import Status

BUNDLED = {"breast_cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}
CLASSIFIERS = {
    "rbf": lambda: SVC(C=10),
    "poly": lambda: SVC(kernel="poly", coef0=1.0),
    "sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.01),
    "linear": lambda: SVC(kernel="linear", C=0.1),
    "nu": lambda: NuSVC(nu=0.05),
    "break_ties": lambda: SVC(break_ties=True),
    "linear_svc": lambda: LinearSVC(random_state=0, max_iter=20000),
}


def samples(name: str):
    """Return training and test samples, at most 1,000 of each, as the C receives them."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))
        X, y, half = X[order], y[order], len(X) // 2
        parts = X[:half], y[:half], X[half:], y[half:]
    else:
        with np.load(data_file(name)) as file:
            parts = tuple(file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    X_train, y_train, X_test, y_test = (np.asarray(part)[:1000] for part in parts)
    return X_train.astype(float), y_train, X_test.astype(np.float32), y_test


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    "data", [*BUNDLED, "german", "fourclass", "satimage", "vehicle", "glass", "ijcnn1"]
)
def test_labels_are_those_of_predict_beyond_the_bound(data, classifier):
    X_train, y_train, X_test, _ = samples(data)
    model = make_pipeline(StandardScaler(), CLASSIFIERS[classifier]()).fit(X_train, y_train)
    low = lowered(model)
    answers = low.answers(X_test)
    assert (answers.results["status"] == Status.OK).all()
    predicted = np.searchsorted(model.classes_, model.predict(X_test.astype(np.float64)))
    certified = answers.results["certified"]
    np.testing.assert_array_equal(answers.results["label"][certified], predicted[certified])
    clear = (np.abs(answers.decisions) > answers.bounds).all(axis=1)
    if classifier != "linear_svc" and classifier != "break_ties":
        np.testing.assert_array_equal(answers.results["label"][clear], predicted[clear])
        assert certified[clear].all()
    assert certified.any()


def test_zero_goes_where_each_estimator_says():
    """f == 0 exactly: SVC's `predict` gives classes_[1], LinearSVC's classes_[0]."""
    X, y = np.array([[-1.0, 2.0], [1.0, 2.0]]), np.array(["left", "right"])
    middle = np.array([[0.0, 2.0]], dtype=np.float32)
    svc = SVC(kernel="rbf", gamma=0.5).fit(X, y)
    linear = LinearSVC(fit_intercept=False, random_state=0).fit(X, y)
    linear.coef_ = np.array([[1.0, 0.0]])
    for model in (svc, linear):
        answers = lowered(model).answers(middle)
        assert answers.decisions[0, 0] == 0 == model.decision_function(middle)[0]
        label = model.classes_[answers.results["label"][0]]
        assert label == model.predict(middle)[0]
        assert not answers.results["certified"][0]


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_ties_between_votes_are_those_of_predict(n_classes, break_ties):
    """reliability 17: one-vs-one ties and break_ties, on a model symmetric in its classes.

    On a grid of halves all distances are exact, so that equal features give f = 0 exactly.
    """
    X = np.eye(n_classes)
    model = SVC(gamma=0.5, C=5.0, break_ties=break_ties).fit(X, 2 * np.arange(n_classes) + 3)
    assert not model.intercept_.any()
    grid = np.array(list(itertools.product([0.0, 0.5, 1.0], repeat=n_classes)), dtype=np.float32)
    low = lowered(model)
    answers, decisions = low.answers(grid), _ovo(model, grid)
    assert ((answers.decisions == 0) == (decisions == 0)).all()
    assert (decisions == 0).any()
    predicted = np.searchsorted(model.classes_, model.predict(grid.astype(np.float64)))
    np.testing.assert_array_equal(answers.results["label"], predicted)
    np.testing.assert_array_equal(labels_of(low.machine, decisions), predicted)
    # BLAS leaves a rounding where f is 0, within its own error.
    reference = evaluate(low.machine, grid)
    assert (np.abs(reference.decisions - decisions) <= reference.error).all()
    sure = (np.abs(reference.decisions) > reference.error).all(axis=1)
    np.testing.assert_array_equal(reference.labels[sure], predicted[sure])
    all_equal = (grid == grid[:, :1]).all(axis=1)
    assert not answers.results["certified"][all_equal].any()
    assert answers.results["certified"].any()


def _ovo(model: SVC, X: np.ndarray) -> np.ndarray:
    """Return scikit-learn's own decision values of the pairs."""
    shape, ties = model.decision_function_shape, model.break_ties
    model.set_params(decision_function_shape="ovo", break_ties=False)
    decisions = model.decision_function(X.astype(np.float64))
    model.set_params(decision_function_shape=shape, break_ties=ties)
    return decisions


@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_break_ties_gives_the_decision_function_of_scikit_learn(n_classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = rng.integers(0, n_classes, size=60)
    model = SVC(break_ties=True).fit(X, y)
    queries = rng.normal(size=(500, 2)).astype(np.float32)
    own = confident_votes(n_classes, _ovo(model, queries))
    theirs = model.decision_function(queries.astype(np.float64))
    np.testing.assert_array_equal(own, theirs)
    machine = lowered(model).machine
    predicted = np.searchsorted(model.classes_, model.predict(queries.astype(np.float64)))
    np.testing.assert_array_equal(labels_of(machine, _ovo(model, queries)), predicted)


@pytest.mark.parametrize(
    "labels",
    [("z", "a"), (-1, 1), (False, True), (-7, 40, 3), ("", "ä", "?\\")],
    ids=str,
)
def test_any_labels_come_back(labels):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    y = np.array(labels)[np.arange(40) % len(labels)]
    for model in (SVC().fit(X, y), LinearSVC(random_state=0).fit(X, y)):
        low = lowered(model)
        assert list(low.program.classes) == model.classes_.tolist()
        answers = low.answers(X.astype(np.float32))
        sure = answers.results["certified"]
        own = model.classes_[answers.results["label"]]
        assert (own == model.predict(X.astype(np.float32)))[sure].all()
        assert sure.any()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scaler", [None, MaxAbsScaler, StandardScaler])
def test_sparse_and_dense_models_give_the_same_bytes(scaler, n_classes):
    """reliability 15: sparse support vectors: same C bytes as dense."""
    rng = np.random.default_rng(6)
    X = np.where(rng.random((60, 5)) < 0.5, 0.0, rng.normal(size=(60, 5)))
    y = rng.integers(0, n_classes, size=60)
    given = sparse.csr_matrix(X)
    options = {"with_mean": False} if scaler is StandardScaler else {}
    steps = [[scaler(**options)] if scaler else [] for _ in range(2)]
    dense = make_pipeline(*steps[0], SVC(gamma=0.3)).fit(X, y)
    thin = make_pipeline(*steps[1], SVC(gamma=0.3)).fit(given, y)
    assert sparse.issparse(thin[-1].support_vectors_)
    # LIBSVM's sparse solver may end on other coefficients: the same numbers, stored sparsely.
    thin[-1].__dict__.update(
        {
            name: sparse.csr_matrix(getattr(dense[-1], name))
            for name in ("support_vectors_", "dual_coef_", "_dual_coef_")
        }
    )
    for name in ("support_", "_n_support", "intercept_", "_intercept_", "_gamma"):
        setattr(thin[-1], name, getattr(dense[-1], name))
    for name in ("dual_coef_", "_dual_coef_"):
        _fill(thin[-1], name, getattr(dense[-1], name))
    if scaler:
        thin.steps[0] = dense.steps[0]
    assert emit_model(thin).files == emit_model(dense).files


def _fill(classifier: SVC, name: str, values: np.ndarray) -> None:
    """Store every element, zeros too, as scikit-learn does."""
    rows, columns = np.indices(values.shape)
    full = sparse.csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), values.shape)
    setattr(classifier, name, full)


def test_the_clip_of_a_scaler_is_that_of_scikit_learn():
    X = np.linspace(-1, 1, 41)[:, None]
    model = make_pipeline(MinMaxScaler(clip=True), SVC()).fit(X, (X[:, 0] ** 2 > 0.3).astype(int))
    low = lowered(model)
    outside = np.array([[-1e3], [1e3]], dtype=np.float32)
    assert (
        low.answers(outside).decisions.tolist() == low.answers(np.sign(outside)).decisions.tolist()
    )
