"""A sum that describes itself to the emitter: its constants, its workspace, its largest numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from kmcompile.numeric.arrays import Float64Array, Real
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Place
from kmcompile.program.stages.stage import Always


class DescribedSum(Always):
    """A sum whose C needs nothing that the emitter would have to know of its kind.

    The bound of decision p is, in the order of `bound_formula`,

        (the terms of `bound_formula`) + result_error |f_p|.

    Parameters
    ----------
    result_error : float32
        Relative error of the last addition and of the outward rounding of the interval.
    """

    result_error: Real

    place: ClassVar[Place] = Place.SUM
    exit: ClassVar[str | None] = "exact"

    unit: ClassVar[str]
    """What `kernel_evaluations` counts, in the plural, for the header."""

    bound_meaning: ClassVar[str] = "x being the prepared input"
    """What the names in `bound_formula` mean."""

    may_fail: ClassVar[bool] = False
    """Whether the C checks a table while it runs, and refuses to answer where it is damaged."""

    counts_evaluations: ClassVar[bool] = False
    """Whether the C counts the evaluations of a query, in `workspace->n_evaluated`."""

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
        """Decisions, or support vectors, that are summed side by side."""

    @property
    @abstractmethod
    def n_decisions(self) -> int:
        """Decision values."""

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
