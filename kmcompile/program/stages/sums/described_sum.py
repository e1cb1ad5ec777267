"""A sum that bounds its own numbers: nothing but the stage is asked for the largest of them."""

from __future__ import annotations

from abc import abstractmethod

from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages.sums.sum import Sum


class DescribedSum(Sum):
    """A sum that says how large its intermediate results are.

    The bound of decision p is, in the order of `bound_formula`,

        (the terms of `bound_formula`) + result_error |f_p|.
    """

    @abstractmethod
    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return a bound on all intermediate results, the intercept not included.

        Parameters
        ----------
        magnitude : ndarray of shape (n_features,), float64, or None
            Largest magnitudes of the prepared features; None if only their norm is bounded.
        length : float
            Largest norm of the prepared input.
        deviation : float
            Largest distance of the prepared input from the exactly prepared one.
        """
