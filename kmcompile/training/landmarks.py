"""Landmarks of a leaf: k-means centres weighted by an exact local machine's coefficients."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.cluster import KMeans
from sklearn.svm import SVC

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.leaf_features import kernel_values

MOST_EXACT_ROWS = 3000
"""Rows of the exact local machine; of a larger leaf a random part trains it."""


def ridge_weights(X: Float64Array, y: Float64Array, gamma: float, C: float) -> Float64Array:
    """Return alpha_i^2 of kernel ridge regression, (K + I / (2 C)) alpha = y, shape (n_rows,)."""
    gram = kernel_values(X, X, np.array(gamma))
    gram[np.diag_indices_from(gram)] += 0.5 / C
    alpha: Float64Array = linalg.solve(gram, y - y.mean(axis=0), assume_a="pos")
    weights: Float64Array = (alpha**2).sum(axis=1)
    return weights


def svm_weights(X: Float64Array, Y: Float64Array, gamma: float, C: float) -> Float64Array:
    """Return alpha_i^2 of a support vector machine, summed over its pairs of classes.

    Y has a column of -1 and 1 a class, or one column for two classes.
    """
    label = Y.argmax(axis=1) if Y.shape[1] > 1 else (Y[:, 0] > 0).astype(np.int64)
    weights = np.zeros(len(X))
    machine = SVC(C=C, gamma=gamma, cache_size=100).fit(X, label)
    weights[machine.support_] = (machine.dual_coef_**2).sum(axis=0)
    return weights


def weighted_landmarks(X: Float64Array, weights: Float64Array, m: int, seed: int) -> Float64Array:
    """Return at most m centres of k-means with a weight a row, shape (n_landmarks, n_features).

    Rows of weight 0 count for nothing. If there are no more than m different rows left, these are
    the landmarks.

    References
    ----------
    Hsieh, Si and Dhillon, Fast Prediction for Large-Scale Kernel Machines, equation 10.
    """
    rows = X[weights > 0.0]
    different = np.unique(rows, axis=0)
    if len(different) <= m:
        return different
    weights = weights[weights > 0.0]
    model = KMeans(m, n_init=1, random_state=seed)
    return np.asarray(model.fit(rows, sample_weight=weights / weights.mean()).cluster_centers_)
