"""A sum without support vectors: its tables describe the decision function itself."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Place
from kmcompile.program.stages.stage import Always


class VectorlessSum(Always):
    """A sum over features or terms whose cost does not depend on the number of support vectors.

    It cannot fail: it checks no table while it runs. An early exit stands before it only if the
    exit says so (`EarlyExit.stands_before`). The bound of decision p is, in the order of
    `bound_formula`,

        (the terms of `bound_formula`) + result_error |f_p|.

    In the replay all arrays of reals are float64 instead of float32.

    Parameters
    ----------
    intercept : ndarray of shape (n_decisions,), float32
    minimum : ndarray of shape (n_decisions,), float32
        The part of the bound that does not depend on the query.
    result_error : float32
        Relative error of the last addition and of the outward rounding of the interval.
    """

    intercept: RealArray
    minimum: RealArray
    result_error: Real

    place: ClassVar[Place] = Place.SUM
    exit: ClassVar[str | None] = "exact"

    unit: ClassVar[str]
    """What `kernel_evaluations` counts, in the plural, for the header."""

    @property
    @abstractmethod
    def bound_formula(self) -> str:
        """The terms of a bound that do not depend on |f_p|, with the names of the tables.

        d is the deviation of the prepared input x.
        """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Features of the prepared input."""

    @property
    @abstractmethod
    def lanes(self) -> int:
        """Decisions that are summed side by side."""

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.intercept)

    @abstractmethod
    def constants(self) -> tuple[Constant, ...]:
        """Return the private #defines of the stage in order, besides N_PREPARED."""

    def members(self, real: str) -> tuple[Member, ...]:
        """Return what the stage keeps in the workspace besides decisions and bounds.

        Parameters
        ----------
        real : str
            The C type of its arithmetic: "float", or "double" in the replay.
        """
        return ()

    def shared_table(self) -> RealArray:
        """Return the table that the replay reads, too, with low parts added; empty if none.

        Its name among the tables is "weights". A stage without one has tables of float64 in the
        replay.
        """
        return np.zeros(0, dtype=np.float32)

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
