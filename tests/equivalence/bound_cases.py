"""Models for the bounds: every kernel behind every preprocessing, and data that are hard."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

from kit.function_kernels import kernel_function
from kit.lowered import Lowered, lowered
from kit.real_model import RealModel
from kmcompile.program.interpreter import Status
from kmcompile.steps import Affine, Projection

STEPS = 20_000  # enough: how well they are trained is of no concern here

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "linear": lambda: SVC(kernel="linear", max_iter=STEPS),
    "poly0": lambda: SVC(kernel="poly", degree=0, max_iter=STEPS),
    "poly1": lambda: SVC(kernel="poly", degree=1, coef0=0.3, gamma=0.7, max_iter=STEPS),
    "poly2": lambda: SVC(kernel="poly", degree=2, coef0=-0.4, max_iter=STEPS),
    "poly3": lambda: SVC(kernel="poly", degree=3, coef0=1.0, max_iter=STEPS),
    "poly9": lambda: SVC(kernel="poly", degree=9, coef0=-0.3, gamma=0.2, max_iter=STEPS),
    "rbf": lambda: SVC(max_iter=STEPS),
    "rbf_narrow": lambda: SVC(gamma=1e3, max_iter=STEPS),
    "rbf_wide": lambda: SVC(gamma=1e-5, C=1e6, max_iter=STEPS),
    "sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.3, coef0=-0.2, max_iter=STEPS),
    "sigmoid_steep": lambda: SVC(kernel="sigmoid", gamma=40.0, coef0=3.0, max_iter=STEPS),
    "nu_rbf": lambda: NuSVC(nu=0.2, max_iter=STEPS),
    "laplacian": lambda: SVC(kernel=kernel_function("laplacian", gamma=0.4), max_iter=STEPS),
    "matern1": lambda: SVC(kernel=kernel_function("matern", gamma=0.9, degree=1), max_iter=STEPS),
    "matern2": lambda: SVC(kernel=kernel_function("matern", gamma=40.0, degree=2), max_iter=STEPS),
    "rational": lambda: SVC(
        kernel=kernel_function("rational_quadratic", gamma=0.3, alpha=0.7), max_iter=STEPS
    ),
    "rational_steep": lambda: SVC(
        kernel=kernel_function("rational_quadratic", gamma=1e3, alpha=20.0), max_iter=STEPS
    ),
    "intersection": lambda: SVC(kernel=kernel_function("intersection"), max_iter=STEPS),
    "chi2": lambda: SVC(kernel=kernel_function("chi2", gamma=0.7), max_iter=STEPS),
    "additive_chi2": lambda: SVC(kernel=kernel_function("additive_chi2"), max_iter=STEPS),
    "linear_svc": lambda: LinearSVC(random_state=0, max_iter=STEPS),
    "nystroem": lambda: make_pipeline(
        Nystroem(n_components=12, random_state=0),
        StandardScaler(),
        LinearSVC(random_state=0, max_iter=STEPS),
    ),
    "sampler": lambda: make_pipeline(
        RBFSampler(gamma=0.2, n_components=12, random_state=0),
        LinearSVC(random_state=0, max_iter=STEPS),
    ),
}

CHAINS: dict[str, Callable[[], list[Any]]] = {
    "raw": list,
    "standard": lambda: [StandardScaler()],
    "clip": lambda: [MinMaxScaler(clip=True)],
    "robust_maxabs": lambda: [RobustScaler(), MaxAbsScaler()],
    "whiten": lambda: [PCA(2, whiten=True)],
    "l1": lambda: [Normalizer("l1")],
    "l2": lambda: [Normalizer("l2")],
    "max": lambda: [Normalizer("max")],
    "pca_max": lambda: [PCA(2), Normalizer("max")],
    "l2_standard": lambda: [Normalizer(), StandardScaler()],
    "clip_pca_standard": lambda: [MinMaxScaler(clip=True), PCA(3), StandardScaler()],
    "standard_l2_whiten_l1": lambda: [
        StandardScaler(),
        Normalizer(),
        PCA(2, whiten=True),
        Normalizer("l1"),
    ],
}

NONNEGATIVE = {"clip"}
"""Chains behind which the kernels of chi2 have values."""

CHI2 = ("chi2", "additive_chi2")

N_FEATURES = 3

DATA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ordinary": lambda X: X,
    "shifted": lambda X: X + np.array([50.0, -30.0, 7.0]),
    "sensor": lambda X: 1000.0 + 0.01 * X,
    "badly_scaled": lambda X: X * np.array([1e-6, 1.0, 1e6]),
    "tiny": lambda X: X * 1e-12,
    "huge": lambda X: X * 1e13,
    "constant_column": lambda X: np.column_stack([X[:, :2], np.full(len(X), 7.1)]),
}

UNTRAINABLE = {(data, "raw", "poly9") for data in ("sensor", "badly_scaled", "huge")}
"""scikit-learn's own coefficients overflow."""

