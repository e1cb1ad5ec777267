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
from kmcompile.training import DCPredClassifier, DCPredRegressor, FaLKSVC

Rng = np.random.Generator

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
    X, data = _data(rng, n, d)
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
        is_regression=targets is _values,
        is_linear=kind in _LINEAR or getattr(model, "kernel", "") == "linear",
    )


def _without_coefficients(rng: Rng, fitted: Any) -> Any:
    """Return the machine with all coefficients 0, or all but those of one decision."""
    machine = load_machine(fitted)
    coef = np.zeros_like(machine.dual_coef)
    if rng.random() < 0.5:
        coef[0] = machine.dual_coef[0]
    return replace(machine, dual_coef=coef)


def _data(rng: Rng, n: int, d: int) -> tuple[np.ndarray, str]:
    """Return features, and what they are."""
    X = rng.normal(size=(n, d))
    X[:, 0] += 2 * rng.integers(2, size=n)
    kind = str(rng.choice(list(_DATA)))
    return _DATA[kind](rng, X), kind


def _of_size(size: float) -> Callable[[Rng, np.ndarray], np.ndarray]:
    return lambda rng, X: X * size


def _constant_columns(rng: Rng, X: np.ndarray) -> np.ndarray:
    X[:, rng.random(X.shape[1]) < 0.6] = 10.0 ** rng.uniform(-6, 6) * rng.choice([-1, 0, 1])
    return X


def _one_large_feature(rng: Rng, X: np.ndarray) -> np.ndarray:
    X[:, int(rng.integers(X.shape[1]))] *= 10.0 ** rng.uniform(-30, 30)
    return X


def _duplicates(rng: Rng, X: np.ndarray) -> np.ndarray:
    few = max(1, len(X) // 4)
    return X[rng.integers(few, size=len(X))] * (1 + rng.choice([0, 1e-7], size=(len(X), 1)))


_DATA: Mapping[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "ordinary": _of_size(1.0),
    "ordinary again": _of_size(1.0),
    "positive": lambda rng, X: np.abs(X),
    "whole": lambda rng, X: np.round(np.abs(X) * 40),
    "bytes": lambda rng, X: np.round(np.clip(np.abs(X) * 40, 0, 255)),
    "sparse": lambda rng, X: np.where(rng.random(X.shape) < 0.8, 0.0, np.abs(X)),
    "of any size": lambda rng, X: X * 10.0 ** rng.uniform(-12, 12),
    "huge": _of_size(1e30),
    "tiny": _of_size(1e-30),
    "subnormal": _of_size(1e-42),
    "far from 0": lambda rng, X: X + 10.0 ** rng.uniform(0, 9),
    "of many scales": lambda rng, X: X * 10.0 ** rng.uniform(-9, 9, size=X.shape[1]),
    "one large or small feature": _one_large_feature,
    "constant columns": _constant_columns,
    "one value": lambda rng, X: np.full_like(X, 10.0 ** rng.uniform(-8, 8) * rng.choice([-1, 1])),
    "zeros": lambda rng, X: np.zeros_like(X),
    "duplicates": _duplicates,
    "a line": lambda rng, X: X[:, :1] * rng.normal(size=X.shape[1]),
}


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


def _two_classes(rng: Rng, X: np.ndarray) -> np.ndarray:
    return _classes(rng, X, 2)


def _classes(rng: Rng, X: np.ndarray, most: int = 6) -> np.ndarray:
    """Return labels, of which each occurs; sometimes one sample a class, sometimes text."""
    k = int(min(len(X), most, rng.choice([2, 2, 2, 3, 4, 6])))
    score = X[:, 0] / (np.abs(X[:, 0]).max() or 1.0) + 0.1 * rng.normal(size=len(X))
    y = np.argsort(np.argsort(score)) * k // len(X)
    return np.array(["a", "b", "c", "d", "e", "f"])[y] if rng.random() < 0.3 else y


def _values(rng: Rng, X: np.ndarray) -> np.ndarray:
    """Return values of a regression, sometimes all the same."""
    score = X[:, 0] / (np.abs(X[:, 0]).max() or 1.0) + 0.1 * rng.normal(size=len(X))
    if rng.random() < 0.1:
        score[:] = 0.5
    return np.asarray(score * 10.0 ** rng.choice([0, 0, 0, -20, -6, 6, 20]))


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
    "SVC": (_classes, _svm(svm.SVC)),
    "NuSVC": (_classes, _svm(svm.NuSVC)),
    "OneClassSVM": (_classes, _svm(svm.OneClassSVM)),
    "SVR": (_values, _svm(svm.SVR)),
    "NuSVR": (_values, _svm(svm.NuSVR)),
    "KernelRidge": (_values, _kernel_ridge),
    "GaussianProcessRegressor": (_values, _gaussian_process),
    "FaLKSVC": (_classes, _falk),
    "DCPredClassifier": (_classes, _dcpred(DCPredClassifier)),
    "DCPredRegressor": (_values, _dcpred(DCPredRegressor)),
    "LinearSVC": (_classes, _linear(svm.LinearSVC)),
    "LinearSVR": (_values, _linear(svm.LinearSVR)),
    "LinearDiscriminantAnalysis": (_classes, _linear(LinearDiscriminantAnalysis)),
    **{name: (_classes, _linear(getattr(linear_model, name))) for name in _LINEAR_CLASSIFIERS},
    **{name: (_values, _linear(getattr(linear_model, name))) for name in _LINEAR_REGRESSORS},
    "OneVsRestClassifier": (_classes, lambda rng, n: OneVsRestClassifier(_inside(rng))),
    "CalibratedClassifierCV": (
        _two_classes,
        lambda rng, n: CalibratedClassifierCV(_inside(rng), ensemble=False, cv=2),
    ),
    "FixedThresholdClassifier": (
        _two_classes,
        lambda rng, n: model_selection.FixedThresholdClassifier(
            _inside(rng), threshold=rng.normal(), response_method="decision_function"
        ),
    ),
    "TunedThresholdClassifierCV": (
        _two_classes,
        lambda rng, n: model_selection.TunedThresholdClassifierCV(
            _inside(rng), cv=2, response_method="decision_function"
        ),
    ),
    "FrozenEstimator": (_classes, lambda rng, n: _inside(rng)),  # frozen when it is trained
    "TransformedTargetRegressor": (
        _values,
        lambda rng, n: TransformedTargetRegressor(
            _svm(svm.SVR)(rng, n), transformer=MinMaxScaler()
        ),
    ),
    **{name: (_classes, _search(getattr(model_selection, name))) for name in _SEARCHES},
}
"""Every estimator that is read: what it is trained to, and how it is made."""

OFTEN = ("SVC", "SVC", "SVC", "NuSVC", "OneClassSVM", "SVR", "KernelRidge", "OneVsRestClassifier")
"""The estimators whose machines have most to compile."""
