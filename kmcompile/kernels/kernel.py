"""The interface of a kernel family in float64: the meaning of the trained model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, KernelContext
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class KernelSum:
    """The sum f_p(x) = sum_i beta_pi K(s_i, x) + b_p of a machine.

    Parameters
    ----------
    vectors : ndarray of shape (n_sv, n_features), float64
        The s_i.
    coefficients : callable
        Returns beta, ndarray of shape (n_decisions, n_sv), float64.
    intercept : ndarray of shape (n_decisions,), float64
        The b_p.
    n_constant : int
        Number of features at the end that are the same for every x.
    """

    vectors: Float64Array
    coefficients: Callable[[], Float64Array]
    intercept: Float64Array
    n_constant: int


class Additive(Enum):
    """How a machine is a sum of functions of one feature each: what its kernel is a sum of."""

    LINES = "lines"
    """Minima, min(s_j, x_j): functions are straight between the vectors' values, and constant
    beyond them."""

    CURVES = "curves"
    """Quotients, -(s_j - x_j)^2 / (s_j + x_j): functions are smooth."""


class Kernel(ABC):
    """A kernel K(s, x) with its parameters; frozen, float64.

    Subclasses are frozen dataclasses whose fields are the parameters of scikit-learn. K must be a
    function of a sum over the features, with the same term for every feature.
    """

    name: ClassVar[str]
    """scikit-learn's name of the family, also that of its template."""

    formula: ClassVar[str] = ""
    """K(s, x) for readers of the model description; "" stands for the docstring's first line."""

    of_distance: ClassVar[bool] = False
    """Whether K is a function of |s - x|^2: vectors and inputs may then be moved together."""

    of_inner_product: ClassVar[bool] = False
    """Whether K is a function of <s, x>."""

    homogeneous: ClassVar[bool] = False
    """Whether K(c s, c x) = c K(s, x) for every c > 0."""

    uses_length: ClassVar[bool] = False
    """Whether the error bound of its sum needs the norm of the prepared input."""

    requires_nonnegative: ClassVar[bool] = False
    """Whether K is undefined where a feature of a vector or of an input is negative."""

    no_early_exits: ClassVar[str] = ""
    """Why a machine with this kernel has no early exits in any mode; empty if it may have some."""

    additive: ClassVar[Additive | None] = None
    """What functions of single features f is a sum of; None if it is none of those sums."""

    self_value: ClassVar[float | None] = None
    """K(x, x) if it is the same for every x."""

    has_reach: ClassVar[bool] = False
    """Whether `reach` bounds K(x, x) and the largest error of a value, for bound sequences."""

    not_additive: ClassVar[str] = ""
    """Why a kernel that looks like a sum of functions of single features is none; usually empty."""

    @abstractmethod
    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return K(s_i, x_q) for every pair.

        Parameters
        ----------
        support_vectors : ndarray of shape (n_sv, n_features), float64
        X : ndarray of shape (n_queries, n_features), float64

        Returns
        -------
        ndarray of shape (n_queries, n_sv), float64
        """

    @property
    @abstractmethod
    def positive_definite(self) -> bool:
        """Whether K is an inner product in some feature space for these parameters."""

    @abstractmethod
    def lower(self, context: KernelContext) -> Float32Kernel:
        """Return the kernel as the emitted C computes it in float32.

        Raises
        ------
        NotImplementedError
            If the C has no sum over vectors for the kernel: a linear machine becomes weights.
        """

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Return the parameters by scikit-learn's names, for reports and hashes."""

    def fast_values(
        self, support_vectors: Float64Array, X: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the values as `values` does, by a faster formula where it is accurate enough.

        Returns
        -------
        values : ndarray of shape (n_queries, n_sv), float64
        error : ndarray of shape (n_queries,), float64
            Relative error that the faster formula adds to a query's values.
        """
        return self.values(support_vectors, X), np.zeros(len(X))

    def self_values(self, X: Float64Array) -> Float64Array:
        """Return K(x, x) for every row, shape (n,), float64."""
        if self.of_inner_product:
            squares = (X * X).sum(axis=1)
            return self.values(np.ones((1, 1)), squares[:, None])[:, 0]
        return np.array([self.values(x, x)[0, 0] for x in X[:, None]])

    def sums_nonzeros(self, support_vectors: Float64Array) -> bool:
        """Return whether the C may skip the features of an input that are 0.

        The terms of these features must be 0, or the kernel must have a form that sums products
        (`KernelContext.skip_zeros`).

        Parameters
        ----------
        support_vectors : ndarray of shape (n_sv, n_features), float64
            The support vectors as stored in float32.
        """
        return self.of_inner_product

    def in_code_units(self, factor: float) -> Kernel | None:
        """Return the kernel K' with K'(factor s, factor x) = K(s, x), for sums in integer codes.

        None if the family has no such kernel, or is not to be summed in integers.
        """
        return None

    def reach(self, context: KernelContext) -> Reach:
        """Return the reach of a query among vectors that are exact, if `has_reach`.

        Parameters
        ----------
        context : KernelContext
            Its `vector_error` and `sum_error` are 0, its `vector_length` bounds all vectors.
        """
        raise NotImplementedError(f"the {self.name} kernel has no reach")

    def likely_points(self, of: KernelSum, rng: np.random.Generator) -> Float64Array:
        """Return points like the training data, as the kernel sees them: the support vectors.

        Returns
        -------
        ndarray of shape (n, n_features), float64
        """
        return of.vectors