REFUSED = {
    ("huge", "raw", "sigmoid"),
    ("badly_scaled", "l2_standard", "poly9"),
}
"""What can overflow float32 for inputs no larger than the training data's largest feature."""


@dataclass(frozen=True)
class Case:
    """Data, transformers, classifier, and the number of classes."""

    data: str
    chain: str
    classifier: str
    n_classes: int

    def __str__(self) -> str:
        return f"{self.data}-{self.chain}-{self.classifier}-{self.n_classes}"

    def fitted(self) -> Any:
        """Return the fitted pipeline."""
        X, y = samples(self.n_classes)
        model = make_pipeline(*CHAINS[self.chain](), CLASSIFIERS[self.classifier]())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(DATA[self.data](X), y)


def samples(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 40 overlapping samples."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, N_FEATURES))
    y = np.argmax(X @ rng.normal(size=(N_FEATURES, n_classes)) + rng.normal(size=n_classes), axis=1)
    y[:n_classes] = range(n_classes)
    return X, y


def cases() -> list[Case]:
    """Return every classifier behind every chain, and the hard data behind some of them."""
    every = [
        Case("ordinary", chain, name, n_classes)
        for chain in CHAINS
        for name in CLASSIFIERS
        for n_classes in (2, 3)
        if name not in CHI2 or chain in NONNEGATIVE
    ]
    hard = [
        Case(data, chain, name, 2)
        for data in DATA
        if data != "ordinary"
        for chain in ("raw", "standard", "clip", "whiten", "l2", "l2_standard")
        for name in ("linear", "poly3", "poly9", "rbf", "rbf_wide", "sigmoid", "linear_svc")
        if (data, chain, name) not in UNTRAINABLE
    ]
    hard += [
        Case(data, chain, name, 2)
        for data in DATA
        if data != "ordinary"
        for name in ("nystroem", "sampler")
        for chain in ("standard", "clip")
    ]
    hard += [
        Case(data, chain, name, 2)
        for data in DATA
        if data != "ordinary"
        for name in (
            *("laplacian", "matern1", "matern2", "rational", "rational_steep", "intersection"),
            *CHI2,
        )
        for chain in ("clip", "standard")
        if name not in CHI2 or chain in NONNEGATIVE
    ]
    return every + hard


@cache
def compiled(case: Case) -> tuple[Lowered, RealModel]:
    """Return a case's program and its real numbers."""
    estimator = case.fitted()
    return lowered(estimator), RealModel(estimator)


def queries(low: Lowered, case: Case, n: int, seed: int) -> np.ndarray:
    """Return n accepted inputs of every kind: trained ones, neighbours, edges, tiny, largest."""
    rng = np.random.default_rng(seed)
    limit = float(low.prepare.limit)
    shape = (n // 8, N_FEATURES)
    trained = DATA[case.data](samples(case.n_classes)[0])[: n // 4].astype(np.float32)
    assert (low.answers(trained).results["status"] == Status.OK).all()
    parts = [
        rng.choice([-1.0, 1.0], size=shape) * limit,
        rng.uniform(-1.0, 1.0, size=shape) * limit,
        # Grown until the norm of the prepared input is refused.
        trained[rng.integers(len(trained), size=60)] * 2.0 ** np.arange(60.0)[:, None],
        rng.choice([-1.0, 1.0], size=shape) * 10.0 ** rng.uniform(-45, -8, size=shape),
        # What a projection nearly removes: rounding decides where a normaliser sends the rest.
        _removed(low.machine.preprocessing, rng, n // 8),
    ]
    extra = accepted(low, np.concatenate(parts).astype(np.float32))
    extra = np.concatenate([trained, extra[rng.permutation(len(extra))]])[: n // 2]
    common = accepted(low, low.queries)
    chosen = rng.choice(len(common), size=n - len(extra), replace=len(common) < n)
    return np.concatenate([extra, common[chosen]])


def _removed(steps: tuple[Any, ...], rng: np.random.Generator, n: int) -> np.ndarray:
    """Return inputs that a PCA as the first transformer maps to almost 0; none without one."""
    kinds = [type(step) for step in steps[:2]]
    if kinds != [Affine, Projection]:
        return np.zeros((0, N_FEATURES))
    null = np.linalg.svd(steps[1].matrix)[2][len(steps[1].matrix) :]
    away = rng.normal(size=(n, len(null))) @ null * 10.0 ** rng.uniform(-2, 4, size=(n, 1))
    return np.asarray(steps[0].offset + away / steps[0].factor)


def accepted(low: Lowered, X: np.ndarray) -> np.ndarray:
    """Return the rows that the program does not refuse."""
    return X[low.answers(X).results["status"] == Status.OK]
