"""The interface of a kernel family in float64: the meaning of the trained model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
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


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The kernel (gamma <s, x> + coef0)^degree."""

    gamma: float
    coef0: float
    degree: int


@dataclass(frozen=True, slots=True)
class Series:
    """The first terms of a kernel as a power series in <s, x>.

    Parameters
    ----------
    factors : tuple of float
        Of <s, x>^k, from k = 0 on.
    rest : float, optional
        The kernel less these terms is at most rest |<s, x>|^3, and its derivative by <s, x> at most
        3 rest <s, x>^2. None: nothing is left.
    """

    factors: tuple[float, ...]
    rest: float | None = None


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

    is_linear: ClassVar[bool] = False
    """Whether K(s, x) = <s, x>: a decision has weights in the place of vectors."""

    is_gaussian: ClassVar[bool] = False
    """Whether K(s, x) = exp(-gamma |s - x|^2), for which there are expansions about points, sums of
    integer distances, and vectors of several gammas."""

    is_polynomial: ClassVar[bool] = False
    """Whether K has a form `polynomial`, whose monomials bound it or take its place."""

    homogeneous: ClassVar[bool] = False
    """Whether K(c s, c x) = c K(s, x) for every c > 0."""

    uses_length: ClassVar[bool] = False
    """Whether the error bound of its sum needs the norm of the prepared input."""

    requires_nonnegative: ClassVar[bool] = False
    """Whether K is undefined where a feature of a vector or of an input is negative."""

    fits_image: ClassVar[bool] = False
    """Whether an image holds its sums: nothing of their C but numbers depends on the model."""

    no_early_exits: ClassVar[str] = ""
    """Why a machine with this kernel has no early exits in any mode; empty if it may have some."""

    additive: ClassVar[Additive | None] = None
    """What functions of single features f is a sum of; None if it is none of those sums."""

    self_value: ClassVar[float | None] = None
    """K(x, x) if it is the same for every x."""

    has_reach: ClassVar[bool] = False
    """Whether `reach` bounds K(x, x) and the largest error of a value, for bound sequences."""

    has_gradient: ClassVar[bool] = False
    """Whether K has a `gradient`."""

    has_series: ClassVar[bool] = False
    """Whether K has a `series`."""

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

    def parameters(self) -> dict[str, float]:
        """Return the parameters by scikit-learn's names, for reports and hashes: the fields."""
        own = fields(self)  # type: ignore[arg-type]  # it is said of subclasses that they have some
        return {field.name: getattr(self, field.name) for field in own}

    @property
    def gaussian_gamma(self) -> float:
        """The gamma of a kernel that `is_gaussian`."""
        raise TypeError(f"the {self.name} kernel is not Gaussian")

    @property
    def polynomial(self) -> Polynomial:
        """The form of a kernel that `is_polynomial`."""
        raise TypeError(f"the {self.name} kernel is no polynomial")

    @property
    def condition(self) -> float:
        """How many times the relative error of the sum over the features counts in K, at most."""
        return 1.0

    @property
    def slope(self) -> float | None:
        """A bound on |dK / d|s - x||; None if no pass moves the vectors of such a kernel."""
        return None

    def series(self) -> Series:
        """Return K as a power series in <s, x>, if `has_series`."""
        raise TypeError(f"the {self.name} kernel has no power series here")

    def of_gamma_times(self, share: float) -> Kernel:
        """Return the kernel with `share` times the gamma, if it `is_gaussian`."""
        raise TypeError(f"the {self.name} kernel has one gamma")

    def gradient(self, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
        """Return sum_i C_ji dK(z, x_i)/dz at z = z_j, if `has_gradient`.

        Parameters
        ----------
        Z : ndarray of shape (n_z, n_features), float64
        X : ndarray of shape (n_x, n_features), float64
        C : ndarray of shape (n_z, n_x), float64

        Returns
        -------
        ndarray of shape (n_z, n_features), float64
        """
        raise NotImplementedError(f"the {self.name} kernel has no derivative here")

    def self_gradient(self, Z: Float64Array) -> Float64Array:
        """Return dK(z, z)/dz of every row: by symmetry twice dK(z, x)/dz at x = z."""
        rows = [self.gradient(z[None], z[None], np.full((1, 1), 2.0)) for z in Z]
        return np.concatenate(rows) if rows else np.zeros_like(Z)

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
        raise TypeError(f"the {self.name} kernel has no reach")

    def likely_points(self, of: KernelSum, rng: np.random.Generator) -> Float64Array:
        """Return points like the training data, as the kernel sees them: the support vectors.

        Returns
        -------
        ndarray of shape (n, n_features), float64
        """
        return of.vectors
