"""Models of every kind that is read, trained on data at random: ordinary and degenerate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import linear_model, model_selection, svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # makes two searches known
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from kit.function_kernels import intersection_kernel, kernel_function, load_machine
from kit.random_data import Rng, random_classes, random_features, random_values, two_random_classes
from kmcompile.training import DCPredClassifier, DCPredRegressor, FaLKSVC

KERNELS = ("rbf", "rbf", "poly", "sigmoid", "linear")
FUNCTIONS = ("cosine", "laplacian", "chi2", "additive_chi2", "intersection")
_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


@dataclass(frozen=True, slots=True, eq=False)
class RandomModel:
    """A model and inputs of its kind, float64 of shape (n, n_features); `said` is what it is."""

    model: Any
    X: np.ndarray
    said: str
    is_regression: bool
    is_linear: bool


def random_model(rng: Rng, kind: str) -> RandomModel:
    """Return a trained model of a kind in `KINDS`.

    Raises
    ------
    ValueError, ArithmeticError, LinAlgError
        Where scikit-learn cannot train it on such data.
    """
    d = int(rng.choice([1, 2, 3, 5, 9, 20]))
    n = int(rng.choice([2, 4, 8, 20, 60, 150]))
    X, data = random_features(rng, n, d)
    targets, make = KINDS[kind]
    y = targets(rng, X)
    steps = _steps(rng, min(d, n), d, kind)
    model = make(rng, n)
    if steps:
        model = make_pipeline(*steps, model)
    with np.errstate(all="ignore"):
        fitted = model.fit(X, y)
    if kind == "FrozenEstimator":
        fitted = FrozenEstimator(fitted)
    zeroed = ""
    if rng.random() < 0.04:
        fitted, zeroed = _without_coefficients(rng, fitted), " without coefficients"
    elif getattr(model.steps[-1][1] if steps else model, "kernel", "") is intersection_kernel:
        fitted = load_machine(fitted)
    names = [type(step).__name__ for step in steps]
    return RandomModel(
        fitted,
        X,
        f"{kind} after {names} of {data}, {n} x {d}{zeroed}",
        is_regression=targets is random_values,
        is_linear=kind in _LINEAR or getattr(model, "kernel", "") == "linear",
    )


def _without_coefficients(rng: Rng, fitted: Any) -> Any:
    """Return the machine with all coefficients 0, or all but those of one decision."""
    machine = load_machine(fitted)
    coef = np.zeros_like(machine.dual_coef)
    if rng.random() < 0.5:
        coef[0] = machine.dual_coef[0]
    return replace(machine, dual_coef=coef)


def _steps(rng: Rng, rank: int, d: int, kind: str) -> list[Any]:
    """Return up to three steps before an estimator."""
    steps: list[Any] = []
    for _ in range(int(rng.choice([0, 0, 1, 1, 2, 3]))):
        made = int(rng.integers(7))
        if made < 3:
            steps.append(rng.choice(np.array(_SCALERS, dtype=object))())
        elif made == 3:
            steps.append(Normalizer(str(rng.choice(["l1", "l2", "max"]))))
        elif made == 4:
            d = int(rng.integers(1, min(rank, d) + 1))
            steps.append(PCA(n_components=d, whiten=bool(rng.random() < 0.5)))
        elif made == 5 and d > 1:
            steps.append(MinMaxScaler(clip=True))
        elif d > 1:
            cut = int(rng.integers(1, d))
            first, rest = list(range(cut)), list(range(cut, d))
            other = rng.choice(np.array(["passthrough", "drop", StandardScaler()], dtype=object))
            steps.append(
                make_column_transformer(
                    (rng.choice(np.array(_SCALERS, dtype=object))(), first), (other, rest)
                )
            )
            d = cut if isinstance(other, str) and other == "drop" else d
    if kind in _LINEAR and rng.random() < 0.25:
        gamma = 10.0 ** rng.uniform(-3, 1)
        if rng.random() < 0.5:
            steps.append(RBFSampler(gamma=gamma, n_components=8, random_state=0))
        else:
            kernel = str(rng.choice(["rbf", "poly", "sigmoid", "laplacian", "cosine"]))
            steps.append(Nystroem(kernel, gamma=gamma, n_components=4, random_state=0))
    return steps


def kernel_options(rng: Rng, functions: tuple[str, ...] = FUNCTIONS) -> dict[str, Any]:
    """Return a kernel with its parameters, as estimators take them."""
    if functions and rng.random() < 0.25:
        name = str(rng.choice(functions))
        gamma = {"gamma": 10.0 ** rng.uniform(-3, 1)} if name in ("laplacian", "chi2") else {}
        return {"kernel": kernel_function(name, **gamma)}
    gamma = rng.choice(np.array(["scale", "auto", 10.0 ** rng.uniform(-6, 4)], dtype=object))
    return {
        "kernel": str(rng.choice(KERNELS)),
        "gamma": gamma,
        "degree": int(rng.integers(1, 10)),
        "coef0": float(rng.choice([0.0, 0.3, 1.0, -0.5, 100.0])),
    }


def _cost(rng: Rng) -> float:
    return float(10.0 ** rng.uniform(-6, 6))


def _svm(make: Any, **more: Any) -> Callable[[Rng, int], Any]:
    def made(rng: Rng, n: int) -> Any:
        own = {"C": _cost(rng)} if make in (svm.SVC, svm.SVR) else {}
        if make is svm.SVC and rng.random() < 0.2:
            own |= {"break_ties": True, "decision_function_shape": "ovr"}
        if make in (svm.NuSVC, svm.NuSVR, svm.OneClassSVM):
            own["nu"] = float(rng.uniform(0.05, 0.6))
        return make(max_iter=2000, **kernel_options(rng), **own, **more)

    return made


def _kernel_ridge(rng: Rng, n: int) -> Any:
    kernel = kernel_options(rng, functions=())
    if isinstance(kernel["gamma"], str):
        kernel["gamma"] = None
    if rng.random() < 0.3:
        kernel["kernel"] = str(rng.choice(["laplacian", "chi2", "additive_chi2", "cosine"]))
    return KernelRidge(alpha=_cost(rng), **kernel)


def _gaussian_process(rng: Rng, n: int) -> Any:
    choice = int(rng.integers(4))
    scale = float(10.0 ** rng.uniform(-3, 3))
    kernel: Any = gp.RBF(scale)
    if choice == 1:
        kernel = gp.DotProduct(scale)
    elif choice == 2:
        kernel = gp.PairwiseKernel(gamma=scale, metric=str(rng.choice(["rbf", "laplacian"])))
    elif choice == 3:
        kernel = 3.0 * gp.RBF(scale) + gp.WhiteKernel(0.1)
    normal = bool(rng.random() < 0.5)
    return GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None, normalize_y=normal)


def _falk(rng: Rng, n: int) -> Any:
    options = {**kernel_options(rng, functions=()), "degree": 3}
    k = int(rng.integers(2, n + 2))
    route = str(rng.choice(["flat", "two_levels"]))
    return FaLKSVC(k=k, C=_cost(rng), route=route, random_state=0, **options)


def _dcpred(make: Any) -> Callable[[Rng, int], Any]:
    def made(rng: Rng, n: int) -> Any:
        return make(
            n_leaves=int(rng.integers(1, 6)),
            n_landmarks=int(rng.integers(1, 6)),
            pseudo_landmarks=str(rng.choice(["none", "products"])),
            linear_term=bool(rng.random() < 0.5),
            polish_steps=5,
            random_state=0,
        )

    return made


def _linear(make: Any, **more: Any) -> Callable[[Rng, int], Any]:
    def made(rng: Rng, n: int) -> Any:
        own = {"max_iter": 50} if "max_iter" in make().get_params() else {}
        if make in (svm.LinearSVC, svm.LinearSVR, linear_model.LogisticRegression):
            own["C"] = _cost(rng)
        return make(**own, **more)

    return made


def _inside(rng: Rng) -> Any:
    """Return a classifier for a meta-estimator."""
    if rng.random() < 0.5:
        return svm.SVC(C=_cost(rng), max_iter=2000, **kernel_options(rng, FUNCTIONS[:-1]))
    return svm.LinearSVC(C=_cost(rng), max_iter=50)


def _search(make: Any) -> Callable[[Rng, int], Any]:
    return lambda rng, n: make(svm.SVC(max_iter=2000), {"C": [0.1, 10.0]}, cv=2)


_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
_LINEAR_CLASSIFIERS = (
    *("LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV"),
    *("SGDClassifier", "Perceptron", "PassiveAggressiveClassifier"),
)
_LINEAR_REGRESSORS = (
    *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet"),
    *("ElasticNetCV", "SGDRegressor", "HuberRegressor", "BayesianRidge"),
)
_LINEAR = frozenset((*_LINEAR_CLASSIFIERS, *_LINEAR_REGRESSORS, "LinearSVC", "LinearSVR"))

KINDS: Mapping[str, tuple[Callable[[Rng, np.ndarray], np.ndarray], Callable[[Rng, int], Any]]] = {
    "SVC": (random_classes, _svm(svm.SVC)),
    "NuSVC": (random_classes, _svm(svm.NuSVC)),
    "OneClassSVM": (random_classes, _svm(svm.OneClassSVM)),
    "SVR": (random_values, _svm(svm.SVR)),
    "NuSVR": (random_values, _svm(svm.NuSVR)),
    "KernelRidge": (random_values, _kernel_ridge),
    "GaussianProcessRegressor": (random_values, _gaussian_process),
    "FaLKSVC": (random_classes, _falk),
    "DCPredClassifier": (random_classes, _dcpred(DCPredClassifier)),
    "DCPredRegressor": (random_values, _dcpred(DCPredRegressor)),
    "LinearSVC": (random_classes, _linear(svm.LinearSVC)),
    "LinearSVR": (random_values, _linear(svm.LinearSVR)),
    "LinearDiscriminantAnalysis": (random_classes, _linear(LinearDiscriminantAnalysis)),
    **{
        name: (random_classes, _linear(getattr(linear_model, name))) for name in _LINEAR_CLASSIFIERS
    },
    **{name: (random_values, _linear(getattr(linear_model, name))) for name in _LINEAR_REGRESSORS},
    "OneVsRestClassifier": (random_classes, lambda rng, n: OneVsRestClassifier(_inside(rng))),
    "CalibratedClassifierCV": (
        two_random_classes,
        lambda rng, n: CalibratedClassifierCV(_inside(rng), ensemble=False, cv=2),
    ),
    "FixedThresholdClassifier": (
        two_random_classes,
        lambda rng, n: model_selection.FixedThresholdClassifier(
            _inside(rng), threshold=rng.normal(), response_method="decision_function"
        ),
    ),
    "TunedThresholdClassifierCV": (
        two_random_classes,
        lambda rng, n: model_selection.TunedThresholdClassifierCV(
            _inside(rng), cv=2, response_method="decision_function"
        ),
    ),
    "FrozenEstimator": (random_classes, lambda rng, n: _inside(rng)),  # frozen when it is trained
    "TransformedTargetRegressor": (
        random_values,
        lambda rng, n: TransformedTargetRegressor(
            _svm(svm.SVR)(rng, n), transformer=MinMaxScaler()
        ),
    ),
    **{name: (random_classes, _search(getattr(model_selection, name))) for name in _SEARCHES},
}
"""Every estimator that is read: what it is trained to, and how it is made."""

OFTEN = ("SVC", "SVC", "SVC", "NuSVC", "OneClassSVM", "SVR", "KernelRidge", "OneVsRestClassifier")
"""The estimators whose machines have most to compile."""
