"""The interface of a kernel in the C: its arithmetic in float32, with a bound on its error.

The replay uses the same classes in float64: constants and arrays then have that format.

A kernel value is computed in two parts. `accumulate` adds the features' terms one by one; `finish`
turns the accumulated sum into the value and an upper bound on its error. The error covers all
roundings: the input's deviation, the stored vector, the sum, the kernel's parameters and the
function. It also covers the part of the weighted sum's rounding that is proportional to the value.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Real, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, Precision, precision_of


@dataclass(frozen=True, slots=True)
class KernelContext:
    """The values on which the error constants of a kernel depend.

    Parameters
    ----------
    n_features : int
        Number of terms of the accumulated sum.
    vector_error : float
        Largest Euclidean distance of a stored support vector from the trained one.
    vector_length : float
        Largest Euclidean norm of a stored support vector.
    typical_deviation : float
        Deviation of an ordinary input. It chooses a free parameter; every choice is a valid bound.
    sum_error : float
        Relative error of the coefficient and the weighted sum, for each kernel value.
    skip_zeros : bool
        Whether the C sums products over nonzero features, even for a kernel of distances.
    precision : Precision
    """

    n_features: int
    vector_error: float
    vector_length: float
    typical_deviation: float
    sum_error: float
    skip_zeros: bool
    precision: Precision = FLOAT32


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerms:
    """The terms of the error that are the same for all vectors of one query.

    Parameters
    ----------
    values : tuple of ndarray of shape (n_queries, 1), float32
        The terms, in the order of the kernel's C struct.
    usable : ndarray of shape (n_queries,), bool
        False where only the trivial bound of the sum is valid.
    """

    values: tuple[RealArray, ...]
    usable: np.ndarray


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Upper bounds for the range analysis, over all inputs that are accepted.

    Parameters
    ----------
    inner, distance_squared : float
        Bounds on |<s, x>| and |s - x|^2.
    length, deviation : float
        Bounds on the norm of the prepared input and on its deviation.
    feature_sum : float
        Bound on sum_j (|s_j| + |x_j|).
    """

    inner: float
    distance_squared: float
    length: float
    deviation: float
    feature_sum: float


class Float32Kernel(ABC):
    """A kernel in the C: a frozen dataclass whose fields are the constants in the C."""

    name: ClassVar[str]
    """Name of the template in `templates/kernels/`."""

    reach_class: ClassVar[type[Reach] | None] = None
    """The kind of `Kernel.reach`; None if there is none."""

    is_gaussian: ClassVar[bool] = False
    """Whether it is the image of a kernel that `is_gaussian`: K(s, x) is `value` of |s - x|^2."""

    uses_distance: ClassVar[bool] = False
    """Whether the kernel is a function of |s - x|^2."""

    uses_inner_product: ClassVar[bool] = False
    """Whether the kernel is a function of <s, x>."""

    needs_square_root: ClassVar[bool] = False
    """Whether the C calls the square root, besides `scalars`."""

    term_operations: ClassVar[int] = 1
    """Multiply-adds of `accumulate` for one feature of one vector."""

    finish_operations: ClassVar[int]
    """Multiply-adds of `finish` for one vector."""

    value_operations: ClassVar[int]
    """Multiply-adds of `value` for one vector."""

    value_error: RealBound
    """Relative error of a value, that of the coefficient and the weighted sum included."""

    @property
    def projects(self) -> bool:
        """Whether projections approximate the kernel: it is of inner products or distances."""
        return self.uses_distance or self.uses_inner_product

    @property
    def precision(self) -> Precision:
        """The format of the constants and of the arithmetic."""
        return precision_of(self.value_error)

    @abstractmethod
    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add one feature's term to `total` in place: total[q, i] += term(x[q, 0], s[i])."""

    @abstractmethod
    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return the terms of each query's error, which `finish` needs."""

    @abstractmethod
    def value(self, total: RealArray) -> RealArray:
        """Return the kernel values, equal to those of `finish`."""

    @abstractmethod
    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return kernel values and error bounds, each of the shape of `total`."""

    @property
    def usable_deviation(self) -> float:
        """Largest deviation of the input for which `finish` bounds the error of a value."""
        return math.inf

    value_bound: ClassVar[float]
    """Bound on |K| for every input that is not refused."""

    @property
    @abstractmethod
    def absolute_error(self) -> float:
        """Further error that every kernel value may have: cutoffs and underflow."""

    @abstractmethod
    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on |K| and on its error, the numbers that the coefficients multiply."""

    @abstractmethod
    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on all numbers that are computed before the value."""

    @abstractmethod
    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the scalar functions that the C calls, in order, each a template and its view."""

    def context(self) -> dict[str, Any]:
        """Return further values for the template, besides the kernel itself."""
        return {}


def value_within(kernel: Float32Kernel, total: RealArray, far: Real) -> RealArray:
    """Return the kernel's values, 0 where the accumulated sum is `far` or more.

    An early exit skips the kernel's function where a term cannot matter; its thresholds are
    calibrated with these zeros. `far` is infinite for a kernel of inner products.
    """
    value = kernel.value(total)
    value[total >= far] = 0.0
    return value
