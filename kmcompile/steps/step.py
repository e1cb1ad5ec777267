"""The interface of a preprocessing step in float64: the meaning of the trained model."""

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

    Subclasses are frozen dataclasses. Their fields are the trained values: arrays, numbers and
    texts, from which the model's hash is computed.
    """

    name: ClassVar[str]
    """Name of the kind in model files and in the model's hash."""

    formula: ClassVar[str] = ""
    """y of x for readers of the model description; "" stands for the docstring's first line."""

    image: ClassVar[type[PrepareStep]]
    """Class of the step in the C, which `lower` returns and which names its template."""

    n_in: int
    """Number of input features."""

    n_out: int
    """Number of output features."""

    reads_length: ClassVar[bool]
    """Whether the image's deviation depends on the norm of the step's input."""

    measures_length: ClassVar[bool]
    """Whether the image's deviation depends on the norm of the step's output."""

    n_constant: ClassVar[int] = 0
    """Number of output features at the end that are the same for every input."""

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

        The deviation of its result bounds the Euclidean distance from `apply` of the exactly
        prepared input, in real arithmetic.
        """

    @abstractmethod
    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return the magnitudes that the overflow analysis needs.

        Parameters
        ----------
        before : ndarray of shape (n_in,), float64
            Bounds on the magnitudes of the input features.
        deviation : float
            Bound on the deviation of the input.

        Returns
        -------
        after : ndarray of shape (n_out,), float64
            Bounds on the magnitudes of the output features.
        intermediate : float
            Bound on intermediate results; 0 if none is larger than the input, the output and their
            squared norms.
        """

    @abstractmethod
    def undo(self, rows: Float64Array) -> Float64Array:
        """Return rows that the step maps nearly to the given rows; no proof depends on them.

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
        """Return the step for features in another order, and the order of its outputs.

        Parameters
        ----------
        order : ndarray of shape (n_in,), intp
            Feature j of this step is feature order[j] of the returned step.

        Returns
        -------
        step : Step
        order : ndarray of shape (n_out,), intp
            Output j of this step is output order[j] of the returned step. The method returns
            None, always a correct answer, if the step depends on the order of its features.
        """
        return None


class UniformStep(Step):
    """A step that treats all features alike and leaves its own results as they are."""

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return self.n_out

    def undo(self, rows: Float64Array) -> Float64Array:
        """Return the rows unchanged."""
        return rows

    def reordered(self, order: Order) -> tuple[Step, Order]:
        """Return the step itself: it treats all features alike."""
        return self, order
