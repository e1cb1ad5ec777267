"""FaLK-SVM: local SVMs of neighbourhoods that cover the training set (Segata & Blanzieri 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.covering import Covering, cover
from kmcompile.training.local_models import Leaves, assemble, fit_local_models
from kmcompile.training.neighbours import IndexArray, LocalKernel
from kmcompile.training.routed import RoutedAttributes
from kmcompile.training.routes import Route, condensed, flat_route, two_level_route

KERNELS = ("rbf", "poly", "linear")
SELECTIONS = ("nearest_centre", "nearest_training_point")
ROUTES = ("flat", "two_levels")


class FaLKSVC(RoutedAttributes, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of local SVMs: a query is answered by one SVM of a neighbourhood near it.

    Centres are chosen such that each training point is among the `k_prime` nearest neighbours of
    one of them (sections 4.1 and 4.2). An SVM is trained on the k nearest neighbours of each
    centre; where these have one class, the answer is that class. The features should have one
    scale, such as [0, 1].

    Parameters
    ----------
    k : int, default=1000
        Size of a neighbourhood, at most the number of training points.
    k_prime : int, optional
        k': size of the covering neighbourhoods, by default k / 2.
    kernel : {"rbf", "poly", "linear"}, default="rbf"
    C : float, default=1.0
    gamma : float or "scale", default="scale"
        The paper's 1 / sigma. "scale" is 1 / (n_features * X.var()), as in `SVC`.
    degree : int, default=3
    coef0 : float, default=0.0
    selection : {"nearest_centre", "nearest_training_point"}, default="nearest_centre"
        Which SVM answers a query: that of the nearest centre (FaLK-SVMc, eq. 13), or that of the
        centre to which the nearest training point belongs (FaLK-SVM, eqs. 14 and 15).
    condense : bool, default=True
        Of the training points only those are kept that lead every training point to its centre.
        Only for the selection by training points.
    route : {"flat", "two_levels"}, default="flat"
        "two_levels" looks for the nearest point in one of about sqrt(n) groups only.
    n_jobs : int, optional
        joblib's; a backend chosen with `joblib.parallel_config` carries the training.
    random_state : int or RandomState, optional

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_centres_ : int
        Neighbourhoods.
    n_mixed_ : int
        Those with more than one class, which have an SVM.
    leaf_class_counts_ : ndarray of shape (n_leaves, n_classes), int64
        Only for more than two classes, as are the shapes of `dual_coef_` and `intercept_` in the
        notes.

    Notes
    -----
    For more than two classes a leaf's classes are told apart one against one, as in `SVC` (section
    3.3). Then a leaf's vectors stand class by class, `dual_coef_` has LIBSVM's layout for the
    leaf's classes, and `intercept_` has the pairs of each leaf, which end at `intercept_ends_`.

    The neighbours of a polynomial kernel are those in its feature space, while a query's route is
    by Euclidean distance.
    """

    def __init__(
        self,
        k: int = 1000,
        k_prime: int | None = None,
        *,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        selection: str = "nearest_centre",
        condense: bool = True,
        route: str = "flat",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.k_prime = k_prime
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.selection = selection
        self.condense = condense
        self.route = route
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> FaLKSVC:
        """Train the local SVMs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Raises
        ------
        ValueError
            If a parameter is not as described, or if y has one class only.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self._check_parameters()
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has {len(self.classes_)} class, must have 2 or more")
        self.gamma_ = self._gamma_of(X)
        random = check_random_state(self.random_state)
        k = min(self.k, len(X))
        k_prime = min(max(1, k // 2) if self.k_prime is None else self.k_prime, k)
        kernel = LocalKernel(self.kernel, self.C, self.gamma_, self.degree, self.coef0)
        covering = cover(X, k, k_prime, kernel, random)
        gammas = np.full(len(covering.centres), self.gamma_)
        labels = labels.astype(np.int64)
        models = fit_local_models((X, labels), covering.neighbourhoods, gammas, kernel, self.n_jobs)
        leaves = assemble(models, len(self.classes_))
        self.n_centres_ = len(models)
        self.n_mixed_ = sum(not model.constant for model in models)
        self._set_leaves(X, leaves)
        self._set_route(self._route_of(X, covering, leaves, random))
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels of queries, shape (n_queries,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if len(self.classes_) == 2:
            return self.classes_[(self.routed_decisions(X)[:, 0] > 0).astype(np.intp)]
        return self.classes_[self._votes(X).argmax(axis=1)]

    def decision_function(self, X: Any) -> Float64Array:
        """Return the decision values of two classes; of more the votes of each class.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_classes), float64
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if len(self.classes_) == 2:
            decisions: Float64Array = self.routed_decisions(X)[:, 0]
            return decisions
        return self._votes(X)

    def _votes(self, X: Float64Array) -> Float64Array:
        """Return the votes for each class, shape (n_queries, n_classes)."""
        votes = np.zeros((len(X), len(self.classes_)))
        leaves = self.leaf_of(X)
        for leaf in np.unique(leaves):
            rows = np.flatnonzero(leaves == leaf)
            counts = self.leaf_class_counts_[leaf]
            local = np.flatnonzero(counts)
            if not len(local):
                votes[rows, self.leaf_constants_[leaf]] = 1
                continue
            first = int(self.leaf_ends_[leaf - 1]) if leaf else 0
            values = self._kernel_values(X[rows], slice(first, int(self.leaf_ends_[leaf])))
            ends = first + np.cumsum(counts[local])
            parts = [slice(end - n, end) for end, n in zip(ends, counts[local], strict=True)]
            pair = int(self.intercept_ends_[leaf - 1]) if leaf else 0
            for i, own in enumerate(parts):
                for j in range(i + 1, len(parts)):
                    f = np.full(len(rows), self.intercept_[pair])
                    for part, row in ((own, j - 1), (parts[j], i)):
                        here = slice(part.start - first, part.stop - first)
                        f += values[:, here] @ self.dual_coef_[row, part]
                    votes[rows, local[i]] += f > 0
                    votes[rows, local[j]] += ~(f > 0)
                    pair += 1
        return votes

    def _set_leaves(self, X: Float64Array, leaves: Leaves) -> None:
        self.support_vectors_ = X[leaves.support]
        self.relative_gamma_ = np.ones(len(leaves.support))
        self.leaf_ends_ = leaves.ends
        self.dual_coef_ = leaves.dual_coef
        self.pair_coef_ = np.zeros((1, 0))
        self.leaf_weights_ = np.zeros((0, 1, X.shape[1]))
        self.intercept_ = leaves.intercept
        if len(self.classes_) > 2:
            self.intercept_ends_ = leaves.intercept_ends
            self.leaf_class_counts_ = leaves.class_counts
            self.leaf_constants_ = leaves.constants

    def _set_route(self, route: Route) -> None:
        self.route_weights_ = route.weights
        self.route_offsets_ = route.offsets
        self.node_ends_ = route.node_ends
        self.choice_targets_ = route.targets

    def _route_of(
        self, X: Float64Array, covering: Covering, leaves: Leaves, random: np.random.RandomState
    ) -> Route:
        chosen: IndexArray = covering.centres
        own = leaves.of_centre
        if self.selection == "nearest_training_point":
            of_point = leaves.of_centre[covering.centre_of]
            chosen = np.arange(len(X))
            if self.condense:
                chosen = condensed(X, of_point, covering.centres)
            own = of_point[chosen]
        if self.route == "flat":
            return flat_route(X[chosen], own)
        return two_level_route(X[chosen], own, X, random)

    def _gamma_of(self, X: Float64Array) -> float:
        if self.gamma == "scale":
            spread = X.shape[1] * X.var()
            return float(1.0 / spread) if spread > 0 else 1.0
        if isinstance(self.gamma, str) or not self.gamma > 0:
            raise ValueError(f"gamma is {self.gamma!r}, must be 'scale' or a number above 0")
        return float(self.gamma)

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("kernel", KERNELS),
            ("selection", SELECTIONS),
            ("route", ROUTES),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}, must be {' or '.join(allowed)}")
        for name, value in (("k", self.k), ("k_prime", self.k_prime)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value!r}, must be 1 or more")
