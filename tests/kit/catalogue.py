"""Every kernel with every task and every preprocessing, as small fitted models.

For whatever must hold for every kernel, task and step: bits of the C, bounds, storage, hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC, OneClassSVM

from kit.calibrated import Calibrated
from kit.cascades import Cascade
from kit.certified import Certified
from kit.coded import Coded
from kit.emitted import Emitted, emit_model
from kit.function_kernels import kernel_function
from kit.sharing import shared
from kmcompile.target import Target

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {},
    "poly": {"degree": 3, "coef0": 0.5, "gamma": 0.3},
    "rbf": {"gamma": 0.4},
    "sigmoid": {"gamma": 0.2, "coef0": -0.1},
    "laplacian": {"gamma": 0.2},
    "chi2": {"gamma": 0.3},
    "intersection": {},
    "additive_chi2": {},
    "fourier": {"gamma": 0.1},
    "matern": {"gamma": 0.6, "degree": 1},
    "rational_quadratic": {"gamma": 0.3, "alpha": 0.8},
}
NAMED = ("linear", "poly", "rbf", "sigmoid")
"""Kernels that an SVC has by name; it takes the other kernels, and the cosine, as functions."""
MAPS: dict[str, Any] = {"Nystroem": Nystroem, "RBFSampler": RBFSampler}
"""Feature maps, before a LinearSVC."""

Transformers = Callable[[], list[Any]]
PREPROCESSING: dict[str, Transformers] = {
    "raw": list,
    "standard": lambda: [StandardScaler()],
    "scale_only": lambda: [StandardScaler(with_mean=False)],
    "centre_only": lambda: [StandardScaler(with_std=False)],
    "minmax": lambda: [MinMaxScaler((-1, 1))],
    "clip": lambda: [MinMaxScaler(clip=True)],
    "maxabs": lambda: [MaxAbsScaler()],
    "robust": lambda: [RobustScaler()],
    "pca": lambda: [PCA(0.9)],
    "whiten": lambda: [PCA(4, whiten=True)],
    "l1": lambda: [Normalizer("l1")],
    "l2": lambda: [Normalizer("l2")],
    "max": lambda: [Normalizer("max")],
    "standard_pca_l2": lambda: [StandardScaler(), PCA(5), Normalizer()],
    "clip_standard": lambda: [MinMaxScaler(clip=True), StandardScaler()],
    "columns": lambda: [
        ColumnTransformer(
            [
                ("robust", make_pipeline(RobustScaler(), MaxAbsScaler()), [4, 1, 4]),
                ("minmax", MinMaxScaler(), [False, False, False, True, False, False]),
                ("left_out", "drop", slice(2, 3)),
            ],
            remainder="passthrough",
            transformer_weights={"minmax": 3.0},
        )
    ],
    "l1_pca_pca": lambda: [Normalizer("l1"), PCA(5), PCA(4)],
    "l2_columns": lambda: [
        Normalizer(),
        ColumnTransformer([("kept", "passthrough", [0, 2, 3, 5])]),
    ],
}

TASKS = ("binary", "one_vs_one", "break_ties")
N_FEATURES = 6  # one group of four features, and a rest


@dataclass(frozen=True)
class Case:
    """One model of the catalogue: a pipeline that ends with a support vector machine."""

    estimator: str
    kernel: str
    task: str
    preprocessing: str
    n_features: int = N_FEATURES
    parameters: tuple[tuple[str, Any], ...] = ()
    n_samples: int = 60

    def __str__(self) -> str:
        words = [self.estimator, self.kernel, self.task, self.preprocessing]
        words += [f"{key}{value}" for key, value in self.parameters]
        if self.n_features != N_FEATURES:
            words.append(f"{self.n_features}_features")
        return "-".join(words)

    def fitted(self) -> Any:
        """Return the fitted pipeline."""
        rng = np.random.default_rng(11)
        X = rng.normal(size=(self.n_samples, self.n_features)) * 2.0 + 1.0
        n_classes = 2 if self.task == "binary" else 4
        y = np.argmax(X @ rng.normal(size=(self.n_features, n_classes)), axis=1)
        y[:n_classes] = np.arange(n_classes)
        if self.kernel in ("chi2", "additive_chi2"):
            X -= X.min(axis=0)
        steps = [*PREPROCESSING[self.preprocessing](), *self._map(), self._classifier()]
        model = make_pipeline(*steps).fit(X, y)
        if self.task == "last_of_equal":
            # Two classes are always equal, and the release is one that takes the last.
            model[-1].estimators_[3] = model[-1].estimators_[2]
            model[-1]._sklearn_version = "1.7.2"
        return model

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        return emit_model(self.fitted(), target, name)

    def _map(self) -> list[Any]:
        """Return the feature map of an estimator that has one."""
        make = MAPS.get(self.estimator)
        if make is None:
            return []
        return [make(n_components=22, random_state=0, **KERNELS[self.kernel])]

    def _classifier(self) -> Any:
        if self.estimator in ("LinearSVC", *MAPS):
            return LinearSVC(random_state=0)
        kernel, parameters = self.kernel, {**KERNELS.get(self.kernel, {}), **dict(self.parameters)}
        if self.kernel not in NAMED:
            own = KERNELS.get(self.kernel, {})
            kernel = kernel_function(self.kernel, **{name: parameters[name] for name in own})
            parameters = {name: v for name, v in self.parameters if name not in own}
        if self.task == "break_ties":
            parameters["break_ties"] = True
        if self.estimator == "OneVsRestClassifier":
            return OneVsRestClassifier(SVC(kernel=kernel, **parameters))
        if self.estimator == "NuSVC":
            return NuSVC(kernel=kernel, nu=0.3, **parameters)
        if self.estimator == "OneClassSVM":
            return OneClassSVM(kernel=kernel, nu=0.3, **parameters)
        return SVC(kernel=kernel, **parameters)


def every_combination() -> list[Case]:
    """Return kernel x task x preprocessing, the linear models of LinearSVC among them."""
    cases = [
        Case("SVC", kernel, task, preprocessing)
        for preprocessing in PREPROCESSING
        for kernel in NAMED
        for task in TASKS
    ]
    cases += [
        Case("LinearSVC", "linear", task, preprocessing)
        for preprocessing in PREPROCESSING
        for task in ("binary", "one_vs_rest")
    ]
    return cases


SPECIAL = [
    Case("OneVsRestClassifier", "rbf", "one_vs_rest", "standard"),
    Case("OneVsRestClassifier", "poly", "one_vs_rest", "raw"),
    Case("OneVsRestClassifier", "rbf", "last_of_equal", "raw"),
    Case("NuSVC", "rbf", "one_vs_one", "standard"),
    Case("OneClassSVM", "rbf", "one_class", "standard"),
    *(Case("SVC", "poly", "binary", "raw", parameters=(("degree", p),)) for p in (0, 1, 2, 7)),
    *(Case("SVC", "rbf", "binary", "standard", n_features=n) for n in (1, 4, 7)),
    *(Case("LinearSVC", "linear", "one_vs_rest", "l2", n_features=n) for n in (2, 9)),
    *(Case("SVC", "laplacian", "binary", chain) for chain in ("raw", "pca", "l1")),
    *(Case("SVC", "chi2", "one_vs_one", chain) for chain in ("raw", "clip", "max")),
    *(Case("SVC", "intersection", "binary", chain) for chain in ("raw", "standard", "l1")),
    *(Case("SVC", "additive_chi2", "one_vs_one", chain) for chain in ("raw", "max")),
    Case("NuSVC", "laplacian", "one_vs_one", "raw"),
    *(Case("SVC", "matern", "binary", "raw", parameters=(("degree", p),)) for p in (0, 2)),
    Case("NuSVC", "matern", "one_vs_one", "l2"),
    *(
        Case("SVC", "rational_quadratic", "binary", "raw", parameters=(("alpha", alpha),))
        for alpha in (0.05, 40.0)
    ),
    Case("NuSVC", "rational_quadratic", "one_vs_one", "pca"),
    *(Case("RBFSampler", "fourier", "one_vs_rest", steps) for steps in ("raw", "columns", "l2")),
    Case("Nystroem", "poly", "binary", "robust"),
]
"""What the combinations leave out: other degrees, numbers of features with and without a tail."""

CORE = [
    Case("SVC", "rbf", "binary", "standard"),
    Case("SVC", "rbf", "one_vs_one", "standard_pca_l2"),
    Case("SVC", "poly", "break_ties", "clip_standard"),
    Case("SVC", "sigmoid", "one_vs_one", "max"),
    Case("SVC", "linear", "binary", "robust"),
    Case("LinearSVC", "linear", "one_vs_rest", "l1_pca_pca"),
    Case("Nystroem", "rbf", "one_vs_rest", "columns"),
    Case("RBFSampler", "fourier", "binary", "standard"),
    Case("SVC", "laplacian", "one_vs_one", "standard", n_features=7),
    Case("SVC", "chi2", "binary", "maxabs", parameters=(("C", 100.0),)),
    Case("SVC", "intersection", "break_ties", "clip"),
    Case("SVC", "rbf", "binary", "l2_columns"),
    Case("SVC", "additive_chi2", "binary", "maxabs"),
    Case("SVC", "matern", "one_vs_one", "standard"),
    Case("SVC", "rational_quadratic", "binary", "standard"),
]
"""Each stage, kernel and step at least once: for every compiler and every board."""

FEW_VECTORS = [
    Case("SVC", "rbf", "one_vs_one", "pca", n_features=2, n_samples=8),
    Case("SVC", "poly", "binary", "clip_standard", n_features=3, n_samples=6),
    Case("LinearSVC", "linear", "one_vs_rest", "l2", n_features=3, n_samples=12),
]
"""Small tables, of which every bit can be tried."""


@cache
def emitted(case: Case | Cascade | Certified | Coded | Calibrated, target: str | Target) -> Emitted:
    """Return the emitted C of a case."""
    return case.emit(target)
