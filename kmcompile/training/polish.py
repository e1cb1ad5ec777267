"""Polish a leaf: move its landmarks, widths and coefficients together to a smaller loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.leaf_features import back_from_expanded, expanded, squared_distances


@dataclass(frozen=True)
class PolishProblem:
    """What a leaf's loss depends on.

    The parameters are theta, the weights of the features [expanded kernels L, fixed], the
    landmarks' shifts in units of the kernel's width, and the logarithms of the gammas' changes:

        |theta|^2 / 2 + |shift|^2 / 2 + |change|^2 / 2 + C sum of (y - f)^2,

    the sum over all rows, or over y f < 1 with `hinge`.

    Attributes
    ----------
    X, Y : ndarray of shape (n_rows, n_features) and (n_rows, n_decisions), float64
    fixed : ndarray of shape (n_rows, n_fixed), float64
        The features that do not move.
    factor : ndarray of shape (n_expanded, rank), float64
        L.
    vectors : ndarray of shape (m, n_features), float64
    gammas : ndarray of shape (m,), float64
    base_coef : ndarray of shape (n_expanded, n_decisions), float64
        Coefficients that theta is added to.
    base_decision : ndarray of shape (n_rows, n_decisions), float64
        What is added to the decisions.
    C : float
    hinge, products : bool
    """

    X: Float64Array
    Y: Float64Array
    fixed: Float64Array
    factor: Float64Array
    vectors: Float64Array
    gammas: Float64Array
    base_coef: Float64Array
    base_decision: Float64Array
    C: float
    hinge: bool
    products: bool

    def moved(self, parameters: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return theta, the vectors and the gammas that the parameters stand for."""
        m, d = self.vectors.shape
        theta = parameters[: -m * (d + 1)].reshape(-1, self.Y.shape[1])
        shift = parameters[-m * (d + 1) : -m].reshape(m, d)
        vectors = self.vectors + shift / np.sqrt(2.0 * self.gammas)[:, None]
        return theta, vectors, self.gammas * np.exp(parameters[-m:])

    def objective(self, parameters: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """Return the loss and its gradient; of complex parameters for a complex step."""
        theta, vectors, gammas = self.moved(parameters)
        rank = self.factor.shape[1]
        squared = squared_distances(self.X, vectors)
        values = np.exp(-gammas * squared)
        features = expanded(values, self.products)
        coef = self.base_coef + self.factor @ theta[:rank]
        decision = features @ coef + self.fixed @ theta[rank:] + self.base_decision
        short = self.Y - decision
        if self.hinge:
            short = np.where((self.Y * decision).real < 1.0, short, 0.0)
        value = 0.5 * (parameters**2).sum() + self.C * (short**2).sum()
        slope = -2.0 * self.C * short
        by_theta = np.concatenate([self.factor.T @ (features.T @ slope), self.fixed.T @ slope])
        by_values = back_from_expanded(values, slope @ coef.T, self.products) * values
        moves = by_values.T @ self.X - by_values.sum(axis=0)[:, None] * vectors
        by_shift = 2.0 * gammas[:, None] * moves / np.sqrt(2.0 * self.gammas)[:, None]
        by_change = -gammas * (by_values * squared).sum(axis=0)
        gradient = np.concatenate([by_theta.ravel(), by_shift.ravel(), by_change])
        return value, gradient + parameters

    def polished(self, theta: Float64Array, steps: int) -> tuple[Float64Array, Float64Array]:
        """Return better vectors and gammas, beginning with theta and no shift."""
        m, d = self.vectors.shape
        start = np.concatenate([theta.ravel(), np.zeros(m * (d + 1))])
        result = minimize(
            self.objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxcor": 20},
        )
        _, vectors, gammas = self.moved(result.x)
        return vectors, gammas
