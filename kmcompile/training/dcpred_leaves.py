"""What the estimators of divide-and-conquer prediction share: a tree, its leaves, attributes."""

from __future__ import annotations

from dataclasses import fields, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.threads import one_thread
from kmcompile.training.kmeans_tree import kmeans_tree, route_attributes
from kmcompile.training.leaf_fit import Leaf, LeafSettings, fit_leaf
from kmcompile.training.routed import RoutedAttributes
from kmcompile.training.validation import validated

PSEUDO_LANDMARKS = ("none", "products")
STARTS = ("leaf", "root")
ROOT_STEPS = 4
"""Steps for the machine of all rows, in units of `polish_steps`: it is one, and needs more."""


class DCPredLeaves(RoutedAttributes, BaseEstimator):  # type: ignore[misc]
    """What both estimators do with rows and targets."""

    kernel = "rbf"
    degree = 3
    coef0 = 0.0
    n_leaves: int
    n_landmarks: int
    pseudo_landmarks: str
    linear_term: bool
    polish: bool
    gamma: float | str
    polish_steps: int
    start: str
    validation_fraction: float
    n_jobs: int | None
    random_state: Any

    def _fit_leaves(
        self, X: Float64Array, Y: Float64Array, groups: NDArray[np.int64] | None, C: float
    ) -> None:
        self._check_parameters(C)
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_leaves + 1)
        self.gamma_ = self._gamma_of(X)
        settings = LeafSettings(
            gamma=self.gamma_,
            C=C,
            hinge=groups is not None,
            n_landmarks=self.n_landmarks,
            products=self.pseudo_landmarks == "products",
            linear=self.linear_term,
            polish_steps=self.polish_steps if self.polish else 0,
            validation_fraction=self.validation_fraction,
        )
        with one_thread():
            tree = kmeans_tree(X, groups, self.n_leaves, int(seeds[0]))
            root = self._root(X, Y, settings, int(seeds[-1]))
        parts = [np.flatnonzero(tree.leaf_of_row == leaf) for leaf in range(tree.n_leaves)]
        leaves: list[Leaf]
        if root is not None and len(parts) == 1:
            leaves = [root]
        else:
            leaves = Parallel(n_jobs=self.n_jobs)(
                delayed(fit_leaf)(X[part], Y[part], settings, int(seed), root)
                for part, seed in zip(parts, seeds[1:], strict=False)
            )
        for name, value in route_attributes(tree, X.shape[1]).items():
            setattr(self, name, value)
        self._store(leaves)

    def _root(
        self, X: Float64Array, Y: Float64Array, settings: LeafSettings, seed: int
    ) -> Leaf | None:
        """Return a machine of all rows that the leaves start from, or None."""
        if self.start == "leaf":
            return None
        steps = ROOT_STEPS * settings.polish_steps
        return fit_leaf(X, Y, replace(settings, polish_steps=steps), seed)

    def _check_parameters(self, C: float) -> None:
        for name, least in (("n_leaves", 1), ("n_landmarks", 0), ("polish_steps", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} is {value!r}, must be an integer >= {least}")
        if self.pseudo_landmarks not in PSEUDO_LANDMARKS:
            raise ValueError(
                f"pseudo_landmarks is {self.pseudo_landmarks!r}, must be one of {PSEUDO_LANDMARKS}"
            )
        if self.start not in STARTS:
            raise ValueError(f"start is {self.start!r}, must be one of {STARTS}")
        if not C > 0.0:
            raise ValueError("C and alpha must be > 0")
        if not 0.0 <= self.validation_fraction < 1.0:
            raise ValueError(
                f"validation_fraction is {self.validation_fraction!r}, must be >= 0 and < 1"
            )

    def _gamma_of(self, X: Float64Array) -> float:
        if self.gamma == "scale":
            variance = float(X.var())
            return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
        if not isinstance(self.gamma, Real) or not self.gamma > 0.0:
            raise ValueError(f"gamma is {self.gamma!r}, must be 'scale' or a number > 0")
        return float(self.gamma)

    def _store(self, leaves: list[Leaf]) -> None:
        whole = {
            field.name: [getattr(leaf, field.name) for leaf in leaves] for field in fields(Leaf)
        }
        self.support_vectors_ = np.concatenate(whole["vectors"])
        self.relative_gamma_ = np.concatenate(whole["gammas"]) / self.gamma_
        self.leaf_ends_ = np.cumsum([len(vectors) for vectors in whole["vectors"]])
        self.dual_coef_ = np.ascontiguousarray(np.concatenate(whole["coef"]).T)
        self.pair_coef_ = np.ascontiguousarray(np.concatenate(whole["pair_coef"]).T)
        weights = np.stack([weight.T for weight in whole["weights"]])
        self.leaf_weights_ = weights if weights.any() else weights[:0]
        self.intercept_ = np.stack(whole["intercept"])

    def _queries(self, X: Any) -> Float64Array:
        check_is_fitted(self)
        return np.asarray(validated(self, X, reset=False, dtype=np.float64))
