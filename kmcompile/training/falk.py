"""Fast local kernel machines: SVMs of neighbourhoods that cover the training set."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.condensing import condense
from kmcompile.training.covering import Covering, cover
from kmcompile.training.local_models import Leaves, assemble, fit_local_models
from kmcompile.training.local_pairs import votes_of
from kmcompile.training.model_selection import Choice, Grid, local_gamma, select
from kmcompile.training.neighbours import IndexArray, LocalKernel
from kmcompile.training.routed import RoutedAttributes
from kmcompile.training.routes import Route, flat_route, two_level_route
from kmcompile.training.validation import validated

_CHOICES = {
    "kernel": ("rbf", "poly", "linear"),
    "selection": ("nearest_training_point", "nearest_centre"),
    "route": ("flat", "two_levels"),
}


class FaLKSVC(ClassifierMixin, RoutedAttributes, BaseEstimator):  # type: ignore[misc]
    """Classify by the SVM of a neighbourhood of training points: FaLK-SVM, -SVMc and -SVMl.

    Training chooses centres among the training points such that each training point is one of the
    k' nearest neighbours of a centre, and trains an SVM on the k nearest neighbours of each. A
    neighbourhood of one class is a constant. Many classes are voted one against one in each
    neighbourhood, so that `dual_coef_` has n_classes (n_classes - 1) / 2 numbers a vector.

    Parameters
    ----------
    k : int
        Training points of a neighbourhood; all, if there are fewer.
    k_prime : int, optional
        Neighbours that a centre covers, at most k; default k // 2.
    kernel : str
        "rbf", "linear" or "poly". Neighbours in training are those in its feature space. Of "poly"
        of degree 2 and more these are not the Euclidean ones; yet the route takes the Euclidean
        nearest point, which is a largest w x - t, so that a query can get another leaf than the
        paper's.
    C : float
    gamma : float or str
        "scale" is 1 / (n_features var(X)), "auto" 1 / n_features.
    degree : int
    coef0 : float
    selection : str
        The neighbourhood that answers a query. "nearest_training_point" (FaLK-SVM, eq. 15): the
        one in which the query's nearest training point has the smallest rank. "nearest_centre"
        (FaLK-SVMc, eq. 13): the nearest centre's.
    condense : bool
        Of "nearest_training_point": keep only as many training points for the choice as leave
        every training point its neighbourhood.
    route : str
        "flat": the nearest of all points. "two_levels": the nearest of about sqrt(n) groups of
        points, then the nearest of the group's; cheaper, and now and then not the nearest.
    local_model_selection : bool
        FaLK-SVMl: choose k, C and, for rbf, the percentile of distances in a neighbourhood that
        is its kernel's width, by cross-validation in a few neighbourhoods (Definition 5). `k`,
        `k_prime`, `C` and rbf's `gamma` are not used.
    grid : Grid, optional
        What `local_model_selection` chooses from.
    n_jobs : int, optional
        joblib's, over the neighbourhoods.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    centres_ : ndarray of shape (n_centres,), int64
        The centres' numbers in the training set.
    centre_of_ : ndarray of shape (n,), int64
        Each training point's centre (cnt of eq. 14), an index into `centres_`.
    leaf_of_centre_ : ndarray of shape (n_centres,), int64
    route_points_ : ndarray of shape (n_points,), int64
        The training points that choices of the route lead to.
    support_ : ndarray of shape (n_members,), int64
        The members' numbers in the training set.
    leaf_classes_ : ndarray of shape (n_leaves, n_classes), bool
        Which classes a leaf's neighbourhood has.
    dual_coef_, intercept_ : ndarray
        As `RoutedAttributes` has them. More than two classes: the decisions are those of all pairs
        (0, 1), (0, 2), ..., (1, 2), ...; > 0 is a vote for the first class. Of a pair of which a
        leaf has one class only, the leaf's decision is 1 or -1, a vote for this class.
    choice_ : Choice or None
        What `local_model_selection` chose.

    References
    ----------
    N. Segata, E. Blanzieri: Fast and Scalable Local Kernel Machines. DISI-09-072, 2009.
    """

    def __init__(
        self,
        k: int = 1000,
        k_prime: int | None = None,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        selection: str = "nearest_training_point",
        condense: bool = True,
        route: str = "flat",
        local_model_selection: bool = False,
        grid: Grid | None = None,
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
        self.local_model_selection = local_model_selection
        self.grid = grid
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> FaLKSVC:
        """Train on samples and their labels.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)

        Raises
        ------
        ValueError
            If a parameter or the data cannot be used.
        """
        self._check_parameters()
        X, y = validated(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has 1 class, must have at least 2 classes")
        labels = labels.astype(np.int64)
        random = check_random_state(self.random_state)
        kernel = LocalKernel(self.kernel, self.C, self._gamma(X), self.degree, self.coef0)
        self.choice_ = self._select(X, labels, kernel, random)
        if self.choice_ is not None:
            kernel = LocalKernel(self.kernel, self.choice_.C, kernel.gamma, self.degree, self.coef0)
        covering = self._cover(X, self.choice_.k if self.choice_ else self.k, kernel, random)
        gammas = self._gammas(X, covering, kernel)
        models = fit_local_models((X, labels), covering.neighbourhoods, gammas, kernel, self.n_jobs)
        self.centres_, self.centre_of_ = covering.centres, covering.centre_of
        self._set_leaves(X, assemble(models, len(self.classes_)), kernel)
        self._set_route(X, random)
        return self

    def decision_function(self, X: Any) -> Float64Array:
        """Return f(x) of two classes, > 0 for the second; or the votes of more classes.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_classes), float64
        """
        check_is_fitted(self)
        X = validated(self, X, dtype=np.float64, order="C", reset=False)
        if len(self.classes_) == 2:
            decision: Float64Array = self.routed_decisions(X)[:, 0]
            return decision
        return votes_of(self.routed_decisions(X), len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of queries, shape (n_queries,); of equal votes the first class."""
        decision = self.decision_function(X)
        index = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[index])

    def _check_parameters(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}, must be one of {allowed}")
        k_prime = self._k_prime(self.k) if isinstance(self.k, Integral) else 0
        if not (isinstance(k_prime, Integral) and 1 <= k_prime <= self.k):
            raise ValueError(
                f"k is {self.k}, k_prime {self.k_prime}, must be integers, 1 <= k_prime <= k"
            )
        if isinstance(self.gamma, Real) and self.gamma <= 0:
            raise ValueError(f"gamma is {self.gamma}, must be > 0")
        if self.kernel == "poly" and not (isinstance(self.degree, Integral) and self.degree >= 1):
            raise ValueError(f"degree is {self.degree!r}, must be an integer >= 1")

    def _k_prime(self, k: int) -> int:
        if self.k_prime is None or self.local_model_selection:
            return max(1, k // 2)
        return self.k_prime

    def _gamma(self, X: Float64Array) -> float:
        if self.gamma == "scale":
            variance = float(X.var())
            return 1.0 / (X.shape[1] * variance) if variance else 1.0
        return 1.0 / X.shape[1] if self.gamma == "auto" else float(self.gamma)

    def _cover(
        self, X: Float64Array, k: int, kernel: LocalKernel, random: np.random.RandomState
    ) -> Covering:
        k_prime = min(self._k_prime(k), len(X))
        return cover(X, min(k, len(X)), k_prime, kernel, random)

    def _select(
        self,
        X: Float64Array,
        labels: IndexArray,
        kernel: LocalKernel,
        random: np.random.RandomState,
    ) -> Choice | None:
        if not self.local_model_selection:
            return None
        grid = self.grid or Grid()
        sizes = [k for k in grid.k if k <= len(X)] or [len(X)]
        grid = Grid(sizes, grid.C, grid.percentiles, grid.n_centres, grid.n_folds)

        def covering(k: int) -> Covering:
            return self._cover(X, k, kernel, random)

        return select((X, labels), covering, kernel, grid, (self.n_jobs, random))

    def _gammas(self, X: Float64Array, covering: Covering, kernel: LocalKernel) -> Float64Array:
        if self.choice_ is None or self.choice_.percentile is None:
            return np.full(len(covering.centres), kernel.gamma)
        percentile = self.choice_.percentile
        return np.array([local_gamma(X[rows], percentile) for rows in covering.neighbourhoods])

    def _set_leaves(self, X: Float64Array, leaves: Leaves, kernel: LocalKernel) -> None:
        self.leaf_of_centre_, self.support_ = leaves.of_centre, leaves.support
        self.support_vectors_, self.leaf_ends_ = X[leaves.support], leaves.ends
        self.gamma_ = float(leaves.gamma.max()) if len(leaves.gamma) else kernel.gamma
        rbf = self.kernel == "rbf"
        self.relative_gamma_ = leaves.gamma / self.gamma_ if rbf else np.ones(len(leaves.gamma))
        self.dual_coef_, self.intercept_ = leaves.dual_coef, leaves.intercept
        self.pair_coef_ = np.empty((len(self.dual_coef_), 0))
        self.leaf_weights_ = np.empty((0, len(self.dual_coef_), X.shape[1]))
        self.leaf_classes_ = leaves.classes

    def _set_route(self, X: Float64Array, random: np.random.RandomState) -> None:
        if self.selection == "nearest_centre":
            self.route_points_, leaves = self.centres_, self.leaf_of_centre_
        else:
            of_point = self.leaf_of_centre_[self.centre_of_]
            self.route_points_ = np.arange(len(X))
            if self.condense:
                self.route_points_ = condense(X, of_point, self.centres_)
            leaves = of_point[self.route_points_]
        points = X[self.route_points_]
        route: Route
        if self.route == "flat":
            route = flat_route(points, leaves)
        else:
            route = two_level_route(points, leaves, X, random)
        self.route_weights_, self.route_offsets_ = route.weights, route.offsets
        self.node_ends_, self.choice_targets_ = route.node_ends, route.targets
