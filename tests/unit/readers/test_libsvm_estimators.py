"""LIBSVM's and LIBLINEAR's estimators become machines with scikit-learn's decision values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM
from sklearn_agreement import assert_agrees, fitted

from kmcompile.errors import InputError
from kmcompile.kernels import Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.verify.probabilities import probabilities_of

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly"},
    {"kernel": "poly", "gamma": 0.1, "coef0": 1.5, "degree": 4},
    {"kernel": "poly", "gamma": "auto", "coef0": -0.5, "degree": 2},
    {"kernel": "poly", "degree": 0},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "auto"},
    {"kernel": "rbf", "gamma": 2},
    {"kernel": "sigmoid"},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": -1.0},
]
DATA = {"breast_cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}


def data(name, n_samples=200):
    X, y = DATA[name](return_X_y=True)
    return scale(X)[:n_samples], y[:n_samples]


@pytest.mark.parametrize("options", KERNELS, ids=str)
@pytest.mark.parametrize("name", DATA)
def test_svc_has_scikit_learns_decision_values(name, options):
    X, y = data(name)
    machine = assert_agrees(fitted(SVC(**options), X, y), X)
    assert machine.kernel.name == options["kernel"]
    assert machine.zero_is_positive


@pytest.mark.parametrize("options", [k for k in KERNELS if k.get("degree") != 0], ids=str)
def test_nusvc_has_scikit_learns_decision_values(options):
    X, y = data("wine")
    machine = assert_agrees(fitted(NuSVC(nu=0.1, **options), X, y), X)
    assert (machine.kind, machine.task) == ("NuSVC", Task.ONE_VS_ONE)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "options",
    [{}, {"fit_intercept": False}, {"multi_class": "crammer_singer"}, {"intercept_scaling": 9.0}],
    ids=str,
)
def test_linear_svc_has_scikit_learns_decision_values(name, options):
    X, y = data(name)
    machine = assert_agrees(fitted(LinearSVC(random_state=0, **options), X, y), X)
    assert machine.task is (Task.BINARY if name == "breast_cancer" else Task.ONE_VS_REST)
    assert machine.kernel == Linear()
    assert not machine.zero_is_positive


def test_binary_crammer_singer_without_intercept_has_a_plain_zero():
    X, y = data("breast_cancer")
    options = {"multi_class": "crammer_singer", "fit_intercept": False}
    assert_agrees(fitted(LinearSVC(random_state=0, **options), X, y), X)


def test_sparsified_linear_svc_is_the_dense_one():
    X, y = data("wine")
    model = fitted(LinearSVC(penalty="l1", dual=False, random_state=0), X, y)
    dense = load_model(model).sha256
    assert load_model(model.sparsify()).sha256 == dense


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
@pytest.mark.parametrize("name", DATA)
def test_sparse_fitted_svc_has_scikit_learns_decision_values(name, make):
    X, y = data(name)
    X = np.where(np.abs(X) < 0.5, 0, X)
    assert_agrees(fitted(SVC(), make(X), y), X)


def test_sparse_vectors_give_the_machine_of_dense_ones():
    """reliability 15: the same vectors stored sparse give the same bytes."""
    X, y = data("wine")
    model = fitted(SVC(), np.where(np.abs(X) < 0.5, 0, X), y)
    dense = load_model(model).sha256
    for name in ("support_vectors_", "dual_coef_", "_dual_coef_"):
        array = getattr(model, name)
        full = scipy.sparse.csr_matrix(np.ones_like(array))
        full.data[:] = array.ravel()  # explicit zeros, as LIBSVM's dual_coef_ has
        setattr(model, name, full)
    model._sparse = True
    assert load_model(model).sha256 == dense


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["no", "yes", "späť"], ("no", "späť", "yes")),
        ([-3, 0, 7], (-3, 0, 7)),
        (np.array([-1, 1, 1], dtype=np.int8), (-1, 1)),
        ([True, False, True], (False, True)),
        ([1.0, -2.0, 5.0], (-2.0, 1.0, 5.0)),
        (np.array(["b", "a", "c"], dtype=object), ("a", "b", "c")),
        (np.array([np.str_("b"), np.str_("a"), "c"], dtype=object), ("a", "b", "c")),
    ],
    ids=str,
)
def test_labels_become_python_values(y, classes):
    machine = load_model(LinearSVC().fit([[0.0], [1.0], [2.0]], y))
    assert machine.classes == classes
    assert [type(label) for label in machine.classes] == [type(label) for label in classes]


def test_gamma_is_the_fitted_one_whatever_was_asked():
    X, y = data("wine")
    assert load_model(SVC(gamma="auto").fit(X, y)).kernel == Rbf(1 / 13)
    assert load_model(SVC(gamma=np.float32(0.5)).fit(X, y)).kernel == Rbf(0.5)
    model = SVC(kernel="poly", gamma=3, coef0=1, degree=np.int64(2)).fit(X, y)
    assert load_model(model).kernel == Poly(3.0, 1.0, 2)
    assert load_model(SVC(kernel="sigmoid").fit(X, y)).kernel == Sigmoid(1 / (13 * X.var()), 0.0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"break_ties": True}, ("ovr", True)),
        ({"break_ties": False}, ("ovr", False)),
        ({"decision_function_shape": "ovo"}, ("ovo", False)),
    ],
    ids=str,
)
def test_voting_options_are_kept(options, expected):
    machine = load_model(SVC(**options).fit(*data("wine")))
    assert (machine.decision_function_shape, machine.break_ties) == expected


def test_break_ties_means_nothing_for_two_classes():
    assert not load_model(SVC(break_ties=True).fit(*data("breast_cancer"))).break_ties


def test_break_ties_with_ovo_is_refused_as_predict_does():
    model = SVC(break_ties=True, decision_function_shape="ovo").fit(*data("wine"))
    with pytest.raises(InputError, match="SVC: break_ties is True with"):
        load_model(model)


def test_probabilities_of_many_classes_are_left_out():
    X, y = data("wine")
    machine = assert_agrees(fitted(SVC(probability=True, random_state=0), X, y), X)
    assert machine.platt is None
    assert any("of its own, which are left out: of more than two" in n for n in machine.notes)
    assert load_model(fitted(SVC(), X, y)).notes == ()


@pytest.mark.parametrize("make", [SVC, NuSVC])
def test_probabilities_of_two_classes_are_platts(make):
    """reliability 13: the label is predict's, not the argmax of Platt's probabilities.

    scikit-learn's copy of LIBSVM takes also two classes through the iteration of Wu, Lin and Weng
    (2004), and stops it where |d| max(p, 1 - p) < 0.0025 for the distance d to the sigmoid: d is
    less than 0.005.
    """
    X, y = data("wine")
    model = fitted(make(probability=True, random_state=0), X, y > 0)
    machine = assert_agrees(model, X)
    assert any("the label is decided by the decision" in n for n in machine.notes)
    reference = evaluate(machine, X)
    told = probabilities_of(machine, reference.decisions)
    assert np.abs(told - model.predict_proba(X)).max() <= 0.005
    odds = -model.decision_function(X) * model._probA[0] + model._probB[0]
    # Both decisions are within the error of the exact one, and no slope is above 1/4.
    slope, offset = machine.platt
    rounded = abs(slope) * reference.error[:, 0] / 2 + (16 + abs(offset)) * 2.0**-53
    assert (np.abs(told[:, 1] - 1 / (1 + np.exp(-odds))) <= rounded).all()


@pytest.mark.parametrize(("a", "b"), [(1e31, 0.0), (1e-31, 0.0), (-1.0, 1e31)])
def test_sigmoids_beyond_float32_are_left_out(a, b):
    X, y = data("wine")
    model = fitted(SVC(probability=True, random_state=0), X, y > 0)
    model._probA, model._probB = np.array([a]), np.array([b])
    machine = load_model(model)
    assert machine.platt is None
    assert any("beyond what float32 can take" in n for n in machine.notes)


def test_one_machine_a_class_has_no_probabilities_of_its_own():
    X, y = data("wine")
    inner = SVC(probability=True, random_state=0, gamma=0.01)
    machine = load_model(fitted(OneVsRestClassifier(inner), X, y))
    assert machine.platt is None
    assert sum("which are left out: of more than two" in note for note in machine.notes) == 1


def test_a_calibrated_machine_has_no_sigmoid_beside_its_log_odds():
    X, y = data("wine")
    inner = SVC(probability=True, random_state=0)
    calibrated = CalibratedClassifierCV(inner, ensemble=False, cv=3)
    machine = load_model(fitted(calibrated, X, y > 0))
    assert (machine.platt, machine.log_odds) == (None, True)


def test_early_stop_is_noted():
    machine = load_model(fitted(SVC(max_iter=2), *data("wine")))
    assert machine.notes == ("training stopped at max_iter before it had converged",)


def test_user_subclass_is_refused():
    class Louder(SVC):
        def predict(self, X):
            return super().predict(X)[::-1]

    model = Louder().fit(*data("wine"))
    with pytest.raises(InputError, match="must be a scikit-learn estimator itself"):
        load_model(model)


def regression_data(n_samples=200):
    X, y = load_diabetes(return_X_y=True)
    return scale(X)[:n_samples], scale(y)[:n_samples]


@pytest.mark.parametrize("make", [SVR, NuSVR])
@pytest.mark.parametrize("options", [k for k in KERNELS if k.get("degree") != 0], ids=str)
def test_regressions_have_scikit_learns_values(make, options):
    X, y = regression_data()
    machine = assert_agrees(fitted(make(**options), X, y), X)
    assert (machine.kind, machine.task, machine.classes) == (make.__name__, Task.REGRESSION, ())


@pytest.mark.parametrize("options", [k for k in KERNELS if k.get("degree") != 0], ids=str)
def test_one_class_machines_have_scikit_learns_decision_values(options):
    X, _ = data("wine")
    machine = assert_agrees(fitted(OneClassSVM(nu=0.2, **options), X, None), X)
    assert (machine.task, machine.classes) == (Task.ONE_CLASS, (-1, 1))
    assert not machine.zero_is_positive


def test_one_class_zero_is_an_outlier():
    """The only vector's kernel value is 1 and the offset is made as large: f = 0."""
    model = OneClassSVM(gamma=1.0).fit([[0.0], [0.0]])
    total = model.dual_coef_.sum()
    model.intercept_, model._intercept_ = np.array([-total]), np.array([-total])
    model.offset_ = np.array([total])
    assert model.decision_function([[0.0]]) == 0
    assert model.predict([[0.0]]) == -1
    reference = evaluate(load_model(model), np.zeros((1, 1)))
    assert (reference.decisions, reference.labels) == (0, 0)


@pytest.mark.parametrize("model", [SVR(), NuSVR(), OneClassSVM()], ids=str)
def test_sparse_fitted_machines_of_one_row_have_scikit_learns_values(model):
    X, y = regression_data()
    X = np.where(np.abs(X) < 0.5, 0, X)
    assert_agrees(fitted(model, scipy.sparse.csr_matrix(X), y), X)


def test_a_regression_without_vectors_is_refused():
    """reliability 12: an epsilon wider than all targets leaves none."""
    X, y = regression_data()
    with pytest.raises(InputError, match="support_vectors_ is empty, must be 1 or more"):
        load_model(SVR(epsilon=100.0).fit(X, y))
