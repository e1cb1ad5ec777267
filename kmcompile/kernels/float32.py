"""What every kernel offers in the C: the arithmetic that it performs, in float32.

The replay takes the same in float64: constants and arrays are then of that format.

A kernel value is computed in two parts. `accumulate` goes through the features one by one;
`finish` turns the accumulated sum into the value and an upper bound on its error. The error
covers everything that rounds: the input's deviation, the stored vector, the sum, the kernel's
parameters and the function; and the share of the weighted sum's own rounding that is
proportional to the value.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kmcompile.numeric.arrays import Real, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, Precision, precision_of


@dataclass(frozen=True, slots=True)
class KernelContext:
    """What the error constants of a kernel depend on.

    Parameters
    ----------
    n_features : int
        Terms of the accumulated sum.
    vector_error : float
        Largest Euclidean distance of a stored support vector from the trained one.
    vector_length : float
        Largest Euclidean norm of a stored support vector.
    typical_deviation : float
        Deviation of an ordinary input: chooses a free parameter, no bound depends on it.
    sum_error : float
        Relative error, per kernel value, of coefficient and weighted sum.
    skip_zeros : bool
        Whether the sum is one of products over the features that are not 0, also where the
        kernel is one of distances.
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
    """The parts of the error that are the same for all vectors of one query.

    Parameters
    ----------
    values : tuple of ndarray of shape (n_queries, 1), float32
        The terms, in the order of the kernel's C struct.
    usable : ndarray of shape (n_queries,), bool
        False where the bound of the sum has to be the trivial one.
    """

    values: tuple[RealArray, ...]
    usable: np.ndarray


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Upper bounds for the range analysis, over all inputs that are accepted.

    Parameters
    ----------
    inner, distance_squared : float
        On |<s, x>| and |s - x|^2.
    length, deviation : float
        On the norm of the prepared input and on its deviation.
    feature_sum : float
        On sum_j (|s_j| + |x_j|).
    """

    inner: float
    distance_squared: float
    length: float
    deviation: float
    feature_sum: float


class Float32Kernel(ABC):
    """The image of a kernel: a frozen dataclass whose fields are the constants of the C."""

    name: ClassVar[str]
    """Name of the template in `templates/kernels/`."""

    uses_distance: ClassVar[bool] = False
    """Whether the function is one of |s - x|^2."""

    uses_inner_product: ClassVar[bool] = False
    """Whether it is one of <s, x>."""

    term_operations: ClassVar[int] = 1
    """Multiply-adds of `accumulate`, one feature of one vector."""

    finish_operations: ClassVar[int]
    """Multiply-adds of `finish`, one vector."""

    value_operations: ClassVar[int]
    """Multiply-adds of `value`, one vector."""

    value_error: Real
    """The relative error of a value, that of coefficient and weighted sum in it."""

    @property
    def projects(self) -> bool:
        """Whether inner products of projections approximate what it is a function of."""
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
        """Return what `finish` needs of each query."""

    @abstractmethod
    def value(self, total: RealArray) -> RealArray:
        """Return the kernel values, the same as `finish` does."""

    @abstractmethod
    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return kernel values and error bounds, each of the shape of `total`."""

    @property
    def usable_deviation(self) -> float:
        """Up to which deviation of the input `finish` bounds the error of a value."""
        return math.inf

    value_bound: ClassVar[float]
    """Bound on |K| for every input that is not refused."""

    @property
    @abstractmethod
    def absolute_error(self) -> float:
        """What every kernel value can be off besides: cutoffs and underflow."""

    @abstractmethod
    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on |K| and on its error: what the coefficients multiply."""

    @abstractmethod
    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on everything that is computed before."""

    @abstractmethod
    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the scalar functions that the C calls, in order: template and its view."""

    def context(self) -> dict[str, Any]:
        """Return what the template gets besides the kernel itself."""
        return {}


def value_within(kernel: Float32Kernel, total: RealArray, far: Real) -> RealArray:
    """Return the kernel's values, 0 where the accumulated sum is `far` or more.

    An early exit leaves out the function where a term cannot matter; its thresholds are
    calibrated with that. `far` is infinite for a kernel of inner products.
    """
    value = kernel.value(total)
    value[total >= far] = 0.0
    return value
