"""Fast predictors to compare with: linear, k-means Nystroem, random Fourier features, Fastfood.

The last three are maps of features with scikit-learn's interface, with a linear machine on top.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import eigh, hadamard
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def linear_machine(regression: bool, C: float) -> Any:
    """Return the linear machine that stands on all maps; its ridge is 1 / (2 C)."""
    if regression:
        return Ridge(alpha=0.5 / C)
    return LinearSVC(C=C, dual=False, max_iter=3000)


def on_top(features: Any, regression: bool, C: float) -> Any:
    """Return the pipeline of a map and the linear machine."""
    return make_pipeline(features, linear_machine(regression, C))


class KMeansNystroem(TransformerMixin, BaseEstimator):
    """K(x, U) W^(-1/2) for the centres U of k-means (Zhang, Tsang and Kwok, 2008)."""

    def __init__(self, n_components: int, gamma: float) -> None:
        self.n_components = n_components
        self.gamma = gamma

    def fit(self, X: np.ndarray, y: Any = None) -> KMeansNystroem:
        """Find the centres and W^(-1/2)."""
        means = KMeans(self.n_components, n_init=1, random_state=0).fit(X)
        self.centres_ = means.cluster_centers_
        values, vectors = eigh(rbf(self.centres_, self.centres_, self.gamma))
        kept = values > 1e-10 * values[-1]
        self.normalisation_ = vectors[:, kept] / np.sqrt(values[kept])
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features."""
        return rbf(X, self.centres_, self.gamma) @ self.normalisation_


class Fourier(TransformerMixin, BaseEstimator):
    """sqrt(2 / n) cos(w x + b) with Gaussian w (Rahimi and Recht, 2007)."""

    def __init__(self, n_components: int, gamma: float) -> None:
        self.n_components = n_components
        self.gamma = gamma

    def fit(self, X: np.ndarray, y: Any = None) -> Fourier:
        """Draw the projections."""
        random = np.random.default_rng(0)
        size = (X.shape[1], self.n_components)
        self.projections_ = random.normal(scale=math.sqrt(2 * self.gamma), size=size)
        self.phases_ = random.uniform(0, 2 * np.pi, self.n_components)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features."""
        return cosines(X @ self.projections_, self.phases_)


class Fastfood(TransformerMixin, BaseEstimator):
    """Random Fourier features whose projections are S H G P H B (Le, Sarlos and Smola, 2013)."""

    def __init__(self, n_components: int, gamma: float) -> None:
        self.n_components = n_components
        self.gamma = gamma

    def fit(self, X: np.ndarray, y: Any = None) -> Fastfood:
        """Draw the diagonals and permutations; the blocks are kept as one matrix."""
        random = np.random.default_rng(0)
        d = X.shape[1]
        size = 2 ** math.ceil(math.log2(d))
        H = hadamard(size).astype(float)
        blocks = []
        for _ in range(math.ceil(self.n_components / size)):
            signs = random.choice([-1.0, 1.0], size)
            gauss = random.normal(size=size)
            lengths = np.sqrt(random.chisquare(size, size)) / np.linalg.norm(gauss)
            inner = (H * signs)[random.permutation(size)]
            blocks.append(lengths[:, None] * (H @ (gauss[:, None] * inner)) / math.sqrt(size))
        scale = math.sqrt(2 * self.gamma)
        self.projections_ = scale * np.concatenate(blocks)[: self.n_components, :d].T
        self.phases_ = random.uniform(0, 2 * np.pi, self.n_components)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features."""
        return cosines(X @ self.projections_, self.phases_)


def cosines(projected: np.ndarray, phases: np.ndarray) -> np.ndarray:
    """Return the random features of projections."""
    return math.sqrt(2 / len(phases)) * np.cos(projected + phases)


def rbf(X: np.ndarray, U: np.ndarray, gamma: float) -> np.ndarray:
    """Return exp(-gamma |x - u|^2)."""
    squared = (X**2).sum(axis=1)[:, None] + (U**2).sum(axis=1) - 2 * X @ U.T
    return np.exp(-gamma * np.maximum(squared, 0))
