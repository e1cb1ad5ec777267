"""Exact neighbours of training points in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from kmcompile.numeric.arrays import Float64Array

IndexArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LocalKernel:
    """The kernel of local machines, and its C.

    Parameters
    ----------
    kernel : str
        "rbf", "poly" or "linear".
    C, gamma : float
    degree : int
    coef0 : float
    """

    kernel: str
    C: float
    gamma: float
    degree: int
    coef0: float

    @property
    def euclidean(self) -> bool:
        """Whether neighbours in feature space stand in the order of their Euclidean distances."""
        return self.kernel != "poly" or self.degree == 1

    def machine(self, gamma: float) -> SVC:
        """Return an SVM that is not trained, with this kernel and another gamma."""
        return SVC(C=self.C, kernel=self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)


class Neighbours:
    """Training points in the order of their distances from one of them.

    The squared distance in feature space is K(x, x) + K(c, c) - 2 K(x, c) (Segata & Blanzieri
    2009, eq. 5). For rbf, linear and polynomial kernels of degree 1 the order is that of Euclidean
    distances.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
    kernel : LocalKernel
    """

    def __init__(self, X: Float64Array, kernel: LocalKernel) -> None:
        self._X = X
        self._kernel = kernel
        # Differences of small numbers lose less: the distances are those of the shifted points.
        self._points = X - X.mean(axis=0) if kernel.euclidean else X
        self._squares = self._feature(np.einsum("ij,ij->i", self._points, self._points))
        relative = 8 * (X.shape[1] + 8 * kernel.degree) * np.finfo(np.float64).eps
        self._slack = relative * max(float(np.abs(self._squares).max()), np.finfo(np.float64).tiny)

    def around(self, centre: int, k: int) -> tuple[IndexArray, Float64Array]:
        """Return the k nearest training points of a training point, and all squared distances.

        The point itself is the first. Of equally distant points the one that comes next in the
        training set, counted from the centre on and around its end, stands first: so the
        neighbourhoods of many equal points are not all the same.

        Parameters
        ----------
        centre : int
        k : int
            1 to n.

        Returns
        -------
        nearest : ndarray of shape (k,), int64
        squared : ndarray of shape (n,), float64
            Of all points, with the rounding errors of the formula above, and at least 0.
        """
        products = self._feature(self._points @ self._points[centre])
        squared = np.maximum(self._squares + self._squares[centre] - 2.0 * products, 0.0)
        limit = np.partition(squared, k - 1)[k - 1] + self._slack
        near = np.flatnonzero(squared <= limit)
        exact = self._exact(near, centre, squared)
        order = np.lexsort(((near - centre) % len(squared), exact))
        return near[order[:k]], squared

    def _exact(self, near: IndexArray, centre: int, squared: Float64Array) -> Float64Array:
        if self._kernel.euclidean:
            return np.asarray(((self._X[near] - self._X[centre]) ** 2).sum(axis=1))
        exact = squared[near]
        exact[near == centre] = -1.0
        return exact

    def _feature(self, products: Float64Array) -> Float64Array:
        if self._kernel.euclidean:
            return products
        kernel = self._kernel
        return np.asarray((kernel.gamma * products + kernel.coef0) ** kernel.degree)
