"""Kernels that are a sum of one term a feature themselves: intersection and additive chi2."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, Magnitudes, QueryTerms
from kmcompile.numeric.arrays import RealArray, RealBound, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import LARGEST_INTERMEDIATE


class AdditiveFloat32(Float32Kernel):
    """K = D or K = -D for a sum D of one term a feature, as the C computes it, with its error.

    Subclasses are dataclasses that derive the error of D: `sum_error`, the same for all vectors of
    a query, and what is relative to D, which `value_error` contains.

    Parameters
    ----------
    per_deviation, minimum : float32 or float64
        How far D moves with the input, and the part of its error that no input changes.
    value_error : float32 or float64
        Error of the coefficient and the weighted sum, relative to the value.
    """

    per_deviation: RealBound
    minimum: RealBound

    finish_operations: ClassVar[int] = 2
    value_operations: ClassVar[int] = 0
    value_bound: ClassVar[float] = LARGEST_INTERMEDIATE

    sum_text: ClassVar[str]
    """The sum D in words, for the C's comments."""

    def sum_error(self, batch: Batch) -> RealArray:
        """Return the error of D that is not relative to it, shape (n_queries,)."""
        return self.per_deviation * batch.deviation + self.minimum

    def largest_sum_error(self, of: Magnitudes) -> float:
        """Return a bound on `sum_error`."""
        return float(self.per_deviation) * of.deviation + float(self.minimum)

    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return the error of a sum."""
        error = self.sum_error(batch)
        return QueryTerms((error[:, None],), np.ones(len(error), dtype=bool))

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return the value and its error."""
        return self.value(total), terms.values[0] + magnitude(total) * self.value_error

    @property
    def absolute_error(self) -> float:
        """Return the underflow of an error."""
        return 4 * self.precision.smallest_normal

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the value and on its error."""
        return of.feature_sum * (2 + float(self.value_error)) + 2 * self.largest_sum_error(of)

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on the sum."""
        return of.feature_sum

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return no scalar functions."""
        return ()
