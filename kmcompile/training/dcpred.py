"""Divide-and-conquer prediction: a k-means tree, and a few landmarks in each leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.dcpred_leaves import DCPredLeaves
from kmcompile.training.validation import validated


class DCPredClassifier(ClassifierMixin, DCPredLeaves):  # type: ignore[misc]
    """A classifier with a cheap query: a k-means tree, and rbf kernels of few landmarks a leaf.

    In each leaf an exact support vector machine tells which training rows matter; landmarks are
    k-means centres of these rows with weights alpha_i^2; a linear machine with squared hinge loss,
    one against the rest, is trained on the approximate kernel of the landmarks.

    Parameters
    ----------
    n_leaves : int, default=8
        At most that many; 1 is a machine without a route.
    n_landmarks : int, default=10
        At most that many a leaf; 0 is a linear machine a leaf.
    pseudo_landmarks : {"none", "products"}, default="none"
        "products" adds the products K_i K_j of all pairs of a leaf's landmarks.
    linear_term : bool, default=True
        Whether leaves have a linear term beside the kernels.
    polish : bool, default=True
        Whether landmarks and their gammas are moved by gradient, for a smaller loss of the leaf.
    C : float, default=1.0
        The factor of the losses, in the exact local machines as well.
    gamma : float or "scale", default="scale"
        K(u, x) = exp(-gamma |u - x|^2); "scale" is 1 / (n_features * X.var()).
    polish_steps : int, default=100
        Steps of polishing a leaf.
    start : {"leaf", "root"}, default="leaf"
        "root" fits a machine of all rows first, with four times the steps. Each leaf begins with
        its landmarks and coefficients, and only its changes are penalised: a leaf of few rows
        stays near it. Then no leaf is a constant, and a validation part is used for the root only.
    validation_fraction : float, default=0.0
        The part of a leaf's rows that decides whether a constant or a linear machine is enough
        there; 0 is not to ask.
    n_jobs : int, default=None
        Leaves are fitted with joblib; the result does not depend on the number.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        All others are those of `RoutedAttributes`; n_decisions is 1 for two classes.

    References
    ----------
    Hsieh, Si and Dhillon, Fast Prediction for Large-Scale Kernel Machines, NIPS 2014, algorithms 1
    and 2.
    """

    def __init__(
        self,
        n_leaves: int = 8,
        n_landmarks: int = 10,
        *,
        pseudo_landmarks: str = "none",
        linear_term: bool = True,
        polish: bool = True,
        C: float = 1.0,
        gamma: float | str = "scale",
        polish_steps: int = 100,
        start: str = "leaf",
        validation_fraction: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_leaves = n_leaves
        self.n_landmarks = n_landmarks
        self.pseudo_landmarks = pseudo_landmarks
        self.linear_term = linear_term
        self.polish = polish
        self.C = C
        self.gamma = gamma
        self.polish_steps = polish_steps
        self.start = start
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> DCPredClassifier:
        """Fit the tree and its leaves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Raises
        ------
        ValueError
            If a parameter or the data is not what it must be, or there is only one class.
        """
        X, y = validated(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class only, there must be at least two classes")
        Y = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        self._fit_leaves(X, Y[:, 1:] if len(self.classes_) == 2 else Y, codes, self.C)
        return self

    def decision_function(self, X: Any) -> Float64Array:
        """Return the decision values, shape (n_queries,) for two classes, else one a class."""
        decision = self.routed_decisions(self._queries(X))
        return decision[:, 0] if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest decision, or the second one of two if it is > 0."""
        decision = self.decision_function(X)
        codes = decision > 0.0 if decision.ndim == 1 else decision.argmax(axis=1)
        label: NDArray[Any] = self.classes_[np.asarray(codes, dtype=np.int64)]
        return label


class DCPredRegressor(RegressorMixin, DCPredLeaves):  # type: ignore[misc]
    """A regression with a cheap query: a k-means tree, and rbf kernels of few landmarks a leaf.

    As `DCPredClassifier`, with kernel ridge regression and squared loss.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge: the penalty is alpha |w|^2 beside the sum of squared errors of the targets
        divided by their deviation.
    n_leaves, n_landmarks, pseudo_landmarks, linear_term, polish, gamma, polish_steps, start, \
    validation_fraction, n_jobs, random_state
        Those of `DCPredClassifier`.

    Attributes
    ----------
    n_features_in_ : int
        All others are those of `RoutedAttributes`; n_decisions is 1.

    References
    ----------
    Hsieh, Si and Dhillon, Fast Prediction for Large-Scale Kernel Machines, NIPS 2014, algorithms 1
    and 2.
    """

    def __init__(
        self,
        n_leaves: int = 8,
        n_landmarks: int = 10,
        *,
        pseudo_landmarks: str = "none",
        linear_term: bool = True,
        polish: bool = True,
        alpha: float = 1.0,
        gamma: float | str = "scale",
        polish_steps: int = 100,
        start: str = "leaf",
        validation_fraction: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_leaves = n_leaves
        self.n_landmarks = n_landmarks
        self.pseudo_landmarks = pseudo_landmarks
        self.linear_term = linear_term
        self.polish = polish
        self.alpha = alpha
        self.gamma = gamma
        self.polish_steps = polish_steps
        self.start = start
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> DCPredRegressor:
        """Fit the tree and its leaves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Raises
        ------
        ValueError
            If a parameter or the data is not what it must be.
        """
        X, y = validated(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        if not self.alpha > 0.0:
            raise ValueError(f"alpha is {self.alpha!r}, must be > 0")
        centre, scale = y.mean(), y.std() or 1.0
        Y = ((y - centre) / scale)[:, None]
        self._fit_leaves(X, Y, None, 0.5 / self.alpha)
        # The leaves know the scaled targets.
        self.dual_coef_ *= scale
        self.pair_coef_ *= scale
        self.leaf_weights_ *= scale
        self.intercept_ = centre + scale * self.intercept_
        return self

    def predict(self, X: Any) -> Float64Array:
        """Return the values, shape (n_queries,)."""
        return self.routed_decisions(self._queries(X))[:, 0]
