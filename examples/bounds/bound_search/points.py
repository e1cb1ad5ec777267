"""Points in feature space, their distances, and the distance form of a decision (2001, 2.2-2.3).

P and N are the weighted means of the two classes' support vectors; a decision value is the
difference of a query's squared distances to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Kernel
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import require_positive_definite
from kmcompile.numeric.arrays import Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """U = sum_i weights_i phi(vectors_i) (eq. 9).

    Parameters
    ----------
    vectors : ndarray of shape (n, n_features), float64
    weights : ndarray of shape (n,), float64
    """

    vectors: Float64Array
    weights: Float64Array

    def __len__(self) -> int:
        return len(self.vectors)

    def with_query(self, kernel: Kernel, X: Float64Array) -> Float64Array:
        """Return <U, phi(x)>, shape (n_queries,)."""
        product: Float64Array = kernel.values(self.vectors, X) @ self.weights
        return product


def inner(kernel: Kernel, U: Point, V: Point) -> float:
    """Return <U, V>."""
    return float(U.with_query(kernel, V.vectors) @ V.weights)


def squared_distance(kernel: Kernel, U: Point, V: Point) -> float:
    """Return |U - V|^2 (eq. 11, whose last sign must be +), not below 0."""
    square = inner(kernel, U, U) - 2 * inner(kernel, U, V) + inner(kernel, V, V)
    return max(square, 0.0)


def squared_distances(kernel: Kernel, U: Point, X: Float64Array) -> Float64Array:
    """Return |phi(x) - U|^2 of every query, shape (n_queries,), not below 0."""
    square = kernel.self_values(X) - 2 * U.with_query(kernel, X) + inner(kernel, U, U)
    return np.maximum(square, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class DistanceForm:
    """A decision as f(x) = (g(x) s - c / s) / 2 + b, g = d_QN^2 - d_QP^2 (eq. 12-19).

    The weights of P and N are the alphas divided by s = sum alpha_i / 2, which is the sum over
    either class where the machine has a bias: the factor 2 of eq. 13 does not fit eq. 14.

    Parameters
    ----------
    kernel : Kernel
        Positive definite.
    positive, negative : Point
        P and N.
    scale : float
        s > 0; W = s (P - N).
    constant : float
        c, of the alphas before they are divided by s (eq. 15).
    intercept : float
        b, added as in scikit-learn.
    """

    kernel: Kernel
    positive: Point
    negative: Point
    scale: float
    constant: float
    intercept: float

    @classmethod
    def of(cls, machine: KernelMachine, decision: int = 0) -> DistanceForm:
        """Return the distance form of one decision of a machine.

        Raises
        ------
        InputError
            The kernel is not positive definite, or the decision rests on one class alone.
        """
        require_positive_definite(machine.kernel)
        beta = decision_coefficients(machine)[decision]
        if not (beta.max() > 0 > beta.min()):
            raise InputError(
                f"decision {decision} has no coefficients of both signs, so it is no difference of "
                f"distances; retrain the model on two classes"
            )
        scale = float(np.abs(beta).sum()) / 2
        kernel, vectors = machine.kernel, machine.support_vectors
        positive = Point(vectors[beta > 0], beta[beta > 0] / scale)
        negative = Point(vectors[beta < 0], -beta[beta < 0] / scale)
        difference = inner(kernel, negative, negative) - inner(kernel, positive, positive)
        intercept = float(machine.intercept[decision])
        return cls(kernel, positive, negative, scale, scale**2 * difference, intercept)

    @property
    def normal(self) -> Point:
        """W = s (P - N)."""
        vectors = np.concatenate([self.positive.vectors, self.negative.vectors])
        weights = np.concatenate([self.positive.weights, -self.negative.weights])
        return Point(vectors, self.scale * weights)

    def decision(self, g: Float64Array) -> Float64Array:
        """Return f for a value or bound of g (eq. 14 and 23)."""
        f: Float64Array = (g * self.scale - self.constant / self.scale) / 2 + self.intercept
        return f

    def decisions(self, X: Float64Array) -> Float64Array:
        """Return f by both distances (eq. 16), shape (n_queries,)."""
        to_negative = squared_distances(self.kernel, self.negative, X)
        return self.decision(to_negative - squared_distances(self.kernel, self.positive, X))


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Approximations of P and N (eq. 20).

    Parameters
    ----------
    positive, negative : Point
        P^ and N^, of the vectors Z+ and Z- with weights beta+ and beta-.
    """

    positive: Point
    negative: Point
