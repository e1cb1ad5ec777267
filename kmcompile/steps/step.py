"""What every step of the preprocessing is asked, in float64: the meaning of the trained model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.steps.image import PrepareStep, StepContext

NOT_TRAINED = {"trained": False}
"""Metadata of a field that describes our own rounding: left out of the model's hash."""

Order = NDArray[np.intp]


class Step(ABC):
    """One fitted transformer before the kernel; frozen, float64.

    Subclasses are frozen dataclasses: their fields are what was trained, arrays, numbers and texts,
    and the model's hash is of them.
    """

    name: ClassVar[str]
    """What model files and the model's hash call the kind."""

    image: ClassVar[type[PrepareStep]]
    """What `lower` returns, which knows its template."""

    n_in: int
    """Features that enter."""

    n_out: int
    """Features that leave."""

    reads_length: ClassVar[bool]
    """Whether the image's deviation depends on the norm of what enters."""

    measures_length: ClassVar[bool]
    """Whether it depends on the norm of what leaves."""

    n_constant: ClassVar[int] = 0
    """How many of the last features that leave are the same for every input."""

    def fields(self) -> tuple[Field[Any], ...]:
        """Return the fields of the dataclass."""
        return fields(self)  # type: ignore[arg-type]  # it is said of subclasses that they are some

    @abstractmethod
    def apply(self, X: Float64Array) -> Float64Array:
        """Return the rows after the step.

        Parameters
        ----------
        X : ndarray of shape (n_queries, n_in), float64

        Returns
        -------
        ndarray of shape (n_queries, n_out), float64
        """

    @abstractmethod
    def lower(self, context: StepContext) -> PrepareStep:
        """Return the step as the emitted C computes it, with the constants of its error.

        Its deviation bounds the Euclidean distance of what it computes from `apply` of the exactly
        prepared input, in real arithmetic.
        """

    @abstractmethod
    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return what the overflow analysis needs.

        Parameters
        ----------
        before : ndarray of shape (n_in,), float64
            Bounds on the magnitudes of what enters.
        deviation : float
            Bound on the deviation of what enters.

        Returns
        -------
        after : ndarray of shape (n_out,), float64
            Bounds on the magnitudes of what leaves.
        intermediate : float
            Bound on what is computed between, 0 where nothing is larger than what enters or leaves
            and their squared norms.
        """

    @abstractmethod
    def undo(self, rows: Float64Array) -> Float64Array:
        """Return rows that the step makes about these of, for likely inputs: no bound rests on it.

        Parameters
        ----------
        rows : ndarray of shape (n, n_out), float64

        Returns
        -------
        ndarray of shape (n, n_in), float64
        """

    @abstractmethod
    def __str__(self) -> str:
        """Return the step in a few words, for reports."""

    def reordered(self, order: Order) -> tuple[Step, Order] | None:
        """Return the step for features in another order, and the order of what leaves it.

        Parameters
        ----------
        order : ndarray of shape (n_in,), intp
            Feature j of this step is feature order[j] of the one that is returned.

        Returns
        -------
        step : Step
        order : ndarray of shape (n_out,), intp
            The same of what leaves. Both are None, which is always right, where the features have
            to come in their own order.
        """
        return None
